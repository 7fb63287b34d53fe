// SPDX-License-Identifier: Apache-2.0
/// Every collective function of dlrt.h in its three forms, and what they refuse; any number of
/// ranks. Rank r has 10 r + i at element i.
#include "tests/jobs/api/job.hpp"

#include <functional>
#include <numeric>

using namespace job;

namespace {

using Numbers = std::vector<std::int32_t>;
constexpr dlrt_comm comm_world = {1, 0};

/// Calls the blocking function, the nonblocking one and three rounds of the persistent one.
template<typename Blocking, typename Begin, typename... Arguments>
void in_all_forms(
    const std::function<void()>& prepare, const std::function<void()>& check, Blocking blocking,
    Begin begin, Begin make, Arguments... arguments
) {
    prepare();
    expect_ok(blocking(arguments..., comm_world));
    check();
    dlrt_request request{};
    prepare();
    expect_ok(begin(arguments..., comm_world, &request));
    dlrt_status status{};
    expect_ok(dlrt_wait(&request, &status));
    expect(request.index == 0, "a complete request is null");
    expect_equal(status.source, std::int32_t{DLRT_ANY_SOURCE});
    check();
    expect_ok(make(arguments..., comm_world, &request));
    for (int round = 0; round < 3; ++round) {
        prepare();
        expect_ok(dlrt_start(request));
        expect_error(dlrt_start(request), DLRT_ERR_REQUEST);
        expect_ok(dlrt_wait(&request, nullptr));
        check();
    }
    expect_ok(dlrt_request_free(&request));
    expect_error(begin(arguments..., comm_world, nullptr), DLRT_ERR_ARG);
}

struct Data {
    const World& world;
    Numbers input, output;

