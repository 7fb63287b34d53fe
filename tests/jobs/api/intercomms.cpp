// SPDX-License-Identifier: Apache-2.0
/// Communicators between two groups: the first two ranks and the others; np 3, 5, 6.
#include "tests/jobs/api/job.hpp"

#include <array>

using namespace job;

namespace {

using Numbers = std::vector<std::int64_t>;
constexpr std::int32_t low_size = 2;
constexpr dlrt_comm comm_world = DLRT_COMM_WORLD;

struct Sides {
    explicit Sides(const World& world) {
        is_low = world.rank < low_size;
        own_size = is_low ? low_size : world.size - low_size;
        other_size = world.size - own_size;
        own_begin = is_low ? 0 : low_size;
        other_begin = is_low ? low_size : 0;
        expect_ok(dlrt_comm_split(comm_world, is_low ? 0 : 1, 0, &local));
        const std::int32_t other_leader = is_low ? low_size : 0;
        expect_ok(dlrt_intercomm_create(local, 0, comm_world, other_leader, 7, &inter));
    }
    void free() {
        expect_ok(dlrt_comm_free(&inter));
        expect_ok(dlrt_comm_free(&local));
    }
    bool is_low;
    std::int32_t own_size, other_size, own_begin, other_begin;
    dlrt_comm local{}, inter{};
};

/// The sum of world ranks.
std::int64_t sum(std::int32_t begin, std::int32_t count) {
    std::int64_t total = 0;
    for (std::int32_t i = 0; i < count; ++i) total += begin + i;
    return total;
}

void questions(const World& world, const Sides& sides) {
    std::int32_t number = 0;
    int is_inter = 0;
    expect_ok(dlrt_comm_is_inter(sides.inter, &is_inter));
    expect_equal(is_inter, 1);
    expect_ok(dlrt_comm_is_inter(comm_world, &is_inter));
    expect_equal(is_inter, 0);
    expect_ok(dlrt_comm_size(sides.inter, &number));
    expect_equal(number, sides.own_size);
    expect_ok(dlrt_comm_rank(sides.inter, &number));
    expect_equal(number, world.rank - sides.own_begin);
    expect_ok(dlrt_comm_remote_size(sides.inter, &number));
    expect_equal(number, sides.other_size);
    expect_error(dlrt_comm_remote_size(comm_world, &number), DLRT_ERR_COMM);
    dlrt_comparison comparison{};
    expect_ok(dlrt_comm_compare(sides.inter, sides.local, &comparison));
    expect_equal(comparison, DLRT_UNEQUAL);
    dlrt_comm made{};
    expect_error(dlrt_comm_split_host(sides.inter, 1, 0, &made), DLRT_ERR_COMM);
    expect_error(dlrt_intercomm_merge(comm_world, 0, &made), DLRT_ERR_COMM);
}

/// Each to all of the other group, received by probes and from any source.
void messages(const World& world, const Sides& sides) {
    const std::int32_t self = world.rank - sides.own_begin;
    std::vector<dlrt_request> requests(static_cast<std::size_t>(sides.other_size));
    for (std::int32_t i = 0; i < sides.other_size; ++i) {
        expect_ok(dlrt_isend(
            &world.rank, 1, DLRT_INT32, i, self, sides.inter, &requests[static_cast<std::size_t>(i)]
        ));
    }
    std::int64_t total = 0;
    for (std::int32_t i = 0; i < sides.other_size; ++i) {
        dlrt_status probed{}, status{};
        expect_ok(dlrt_probe(DLRT_ANY_SOURCE, DLRT_ANY_TAG, sides.inter, &probed));
        expect_equal(probed.source, probed.tag);
        std::int32_t got = -1;
        expect_ok(dlrt_recv(&got, 1, DLRT_INT32, probed.source, probed.tag, sides.inter, &status));
        expect_equal(status.source, probed.source);
        expect_equal(got, sides.other_begin + status.source);
        total += got;
    }
    expect_equal(total, sum(sides.other_begin, sides.other_size));
    expect_ok(dlrt_waitall(sides.other_size, requests.data(), nullptr));
    expect_error(
        dlrt_send(&world.rank, 1, DLRT_INT32, sides.other_size, 0, sides.inter), DLRT_ERR_RANK
    );
}

void complete(dlrt_request& request) {
    expect_ok(dlrt_wait(&request, nullptr));
}

void all_to_all(const World& world, const Sides& sides) {
    const std::int64_t own = world.rank;
    const auto others = static_cast<std::size_t>(sides.other_size);
    dlrt_request request{};
    expect_ok(dlrt_barrier(sides.inter));
    expect_ok(dlrt_ibarrier(sides.inter, &request));
    complete(request);
    Numbers got(others), right(others);
    for (std::size_t i = 0; i < others; ++i)
        right[i] = sides.other_begin + static_cast<std::int64_t>(i);
    expect_ok(dlrt_iallgather(&own, 1, DLRT_INT64, got.data(), sides.inter, &request));
    complete(request);
    expect(got == right, "iallgather");
    std::int64_t total = 0;
    expect_ok(dlrt_allreduce(&own, &total, 1, DLRT_INT64, DLRT_SUM, sides.inter));
    expect_equal(total, sum(sides.other_begin, sides.other_size));
    expect_ok(dlrt_allreduce_init(&own, &total, 1, DLRT_INT64, DLRT_SUM, sides.inter, &request));
    for (int round = 0; round < 3; ++round) {
        total = 0;
        expect_ok(dlrt_start(request));
        expect_ok(dlrt_wait(&request, nullptr));
        expect_equal(total, sum(sides.other_begin, sides.other_size));
    }
    expect_ok(dlrt_request_free(&request));

    const std::int64_t self = world.rank - sides.own_begin;
    Numbers input(others);
    for (std::size_t i = 0; i < others; ++i) input[i] = own * 100 + static_cast<std::int64_t>(i);
    expect_ok(dlrt_alltoall(input.data(), got.data(), 1, DLRT_INT64, sides.inter));
    for (std::size_t i = 0; i < others; ++i) expect_equal(got[i], right[i] * 100 + self);

    // Each says its world rank as often as its rank in its group.
    const Numbers repeated(static_cast<std::size_t>(self), own);
    Numbers counts(others), all, expected;
    for (std::size_t i = 0; i < others; ++i) {
        counts[i] = static_cast<std::int64_t>(i);
        expected.insert(expected.end(), i, right[i]);
    }
    all.resize(expected.size());
    expect_ok(dlrt_allgatherv(
        repeated.data(), self, DLRT_INT64, all.data(), counts.data(), nullptr, sides.inter
    ));
    expect(all == expected, "allgatherv");
    expect_error(dlrt_scan(&own, &total, 1, DLRT_INT64, DLRT_SUM, sides.inter), DLRT_ERR_COMM);
}

/// Vectors of as many numbers as both groups' sizes multiplied.
void shares(const World& world, const Sides& sides) {
    const std::int64_t length = std::int64_t{sides.own_size} * sides.other_size;
    Numbers input(static_cast<std::size_t>(length));
    for (std::size_t i = 0; i < input.size(); ++i) {
        input[i] = world.rank * 1000 + static_cast<std::int64_t>(i);
    }
    const std::int64_t self = world.rank - sides.own_begin;
    const std::int64_t base = sum(sides.other_begin, sides.other_size) * 1000;
    Numbers output(static_cast<std::size_t>(sides.other_size));
    expect_ok(dlrt_reduce_scatter(
        input.data(), output.data(), sides.other_size, DLRT_INT64, DLRT_SUM, sides.inter
    ));
    for (std::size_t i = 0; i < output.size(); ++i) {
        const std::int64_t place = self * sides.other_size + static_cast<std::int64_t>(i);
        expect_equal(output[i], base + place * sides.other_size);
    }
    // All to the last one of each group.
    Numbers counts(static_cast<std::size_t>(sides.own_size), 0);
    counts.back() = length;
    const bool is_last = self == sides.own_size - 1;
    Numbers whole(is_last ? input.size() : 0);
    expect_ok(dlrt_reduce_scatterv(
        input.data(), whole.data(), counts.data(), DLRT_INT64, DLRT_SUM, sides.inter
    ));
    for (std::size_t i = 0; i < whole.size(); ++i) {
        expect_equal(whole[i], base + static_cast<std::int64_t>(i) * sides.other_size);
    }
}

/// The root is the last rank of one group.
void rooted(const World& world, const Sides& sides, bool is_low_root) {
    const bool is_root_side = sides.is_low == is_low_root;
    const std::int32_t root_side_size = is_root_side ? sides.own_size : sides.other_size;
    const bool is_root = is_root_side && world.rank == sides.own_begin + sides.own_size - 1;
    const std::int32_t root = is_root        ? DLRT_ROOT
                              : is_root_side ? DLRT_PROC_NULL
                                             : root_side_size - 1;
    const std::int64_t root_rank = is_low_root ? low_size - 1 : world.size - 1;
    std::int64_t value = is_root ? root_rank * 7 : -1;
    expect_ok(dlrt_bcast(&value, 1, DLRT_INT64, root, sides.inter));
    expect_equal(value, is_root_side && !is_root ? -1 : root_rank * 7);

    const std::int64_t own = world.rank;
    std::int64_t total = -1;
    expect_ok(dlrt_reduce(&own, &total, 1, DLRT_INT64, DLRT_SUM, root, sides.inter));
    expect_equal(total, is_root ? sum(sides.other_begin, sides.other_size) : -1);

    const auto others = static_cast<std::size_t>(sides.other_size);
    Numbers blocks(others, -1);
    expect_ok(dlrt_gather(&own, 1, DLRT_INT64, blocks.data(), root, sides.inter));
    for (std::size_t i = 0; i < others; ++i) {
        const std::int64_t right = sides.other_begin + static_cast<std::int64_t>(i);
        expect_equal(blocks[i], is_root ? right : -1);
        blocks[i] = right * 11;
    }
    std::int64_t share = -1;
    expect_ok(dlrt_scatter(blocks.data(), &share, 1, DLRT_INT64, root, sides.inter));
    expect_equal(share, is_root_side ? -1 : own * 11);
    expect_error(dlrt_bcast(&value, 1, DLRT_INT64, -7, sides.inter), DLRT_ERR_ROOT);
}

void merge(const World& world, const Sides& sides) {
    for (const bool is_low_first : {true, false}) {
        dlrt_comm merged{};
        expect_ok(dlrt_intercomm_merge(sides.inter, sides.is_low == is_low_first ? 0 : 1, &merged));
        std::vector<std::int32_t> ranks(static_cast<std::size_t>(world.size));
        expect_ok(dlrt_allgather(&world.rank, 1, DLRT_INT32, ranks.data(), merged));
        for (std::int32_t i = 0; i < world.size; ++i) {
            const std::int32_t right = is_low_first ? i : (i + low_size) % world.size;
            expect_equal(ranks[static_cast<std::size_t>(i)], right);
        }
        expect_ok(dlrt_comm_free(&merged));
    }
}

void copies(const World& world, const Sides& sides) {
    dlrt_comm copy{}, part{};
    const std::int64_t own = world.rank;
    std::int64_t total = 0;
    expect_ok(dlrt_comm_dup(sides.inter, &copy));
    dlrt_comparison comparison{};
    expect_ok(dlrt_comm_compare(sides.inter, copy, &comparison));
    expect_equal(comparison, DLRT_CONGRUENT);
    expect_ok(dlrt_allreduce(&own, &total, 1, DLRT_INT64, DLRT_SUM, copy));
    expect_equal(total, sum(sides.other_begin, sides.other_size));
    expect_ok(dlrt_comm_free(&copy));

    // By parity: where no rank of the other group has the same one there is nothing.
    expect_ok(dlrt_comm_split(sides.inter, world.rank % 2, 0, &part));
    std::int64_t right = 0;
    bool has_others = false;
    for (std::int32_t i = 0; i < sides.other_size; ++i) {
        const std::int32_t other = sides.other_begin + i;
        if (other % 2 != world.rank % 2) continue;
        right += other;
        has_others = true;
    }
    expect_equal(part.index != 0, has_others);
    if (!has_others) return;
    expect_ok(dlrt_allreduce(&own, &total, 1, DLRT_INT64, DLRT_SUM, part));
    expect_equal(total, right);
    expect_ok(dlrt_comm_free(&part));
}

void bad_creations(const World& world) {
    dlrt_comm made{};
    expect_error(dlrt_intercomm_create(comm_world, 0, comm_world, 0, 0, &made), DLRT_ERR_RANK);
    expect_error(
        dlrt_intercomm_create(comm_world, world.size, comm_world, 0, 0, &made), DLRT_ERR_RANK
    );
}

}  // namespace

int main() {
    const World world;
    for (int round = 0; round < 20; ++round) {
        Sides sides(world);
        for (auto* const part : {questions, messages, all_to_all, shares, merge, copies})
            part(world, sides);
        rooted(world, sides, true);
        rooted(world, sides, false);
        sides.free();
    }
    if (world.rank == 0) bad_creations(world);
    return 0;
}
