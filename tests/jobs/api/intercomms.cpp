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
    dlrt_group all{}, others{};
    expect_ok(dlrt_comm_group(comm_world, &all));
    expect_ok(dlrt_comm_remote_group(sides.inter, &others));
    std::int32_t first = 0;
    expect_ok(dlrt_group_translate(others, 1, &first, all, &number));
    expect_equal(number, sides.other_begin);
    expect_ok(dlrt_group_size(others, &number));
    expect_equal(number, sides.other_size);
    expect_ok(dlrt_group_free(&all));
    expect_ok(dlrt_group_free(&others));
    expect_error(dlrt_comm_remote_group(comm_world, &others), DLRT_ERR_COMM);
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

/// Blocks that differ: to rank i of the other group go i + 1 numbers, or as many come from there.
void lists(const World& world, const Sides& sides) {
    const auto others = static_cast<std::size_t>(sides.other_size);
    const std::int64_t self = world.rank - sides.own_begin, own = world.rank;
    Numbers growing, input, same(others, self + 1), traded;
    for (std::int64_t i = 0; i < sides.other_size; ++i) {
        growing.push_back(i + 1);
        input.insert(input.end(), static_cast<std::size_t>(i + 1), own * 100 + i);
        const std::int64_t right = (sides.other_begin + i) * 100 + self;
        traded.insert(traded.end(), static_cast<std::size_t>(self + 1), right);
    }
    Numbers got(traded.size(), -1);
    dlrt_request request{};
    expect_ok(dlrt_ialltoallv(
        input.data(), growing.data(), nullptr, got.data(), same.data(), nullptr, DLRT_INT64,
        sides.inter, &request
    ));
    complete(request);
    expect(got == traded, "ialltoallv");

    // By bytes, in reverse order of ranks.
    Numbers places_sent(others), places_got(others), ones(others, 1), reversed(others, -1);
    for (std::size_t i = 0; i < others; ++i) {
        places_sent[i] = static_cast<std::int64_t>(i * (i + 1) / 2 * sizeof(std::int64_t));
        places_got[i] = static_cast<std::int64_t>((others - 1 - i) * sizeof(std::int64_t));
    }
    const std::vector<dlrt_type> types(others, DLRT_INT64);
    expect_ok(dlrt_alltoallw(
        input.data(), ones.data(), places_sent.data(), types.data(), reversed.data(), ones.data(),
        places_got.data(), types.data(), sides.inter
    ));
    for (std::size_t i = 0; i < others; ++i) {
        const std::int64_t right = (sides.other_begin + static_cast<std::int64_t>(i)) * 100 + self;
        expect_equal(reversed[others - 1 - i], right);
    }
}

/// Rank 0 of the low group is the root of lists, in persistent forms.
void rooted_lists(const World& world, const Sides& sides) {
    const std::int64_t self = world.rank - sides.own_begin;
    const bool is_root = world.rank == 0;
    const std::int32_t root = is_root ? DLRT_ROOT : sides.is_low ? DLRT_PROC_NULL : 0;
    Numbers counts, all;
    for (std::int64_t i = 0; is_root && i < sides.other_size; ++i) {
        counts.push_back(i + 1);
        all.insert(all.end(), static_cast<std::size_t>(i + 1), i * 10);
    }
    Numbers own(sides.is_low ? 0 : static_cast<std::size_t>(self + 1), -1);
    const auto count = static_cast<std::int64_t>(own.size());
    dlrt_request request{};
    const auto run_twice = [&] {
        for (int round = 0; round < 2; ++round) {
            expect_ok(dlrt_start(request));
            expect_ok(dlrt_wait(&request, nullptr));
        }
        expect_ok(dlrt_request_free(&request));
    };
    expect_ok(dlrt_scatterv_init(
        all.data(), counts.data(), nullptr, own.data(), count, DLRT_INT64, root, sides.inter,
        &request
    ));
    run_twice();
    expect(own == Numbers(own.size(), self * 10), "scatterv");
    Numbers back(all.size(), -1);
    expect_ok(dlrt_gatherv_init(
        own.data(), count, DLRT_INT64, back.data(), counts.data(), nullptr, root, sides.inter,
        &request
    ));
    run_twice();
    expect(back == all, "gatherv");
}