    explicit Data(const World& of) : world(of) { reset(); }
    void reset() {
        const auto size = static_cast<std::size_t>(world.size);
        input.assign(2 * size, 0);
        output.assign(2 * size, -1);
        for (std::size_t i = 0; i < input.size(); ++i) input[i] = of_rank(world.rank, i);
    }
    static std::int32_t of_rank(std::int32_t rank, std::size_t i) {
        return 10 * rank + static_cast<std::int32_t>(i);
    }
    /// Of ranks 0 .. end - 1 at element i.
    static std::int32_t sum(std::int32_t end, std::size_t i) {
        return 10 * (end * (end - 1) / 2) + end * static_cast<std::int32_t>(i);
    }
};

void try_vectors(const World& world) {
    Data data(world);
    const std::int32_t root = world.size - 1;
    const bool is_root = world.rank == root;
    const auto reset = [&] { data.reset(); };
    const auto at = [&](std::size_t i) { return data.output[i]; };
    const void* const in = data.input.data();
    void* const out = data.output.data();

    in_all_forms(
        reset, [] {}, dlrt_barrier, dlrt_ibarrier, dlrt_barrier_init
    );
    in_all_forms(
        [&] {
            data.reset();
            if (is_root) data.output = data.input;
        },
        [&] { expect_equal(at(1), Data::of_rank(root, 1)); }, dlrt_bcast, dlrt_ibcast,
        dlrt_bcast_init, out, std::int64_t{2}, DLRT_INT32, root
    );
    in_all_forms(
        reset, [&] { expect_equal(at(1), is_root ? Data::sum(world.size, 1) : -1); }, dlrt_reduce,
        dlrt_ireduce, dlrt_reduce_init, in, out, std::int64_t{2}, DLRT_INT32, DLRT_SUM, root
    );
    in_all_forms(
        reset, [&] { expect_equal(at(1), Data::sum(world.size, 1)); }, dlrt_allreduce,
        dlrt_iallreduce, dlrt_allreduce_init, in, out, std::int64_t{2}, DLRT_INT32, DLRT_SUM
    );
    in_all_forms(
        reset, [&] { expect_equal(at(1), Data::sum(world.rank + 1, 1)); }, dlrt_scan, dlrt_iscan,
        dlrt_scan_init, in, out, std::int64_t{2}, DLRT_INT32, DLRT_SUM
    );
    in_all_forms(
        reset, [&] { expect_equal(at(1), world.rank == 0 ? -1 : Data::sum(world.rank, 1)); },
        dlrt_exscan, dlrt_iexscan, dlrt_exscan_init, in, out, std::int64_t{2}, DLRT_INT32, DLRT_SUM
    );
}

void try_blocks(const World& world) {
    Data data(world);
    const std::int32_t root = world.size - 1;
    const bool is_root = world.rank == root;
    const auto reset = [&] { data.reset(); };
    const auto at = [&](std::size_t i) { return data.output[i]; };
    const auto rank = static_cast<std::size_t>(world.rank);
    const void* const in = data.input.data();
    void* const out = data.output.data();

    in_all_forms(
        reset,
        [&] {
            expect_equal(at(0), Data::sum(world.size, 2 * rank));
            expect_equal(at(1), Data::sum(world.size, 2 * rank + 1));
        },
        dlrt_reduce_scatter, dlrt_ireduce_scatter, dlrt_reduce_scatter_init, in, out,
        std::int64_t{2}, DLRT_INT32, DLRT_SUM
    );
    in_all_forms(
        reset,
        [&] {
            for (std::size_t i = 0; i < data.output.size() && is_root; ++i) {
                expect_equal(at(i), Data::of_rank(static_cast<std::int32_t>(i / 2), i % 2));
            }
        },
        dlrt_gather, dlrt_igather, dlrt_gather_init, in, std::int64_t{2}, DLRT_INT32, out, root
    );
    in_all_forms(
        reset, [&] { expect_equal(at(1), Data::of_rank(root, 2 * rank + 1)); }, dlrt_scatter,
        dlrt_iscatter, dlrt_scatter_init, in, out, std::int64_t{2}, DLRT_INT32, root
    );
    in_all_forms(
        reset,
        [&] {
            for (std::size_t i = 0; i < data.output.size(); ++i) {
                expect_equal(at(i), Data::of_rank(static_cast<std::int32_t>(i / 2), i % 2));
            }
        },
        dlrt_allgather, dlrt_iallgather, dlrt_allgather_init, in, std::int64_t{2}, DLRT_INT32, out
    );
    in_all_forms(
        reset,
        [&] {
            for (std::size_t i = 0; i < data.output.size(); ++i) {
                const auto from = static_cast<std::int32_t>(i / 2);
                expect_equal(at(i), Data::of_rank(from, 2 * rank + i % 2));
            }
        },
        dlrt_alltoall, dlrt_ialltoall, dlrt_alltoall_init, in, out, std::int64_t{2}, DLRT_INT32
    );
}

/// Rank r gives or gets r + 1 elements; they lie at (size + 1) r in the lists' buffers.
struct Lists {
    const World& world;
    std::size_t size = static_cast<std::size_t>(world.size);
    std::size_t rank = static_cast<std::size_t>(world.rank);
    std::int64_t own = world.rank + 1;
    std::vector<std::int64_t> counts, own_counts, places, bytes;
    Numbers input, output;

