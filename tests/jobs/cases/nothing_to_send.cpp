// SPDX-License-Identifier: Apache-2.0
/// Case C04 (a) to (d) and (f), and their kind: null buffers for nothing, empty types, null types
/// where the count is 0, fewer elements than ranks, and arguments that only the root reads. Any
/// number of ranks.
#include "tests/jobs/api/job.hpp"

#include <functional>

using namespace job;

namespace {

constexpr dlrt_comm comm = {1, 0};
constexpr dlrt_type int32 = {8, 0};

/// An address that nobody may touch.
void* rubbish() {
    return reinterpret_cast<void*>(std::uintptr_t{64});
}
const std::int64_t* rubbish_counts() {
    return static_cast<const std::int64_t*>(rubbish());
}

void finish(dlrt_err begun, dlrt_request& request) {
    expect_ok(begun);
    expect_ok(dlrt_wait(&request, nullptr));
}

/// (a) and every other collective: nothing from nowhere to nowhere.
void null_buffers(const World& world) {
    const std::vector<std::int64_t> zeros(static_cast<std::size_t>(world.size), 0);
    const std::int64_t* const none = zeros.data();
    for (std::int32_t root = 0; root < world.size; ++root) {
        expect_ok(dlrt_bcast(nullptr, 0, int32, root, comm));
        expect_ok(dlrt_reduce(nullptr, nullptr, 0, int32, DLRT_SUM, root, comm));
        expect_ok(dlrt_gather(nullptr, 0, int32, nullptr, root, comm));
        expect_ok(dlrt_scatter(nullptr, nullptr, 0, int32, root, comm));
        expect_ok(dlrt_gatherv(nullptr, 0, int32, nullptr, none, none, root, comm));
        expect_ok(dlrt_scatterv(nullptr, none, none, nullptr, 0, int32, root, comm));
    }
    expect_ok(dlrt_allreduce(nullptr, nullptr, 0, int32, DLRT_SUM, comm));
    expect_ok(dlrt_scan(nullptr, nullptr, 0, int32, DLRT_SUM, comm));
    expect_ok(dlrt_exscan(nullptr, nullptr, 0, int32, DLRT_SUM, comm));
    expect_ok(dlrt_reduce_scatter(nullptr, nullptr, 0, int32, DLRT_SUM, comm));
    expect_ok(dlrt_reduce_scatterv(nullptr, nullptr, none, int32, DLRT_SUM, comm));
    expect_ok(dlrt_alltoall(nullptr, nullptr, 0, int32, comm));
    expect_ok(dlrt_alltoallv(nullptr, none, none, nullptr, none, none, int32, comm));
    expect_ok(dlrt_allgather(nullptr, 0, int32, nullptr, comm));
    expect_ok(dlrt_allgatherv(nullptr, 0, int32, nullptr, none, none, comm));

    dlrt_request request{};
    finish(dlrt_ibcast(nullptr, 0, int32, 0, comm, &request), request);
    finish(dlrt_ireduce(nullptr, nullptr, 0, int32, DLRT_SUM, 0, comm, &request), request);
    finish(dlrt_iallreduce(nullptr, nullptr, 0, int32, DLRT_SUM, comm, &request), request);
    finish(dlrt_ialltoall(nullptr, nullptr, 0, int32, comm, &request), request);
    expect_ok(dlrt_allreduce_init(nullptr, nullptr, 0, int32, DLRT_SUM, comm, &request));
    for (int round = 0; round < 2; ++round) {
        expect_ok(dlrt_start(request));
        expect_ok(dlrt_wait(&request, nullptr));
    }
    expect_ok(dlrt_request_free(&request));
}

/// Something where nothing is written.
void untouched_buffers(const World& world) {
    const std::vector<std::int32_t> before(static_cast<std::size_t>(world.size), 77);
    std::vector<std::int32_t> input = before, output = before;
    expect_ok(dlrt_bcast(output.data(), 0, int32, 0, comm));
    expect_ok(dlrt_reduce(input.data(), output.data(), 0, int32, DLRT_SUM, 0, comm));
    expect_ok(dlrt_allreduce(input.data(), output.data(), 0, int32, DLRT_SUM, comm));
    expect_ok(dlrt_alltoall(input.data(), output.data(), 0, int32, comm));
    expect(input == before && output == before, "memory is untouched");
}

/// (b)
void empty_types(const World& world) {
    const auto size = static_cast<std::size_t>(world.size);
    dlrt_type empty{};
    expect_ok(dlrt_type_contiguous(0, int32, &empty));
    const std::vector<std::int64_t> ones(size, 1), zeros(size, 0);
    const std::vector<dlrt_type> empties(size, empty), ints(size, int32);
    const std::vector<dlrt_type> nulls(size, DLRT_TYPE_NULL);
    std::int32_t untouched = 77;
    void* const memory = &untouched;
    const std::int64_t *one = ones.data(), *none = zeros.data();

    // One element without data for each; who gets it expects none of the integers.
    expect_ok(
        dlrt_alltoallw(memory, one, none, empties.data(), memory, none, none, ints.data(), comm)
    );
    expect_ok(
        dlrt_alltoallw(nullptr, none, none, nulls.data(), nullptr, none, none, nulls.data(), comm)
    );
    // Ranks on either side of the same nothing.
    const bool is_even = world.rank % 2 == 0;
    expect_ok(dlrt_alltoallv(
        nullptr, is_even ? one : none, none, nullptr, is_even ? one : none, none,
        is_even ? empty : int32, comm
    ));
    const std::int64_t own = is_even ? 1 : 0;
    const dlrt_type type = is_even ? empty : int32;
    expect_ok(dlrt_bcast(nullptr, own, type, 0, comm));
    expect_ok(dlrt_gather(nullptr, own, type, nullptr, 0, comm));
    expect_ok(dlrt_allgather(nullptr, own, type, nullptr, comm));
    expect_ok(dlrt_scatter(nullptr, nullptr, own, type, 0, comm));
    expect_ok(dlrt_alltoall(nullptr, nullptr, own, type, comm));
    expect_ok(dlrt_gatherv(nullptr, own, type, nullptr, is_even ? one : none, none, 0, comm));
    expect_ok(dlrt_allgatherv(nullptr, own, type, nullptr, is_even ? one : none, none, comm));
    expect_equal(untouched, 77);
    expect_ok(dlrt_type_free(&empty));
}

/// Null types among others that are there, in the same lists.
void null_types_beside_others(const World& world) {
    const auto size = static_cast<std::size_t>(world.size);
    std::vector<std::int64_t> send_counts(size, 0), recv_counts(size, 0), places(size, 0);
    std::vector<dlrt_type> send_types(size), recv_types(size);
    const auto next = static_cast<std::size_t>(world.next);
    const auto previous = static_cast<std::size_t>(world.previous);
    send_counts[next] = recv_counts[previous] = 1;
    send_types[next] = recv_types[previous] = int32;
    const std::int32_t mine = 100 + world.rank;
    std::int32_t got = -1;
    expect_ok(dlrt_alltoallw(
        &mine, send_counts.data(), places.data(), send_types.data(), &got, recv_counts.data(),
        places.data(), recv_types.data(), comm
    ));
    expect_equal(got, 100 + world.previous);
}

/// (c)
void few_elements(const World& world) {
    const std::int64_t count_max = 2 * world.size;
    for (std::int64_t count = 0; count <= count_max; ++count) {
        const auto length = static_cast<std::size_t>(count);
        const std::int32_t guard = -5;
        std::vector<std::int32_t> input(length), output(length + 1, guard);
        for (std::size_t i = 0; i < length; ++i) input[i] = world.rank + static_cast<int>(i);
        const auto check = [&] {
            for (std::size_t i = 0; i < length; ++i) {
                const int ranks = world.size * (world.size - 1) / 2;
                expect_equal(output[i], static_cast<int>(i) * world.size + ranks);
            }
            expect_equal(output[length], guard);
        };
        expect_ok(dlrt_allreduce(input.data(), output.data(), count, int32, DLRT_SUM, comm));
        check();
        for (std::int32_t root = 0; root < world.size; ++root) {
            std::fill(output.begin(), output.end(), guard);
            expect_ok(dlrt_reduce(input.data(), output.data(), count, int32, DLRT_SUM, root, comm));
            if (world.rank == root) check();
        }
        std::fill(output.begin(), output.end(), guard);
        dlrt_request request{};
        finish(
            dlrt_iallreduce(input.data(), output.data(), count, int32, DLRT_SUM, comm, &request),
            request
        );
        check();
    }
}

/// (d): who is not the root passes rubbish where only the root reads or writes.
void ignored_arguments(const World& world) {
    constexpr std::size_t block = 1000;
    const auto size = static_cast<std::size_t>(world.size);
    for (std::int32_t root = 0; root < world.size; ++root) {
        const bool is_root = world.rank == root;
        std::vector<double> all(is_root ? size * block : 0), mine(block, -1);
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<double>(i);
        const auto expect_own = [&] {
            const double first = 1000.0 * world.rank;
            for (std::size_t i = 0; i < block; ++i) {
                if (mine[i] != first + static_cast<double>(i)) expect(false, "the root's block");
            }
            std::fill(mine.begin(), mine.end(), -1);
        };
        const std::vector<std::int64_t> counts(size, block);
        const std::int64_t* const root_counts = is_root ? counts.data() : rubbish_counts();
        void* const at_root = is_root ? all.data() : rubbish();
        expect_ok(dlrt_scatter(at_root, mine.data(), block, DLRT_DOUBLE, root, comm));
        expect_own();
        expect_ok(dlrt_scatterv(
            at_root, root_counts, is_root ? nullptr : rubbish_counts(), mine.data(), block,
            DLRT_DOUBLE, root, comm
        ));
        for (std::size_t i = 0; i < block; ++i) {
            expect_equal(mine[i], 1000.0 * world.rank + static_cast<double>(i));
        }
        std::fill(all.begin(), all.end(), -1);
        expect_ok(dlrt_gather(mine.data(), block, DLRT_DOUBLE, at_root, root, comm));
        for (std::size_t i = 0; i < all.size(); ++i) expect_equal(all[i], static_cast<double>(i));
        std::fill(all.begin(), all.end(), -1);
        expect_ok(dlrt_gatherv(
            mine.data(), block, DLRT_DOUBLE, at_root, root_counts,
            is_root ? nullptr : rubbish_counts(), root, comm
        ));
        for (std::size_t i = 0; i < all.size(); ++i) expect_equal(all[i], static_cast<double>(i));
        const double own = 1.5;
        double sum = -1;
        expect_ok(
            dlrt_reduce(&own, is_root ? &sum : rubbish(), 1, DLRT_DOUBLE, DLRT_SUM, root, comm)
        );
        expect_equal(sum, is_root ? 1.5 * world.size : -1.0);
    }
}

/// (f): only odd ranks have something; all even ones are said to lie in one place, on top of rank
/// 1's.
void zero_counts_in_one_place(const World& world) {
    const auto size = static_cast<std::size_t>(world.size);
    std::vector<std::int64_t> counts(size, 0), places(size, 0);
    for (std::size_t rank = 1; rank < size; rank += 2) {
        counts[rank] = 1;
        places[rank] = static_cast<std::int64_t>(rank / 2);
    }
    const std::int32_t mine = 10 + world.rank;
    const std::int64_t own = world.rank % 2;
    const auto check = [&](const std::vector<std::int32_t>& got) {
        for (std::size_t i = 0; i < size; ++i) {
            expect_equal(got[i], i < size / 2 ? 11 + 2 * static_cast<int>(i) : -1);
        }
    };
    std::vector<std::int32_t> got(size, -1);
    expect_ok(dlrt_gatherv(&mine, own, int32, got.data(), counts.data(), places.data(), 0, comm));
    if (world.rank == 0) check(got);
    std::fill(got.begin(), got.end(), -1);
    expect_ok(dlrt_allgatherv(&mine, own, int32, got.data(), counts.data(), places.data(), comm));
    check(got);
    const std::vector<std::int64_t> none(size, 0);
    std::fill(got.begin(), got.end(), -1);
    expect_ok(dlrt_gatherv(nullptr, 0, int32, got.data(), none.data(), none.data(), 0, comm));
    expect_ok(dlrt_allgatherv(nullptr, 0, int32, got.data(), none.data(), none.data(), comm));
    expect(got == std::vector<std::int32_t>(size, -1), "memory is untouched");
}

}  // namespace

int main() {
    const World world;
    null_buffers(world);
    untouched_buffers(world);
    empty_types(world);
    null_types_beside_others(world);
    few_elements(world);
    ignored_arguments(world);
    zero_counts_in_one_place(world);
}