void triple_and_add(const void* left, void* right, std::int64_t count, dlrt_type, void*) {
    const auto* const a = static_cast<const std::int64_t*>(left);
    auto* const b = static_cast<std::int64_t*>(right);
    for (std::int64_t i = 0; i < count; ++i) b[i] = a[i] * 3 + b[i];
}

/// Elements with gaps, averages, and an operation that doesn't commute.
void reductions(const World& world, const Sides& sides) {
    dlrt_type pair{};
    expect_ok(dlrt_type_vector(2, 1, 2, DLRT_DOUBLE, &pair));
    const std::array<double, 3> input = {world.rank + 0.5, -1, world.rank * 2.0};
    std::array<double, 3> output = {-7, -7, -7};
    expect_ok(dlrt_allreduce(input.data(), output.data(), 1, pair, DLRT_AVG, sides.inter));
    const auto mean = static_cast<double>(sum(sides.other_begin, sides.other_size)) /
                      sides.other_size;
    expect(output == std::array<double, 3>{mean + 0.5, -7, mean * 2}, "averages with gaps");
    expect_ok(dlrt_type_free(&pair));

    dlrt_op op{};
    expect_ok(dlrt_op_create(triple_and_add, nullptr, 0, &op));
    const std::int64_t own = world.rank + 1;
    std::int64_t got = -1, right = sides.other_begin + 1;
    for (std::int32_t i = 1; i < sides.other_size; ++i)
        right = right * 3 + sides.other_begin + 1 + i;
    expect_ok(dlrt_allreduce(&own, &got, 1, DLRT_INT64, op, sides.inter));
    expect_equal(got, right);
    expect_ok(dlrt_op_free(&op));
}

/// Two at once, in another order on each side, as one operation.
void group_of_calls(const World& world, const Sides& sides) {
    dlrt_comm copy{};
    expect_ok(dlrt_comm_dup(sides.inter, &copy));
    const std::int64_t own = world.rank;
    std::int64_t first = -1, second = -1;
    expect_ok(dlrt_group_start());
    const auto reduce = [&](dlrt_comm comm, std::int64_t& total) {
        expect_ok(dlrt_allreduce(&own, &total, 1, DLRT_INT64, DLRT_SUM, comm));
    };
    if (sides.is_low) reduce(sides.inter, first);
    reduce(copy, second);
    if (!sides.is_low) reduce(sides.inter, first);
    expect_ok(dlrt_group_end());
    expect_equal(first, sum(sides.other_begin, sides.other_size));
    expect_equal(second, first);
    expect_ok(dlrt_comm_free(&copy));
}

