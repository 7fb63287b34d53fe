// SPDX-License-Identifier: Apache-2.0
/// Small collectives in an order drawn by chance, the same on all ranks, on the world, a duplicate,
/// and the two halves of it, with ranks that are late by chance; some are longer and so take other
/// ways. Each value is worked out again. Communicators come and go. Argument: how many calls.
#include "tests/jobs/api/job.hpp"

#include <array>
#include <cstdlib>
#include <random>
#include <sched.h>

using namespace job;

namespace {

using Number = std::int64_t;

Number value(std::uint32_t round, std::int32_t rank, std::size_t i) {
    return static_cast<Number>(round) * 1'000'003 + rank * 7919 + static_cast<Number>(i) * 31;
}

class Member {
  public:
    explicit Member(dlrt_comm comm) : comm_(comm) {
        expect_ok(dlrt_comm_rank(comm, &rank_));
        expect_ok(dlrt_comm_size(comm, &size_));
    }

    void call(std::uint32_t kind, std::uint32_t round, std::size_t count, std::int32_t root) {
        round_ = round;
        count_ = count;
        root_ = root % size_;
        input_.resize(count * static_cast<std::size_t>(size_));
        output_.assign(input_.size(), -1);
        for (std::size_t i = 0; i < input_.size(); ++i) input_[i] = value(round, rank_, i);
        constexpr std::array<void (Member::*)(), 8> kinds = {
            &Member::barrier, &Member::bcast,     &Member::reduce,  &Member::allreduce,
            &Member::gather,  &Member::allgather, &Member::scatter, &Member::alltoall};
        (this->*kinds[kind % kinds.size()])();
    }

  private:
    [[nodiscard]] std::int64_t signed_count() const { return static_cast<std::int64_t>(count_); }
    /// Sum over all ranks.
    [[nodiscard]] Number sum(std::size_t i) const {
        Number total = 0;
        for (std::int32_t rank = 0; rank < size_; ++rank) total += value(round_, rank, i);
        return total;
    }
    void barrier() { expect_ok(dlrt_barrier(comm_)); }
    void bcast() {
        if (rank_ == root_) output_ = input_;
        expect_ok(dlrt_bcast(output_.data(), signed_count(), DLRT_INT64, root_, comm_));
        for (std::size_t i = 0; i < count_; ++i) expect_equal(output_[i], value(round_, root_, i));
    }
    void reduce() {
        expect_ok(dlrt_reduce(
            input_.data(), output_.data(), signed_count(), DLRT_INT64, DLRT_SUM, root_, comm_
        ));
        if (rank_ == root_) expect_sums();
    }
    void allreduce() {
        expect_ok(dlrt_allreduce(
            input_.data(), output_.data(), signed_count(), DLRT_INT64, DLRT_SUM, comm_
        ));
        expect_sums();
    }
    void expect_sums() {
        for (std::size_t i = 0; i < count_; ++i) expect_equal(output_[i], sum(i));
    }
    void gather() {
        expect_ok(
            dlrt_gather(input_.data(), signed_count(), DLRT_INT64, output_.data(), root_, comm_)
        );
        if (rank_ == root_) expect_blocks(0);
    }
    void allgather() {
        expect_ok(dlrt_allgather(input_.data(), signed_count(), DLRT_INT64, output_.data(), comm_));
        expect_blocks(0);
    }
    /// Block j comes from rank j, who had it at that place.
    void expect_blocks(std::size_t first) {
        for (std::size_t i = 0; i < output_.size(); ++i) {
            const auto rank = static_cast<std::int32_t>(i / count_);
            expect_equal(output_[i], value(round_, rank, first + i % count_));
        }
    }
    [[nodiscard]] std::size_t own_block() const { return static_cast<std::size_t>(rank_) * count_; }
    void scatter() {
        expect_ok(
            dlrt_scatter(input_.data(), output_.data(), signed_count(), DLRT_INT64, root_, comm_)
        );
        for (std::size_t i = 0; i < count_; ++i) {
            expect_equal(output_[i], value(round_, root_, own_block() + i));
        }
    }
    void alltoall() {
        expect_ok(dlrt_alltoall(input_.data(), output_.data(), signed_count(), DLRT_INT64, comm_));
        expect_blocks(own_block());
    }

    dlrt_comm comm_;
    std::int32_t rank_ = 0, size_ = 1, root_ = 0;
    std::uint32_t round_ = 0;
    std::size_t count_ = 0;
    std::vector<Number> input_, output_;
};

void make_calls(const World& world, std::uint32_t seed, std::uint32_t call_count) {
    dlrt_comm duplicate{}, half{};
    expect_ok(dlrt_comm_dup(DLRT_COMM_WORLD, &duplicate));
    expect_ok(dlrt_comm_split(DLRT_COMM_WORLD, world.rank % 2, -world.rank, &half));
    std::array members = {Member(DLRT_COMM_WORLD), Member(duplicate), Member(half)};
    std::mt19937 agreed(seed);
    std::mt19937 own(seed + static_cast<std::uint32_t>(world.rank));
    for (std::uint32_t round = 0; round < call_count; ++round) {
        const std::size_t where = agreed() % members.size();
        const auto kind = static_cast<std::uint32_t>(agreed());
        const std::size_t longest = agreed() % 16 == 0 ? 700 : 30;
        const std::size_t count = 1 + agreed() % longest;
        members[where].call(kind, round, count, static_cast<std::int32_t>(agreed() % 1024));
        if (own() % 32 == 0) ::sched_yield();
    }
    expect_ok(dlrt_comm_free(&half));
    expect_ok(dlrt_comm_free(&duplicate));
}

}  // namespace

int main(int argument_count, char** arguments) {
    const World world;
    const unsigned long calls = argument_count > 1 ? std::strtoul(arguments[1], nullptr, 10) : 600;
    // More lives than there are areas of cells.
    constexpr std::uint32_t lives = 80;
    for (std::uint32_t life = 0; life < lives; ++life) {
        make_calls(world, life + 1, static_cast<std::uint32_t>(calls) / lives + 1);
    }
    make_calls(world, 1000, static_cast<std::uint32_t>(calls));
}