    explicit Lists(const World& of) : world(of), own_counts(size, own) {
        for (std::size_t i = 0; i < size; ++i) {
            counts.push_back(static_cast<std::int64_t>(i) + 1);
            places.push_back(static_cast<std::int64_t>(i * (size + 1)));
            bytes.push_back(4 * places[i]);
        }
        input.resize(size * (size + 1));
        output.resize(input.size());
    }
    void reset() {
        for (std::size_t i = 0; i < input.size(); ++i) input[i] = Data::of_rank(world.rank, i);
        output.assign(output.size(), -1);
    }
    [[nodiscard]] std::size_t place(std::size_t block) const {
        return static_cast<std::size_t>(places[block]);
    }
    /// What the ranks sent from their element `first` on, each to its place.
    void expect_collected(std::size_t first) const {
        for (std::size_t from = 0; from < size; ++from) {
            for (std::size_t i = 0; i <= from; ++i) {
                const auto right = Data::of_rank(static_cast<std::int32_t>(from), first + i);
                expect_equal(output[place(from) + i], right);
            }
            if (from + 1 < size) expect_equal(output[place(from) + from + 1], -1);
        }
    }
};

void try_uneven(const World& world) {
    Lists lists(world);
    const std::int32_t root = 0;
    const auto reset = [&] { lists.reset(); };
    const void* const in = lists.input.data();
    void* const out = lists.output.data();
    const std::int64_t* const counts = lists.counts.data();
    const std::int64_t* const places = lists.places.data();
    in_all_forms(
        reset,
        [&] {
            if (world.rank == root) lists.expect_collected(0);
        },
        dlrt_gatherv, dlrt_igatherv, dlrt_gatherv_init, in, lists.own, DLRT_INT32, out, counts,
        places, root
    );
    in_all_forms(
        reset, [&] { lists.expect_collected(0); }, dlrt_allgatherv, dlrt_iallgatherv,
        dlrt_allgatherv_init, in, lists.own, DLRT_INT32, out, counts, places
    );
    in_all_forms(
        reset,
        [&] {
            for (std::size_t i = 0; i <= lists.rank; ++i)
                expect_equal(lists.output[i], Data::of_rank(root, lists.place(lists.rank) + i));
            expect_equal(lists.output[lists.rank + 1], -1);
        },
        dlrt_scatterv, dlrt_iscatterv, dlrt_scatterv_init, in, counts, places, out, lists.own,
        DLRT_INT32, root
    );
    in_all_forms(
        reset,
        [&] {
            const std::size_t first = lists.rank * (lists.rank + 1) / 2;
            for (std::size_t i = 0; i <= lists.rank; ++i)
                expect_equal(lists.output[i], Data::sum(world.size, first + i));
            expect_equal(lists.output[lists.rank + 1], -1);
        },
        dlrt_reduce_scatterv, dlrt_ireduce_scatterv, dlrt_reduce_scatterv_init, in, out, counts,
        DLRT_INT32, DLRT_SUM
    );
}

/// Rank r sends r + 1 elements to everybody.
void try_exchanges(const World& world) {
    Lists lists(world);
    const auto reset = [&] { lists.reset(); };
    const auto check = [&] { lists.expect_collected(lists.place(lists.rank)); };
    const std::vector<dlrt_type> types(lists.size, DLRT_INT32);
    const void* const in = lists.input.data();
    void* const out = lists.output.data();
    in_all_forms(
        reset, check, dlrt_alltoallv, dlrt_ialltoallv, dlrt_alltoallv_init, in,
        lists.own_counts.data(), lists.places.data(), out, lists.counts.data(), lists.places.data(),
        DLRT_INT32
    );
    in_all_forms(
        reset, check, dlrt_alltoallw, dlrt_ialltoallw, dlrt_alltoallw_init, in,
        lists.own_counts.data(), lists.bytes.data(), types.data(), out, lists.counts.data(),
        lists.bytes.data(), types.data()
    );
}

/// Blocks that share memory, and such that only lie among each other.
void try_overlaps(const World& world) {
    const auto size = static_cast<std::size_t>(world.size);
    Numbers room(2 * size, 5);
    std::int32_t* const data = room.data();
    const std::vector<std::int64_t> ones(size, 1);
    std::vector<std::int64_t> even(size), odd(size);
    for (std::size_t i = 0; i < size; ++i) {
        even[i] = static_cast<std::int64_t>(2 * i);
        odd[i] = even[i] + 1;
    }
    const auto expect_overlap = [](dlrt_err refusal, const std::string& words) {
        expect_error(refusal, DLRT_ERR_BUFFER);
        expect(std::string(dlrt_last_error()).find(words) != std::string::npos, words.c_str());
    };
    const bool is_alone = size == 1;
    const std::string last = "block " + std::to_string(size - 1);
    expect_overlap(
        dlrt_allgatherv(data + size - 1, 1, DLRT_INT32, data, ones.data(), nullptr, comm_world),
        is_alone ? "input and output are the same" : "input and " + last + " of output overlap"
    );
    expect_overlap(
        dlrt_reduce_scatterv(data, data + size - 1, ones.data(), DLRT_INT32, DLRT_SUM, comm_world),
        is_alone ? "are the same" : last + " of input and output overlap"
    );
    if (world.rank == 0) {
        expect_overlap(
            dlrt_scatterv(
                data, ones.data(), nullptr, data + size - 1, 1, DLRT_INT32, 0, comm_world
            ),
            is_alone ? "are the same" : last + " of input and output overlap"
        );
    }
    if (!is_alone) {
        expect_overlap(
            dlrt_alltoallv(
                data, ones.data(), even.data(), data + 1, ones.data(), odd.data(), DLRT_INT32,
                comm_world
            ),
            "block 1 of input and block 0 of output overlap"
        );
    }
    expect_ok(dlrt_alltoallv(
        data, ones.data(), even.data(), data, ones.data(), odd.data(), DLRT_INT32, comm_world
    ));
    for (std::size_t i = 0; i < size; ++i) expect_equal(room[2 * i + 1], 5);
}

void try_bad_arguments(const World& world) {
    const auto size = static_cast<std::size_t>(world.size);
    Numbers input(2 * size), output(2 * size);
    void* const in = input.data();
    void* const out = output.data();
    std::vector<std::int64_t> counts(size, 1);
    expect_error(dlrt_bcast(in, 1, DLRT_INT32, world.size, comm_world), DLRT_ERR_ROOT);
    expect_error(dlrt_alltoall(in, out, -1, DLRT_INT32, comm_world), DLRT_ERR_COUNT);
    expect_error(dlrt_alltoall(in, in, 1, DLRT_INT32, comm_world), DLRT_ERR_BUFFER);
    expect_error(
        dlrt_scan(in, input.data() + 1, 2, DLRT_INT32, DLRT_SUM, comm_world), DLRT_ERR_BUFFER
    );
    expect_error(dlrt_scan(in, nullptr, 1, DLRT_INT32, DLRT_SUM, comm_world), DLRT_ERR_BUFFER);
    expect_error(
        dlrt_reduce_scatter(in, out, INT64_MAX / 2, DLRT_INT32, DLRT_SUM, comm_world),
        DLRT_ERR_COUNT
    );
    expect_error(
        dlrt_allgatherv(in, 1, DLRT_INT32, out, nullptr, nullptr, comm_world), DLRT_ERR_ARG
    );
    counts.back() = -3;
    expect_error(
        dlrt_allgatherv(in, 1, DLRT_INT32, out, counts.data(), nullptr, comm_world), DLRT_ERR_COUNT
    );
    expect(
        std::string(dlrt_last_error()).find("dlrt_allgatherv: the block for rank") == 0,
        "names the call and the block"
    );
    counts.back() = 1;
    expect_error(
        dlrt_alltoallv(
            in, counts.data(), nullptr, nullptr, counts.data(), nullptr, DLRT_INT32, comm_world
        ),
        DLRT_ERR_BUFFER
    );
    expect_error(
        dlrt_iallreduce(in, out, 1, DLRT_DOUBLE, DLRT_BAND, comm_world, nullptr), DLRT_ERR_ARG
    );
    dlrt_request request{};
    expect_error(
        dlrt_iallreduce(in, out, 1, DLRT_DOUBLE, DLRT_BAND, comm_world, &request), DLRT_ERR_OP
    );
    expect(request.index == 0, "no request after an error");
    expect_ok(dlrt_ibarrier(comm_world, &request));
    expect_error(dlrt_cancel(request), DLRT_ERR_UNSUPPORTED);
    expect_ok(dlrt_wait(&request, nullptr));
    dlrt_comm duplicate{};
    expect_ok(dlrt_comm_dup(comm_world, &duplicate));
    dlrt_comm freed = duplicate;
    expect_ok(dlrt_comm_free(&duplicate));
    expect_error(dlrt_alltoall(in, out, 1, DLRT_INT32, freed), DLRT_ERR_COMM);
}

}  // namespace

int main() {
    const World world;
    try_vectors(world);
    try_blocks(world);
    try_uneven(world);
    try_exchanges(world);
    try_overlaps(world);
    try_bad_arguments(world);
    barrier();
}