void refusals(const World& world, const Sides& sides) {
    const std::int64_t own = world.rank;
    Numbers out(8);
    const dlrt_comm inter = sides.inter;
    const auto sum_of = [&](const void* input, void* output, std::int64_t count) {
        return dlrt_allreduce(input, output, count, DLRT_INT64, DLRT_SUM, inter);
    };
    expect_error(sum_of(DLRT_IN_PLACE, out.data(), 1), DLRT_ERR_BUFFER);
    expect(
        std::string(dlrt_last_error()) ==
            "dlrt_allreduce: DLRT_IN_PLACE is not valid in a communicator between two groups",
        "what is wrong with DLRT_IN_PLACE"
    );
    expect_error(sum_of(nullptr, out.data(), 1), DLRT_ERR_BUFFER);
    expect_error(sum_of(&own, nullptr, 1), DLRT_ERR_BUFFER);
    expect_error(sum_of(&own, out.data(), -1), DLRT_ERR_COUNT);
    expect_error(sum_of(out.data(), out.data(), 1), DLRT_ERR_BUFFER);
    expect_error(dlrt_allgather(nullptr, 1, DLRT_INT64, out.data(), inter), DLRT_ERR_BUFFER);
    expect_error(dlrt_allgather(&own, 1, DLRT_INT64, nullptr, inter), DLRT_ERR_BUFFER);
    expect_error(dlrt_alltoall(out.data(), out.data(), 1, DLRT_INT64, inter), DLRT_ERR_BUFFER);
    const Numbers negative(8, -1);
    expect_error(
        dlrt_allgatherv(&own, 1, DLRT_INT64, out.data(), negative.data(), nullptr, inter),
        DLRT_ERR_COUNT
    );
    expect_error(dlrt_bcast(out.data(), -1, DLRT_INT64, DLRT_PROC_NULL, inter), DLRT_ERR_COUNT);
    expect_error(dlrt_bcast(nullptr, 1, DLRT_INT64, DLRT_ROOT, inter), DLRT_ERR_BUFFER);
    expect_error(dlrt_bcast(out.data(), 1, DLRT_INT64, sides.other_size, inter), DLRT_ERR_ROOT);
    expect_error(dlrt_bcast(out.data(), 1, DLRT_INT64, DLRT_ROOT, sides.local), DLRT_ERR_ROOT);
    dlrt_comm made{};
    expect_error(dlrt_comm_create_graph(inter, 0, nullptr, 0, nullptr, &made), DLRT_ERR_COMM);
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

/// Two ranks alone, who know each other from the communicator between the groups.
void bridge(const World& world, const Sides& sides) {
    if (world.rank != sides.own_begin) return;
    dlrt_comm inter{}, merged{};
    expect_ok(dlrt_intercomm_create(DLRT_COMM_SELF, 0, sides.inter, 0, 1, &inter));
    std::int32_t other = -1;
    expect_ok(
        dlrt_sendrecv(&world.rank, 1, DLRT_INT32, 0, 0, &other, 1, DLRT_INT32, 0, 0, inter, nullptr)
    );
    expect_equal(other, sides.other_begin);
    // Both low: the order is the library's, and the same for both.
    expect_ok(dlrt_intercomm_merge(inter, 0, &merged));
    std::array<std::int32_t, 2> ranks{};
    expect_ok(dlrt_allgather(&world.rank, 1, DLRT_INT32, ranks.data(), merged));
    expect(ranks[0] + ranks[1] == low_size && ranks[0] != ranks[1], "both are there");
    expect_ok(dlrt_comm_free(&merged));
    expect_ok(dlrt_comm_free(&inter));
}

/// The groups call for vectors of different lengths, then different collectives.
void disagreements(const Sides& sides) {
    for (const bool is_about_length : {true, false}) {
        dlrt_comm copy{};
        expect_ok(dlrt_comm_dup(sides.inter, &copy));
        const Numbers input(2, 1);
        Numbers output(8);
        const std::int64_t count = sides.is_low && is_about_length ? 1 : 2;
        dlrt_err outcome = DLRT_OK;
        if (sides.is_low && !is_about_length) {
            outcome = dlrt_barrier(copy);
        } else {
            outcome = dlrt_allreduce(
                input.data(), output.data(), count, DLRT_INT64, DLRT_SUM, copy
            );
        }
        // Who noticed nothing does so when it needs the others.
        if (outcome == DLRT_OK) outcome = dlrt_barrier(copy);
        expect_error(outcome, DLRT_ERR_MISMATCH);
        expect_ok(dlrt_comm_free(&copy));
    }
}

void bad_creations(const World& world) {
    dlrt_comm made{};
    expect_error(dlrt_intercomm_create(comm_world, 0, comm_world, 0, 0, &made), DLRT_ERR_RANK);
    expect_error(
        dlrt_intercomm_create(comm_world, world.size, comm_world, 0, 0, &made), DLRT_ERR_RANK
    );
    dlrt_comm self = DLRT_COMM_SELF;
    expect_error(dlrt_intercomm_create(self, 0, comm_world, 1, -1, &made), DLRT_ERR_TAG);
    expect_error(dlrt_intercomm_create(self, 0, comm_world, world.size, 0, &made), DLRT_ERR_RANK);
    expect_error(dlrt_intercomm_create(self, 0, {99, 7}, 1, 0, &made), DLRT_ERR_COMM);
    expect_error(dlrt_intercomm_create({99, 7}, 0, comm_world, 1, 0, &made), DLRT_ERR_COMM);
    expect_error(dlrt_intercomm_create(self, 0, comm_world, 1, 0, nullptr), DLRT_ERR_ARG);
    expect(made.index == 0, "no communicator after an error");
}

}  // namespace

int main() {
    const World world;
    for (int round = 0; round < 20; ++round) {
        Sides sides(world);
        for (auto* const part :
             {questions, messages, all_to_all, shares, merge, copies, lists, rooted_lists,
              reductions, group_of_calls, bridge, refusals})
            part(world, sides);
        rooted(world, sides, true);
        rooted(world, sides, false);
        sides.free();
    }
    Sides sides(world);
    disagreements(sides);
    sides.free();
    if (world.rank == 0) bad_creations(world);
    return 0;
}
