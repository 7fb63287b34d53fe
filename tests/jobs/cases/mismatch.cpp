// SPDX-License-Identifier: Apache-2.0
/// Ranks that call different collectives are told so, with both calls, soon, and whoever waits is;
/// legal calls that only look different go through. Rank 0 makes the first call of each pair, the
/// others the second, on a communicator of their own. Any number of ranks from 2 on.
#include "tests/jobs/api/job.hpp"
#include "tests/jobs/cases/time_used.hpp"

#include <chrono>
#include <functional>
#include <thread>

using namespace job;

namespace {

struct Memory {
    std::vector<double> input = std::vector<double>(4096, 1.0);
    std::vector<double> output = std::vector<double>(4096, 0.0);
};

using CallOf = std::function<dlrt_err(dlrt_comm, Memory&)>;

CallOf barrier_call() {
    return [](dlrt_comm comm, Memory&) { return dlrt_barrier(comm); };
}
CallOf ibarrier_call() {
    return [](dlrt_comm comm, Memory&) {
        dlrt_request request{};
        // Who comes late may be told at once.
        const dlrt_err begun = dlrt_ibarrier(comm, &request);
        return begun != DLRT_OK ? begun : dlrt_wait(&request, nullptr);
    };
}
CallOf bcast_call(std::int64_t count, dlrt_type type, int root) {
    return [=](dlrt_comm comm, Memory& memory) {
        return dlrt_bcast(memory.output.data(), count, type, root, comm);
    };
}
CallOf ibcast_call(int root) {
    return [=](dlrt_comm comm, Memory& memory) {
        dlrt_request request{};
        void* const data = memory.output.data();
        const dlrt_err begun = dlrt_ibcast(data, 4, DLRT_INT32, root, comm, &request);
        return begun != DLRT_OK ? begun : dlrt_wait(&request, nullptr);
    };
}
CallOf reduce_call(std::int64_t count, dlrt_op op, int root) {
    return [=](dlrt_comm comm, Memory& memory) {
        return dlrt_reduce(
            memory.input.data(), memory.output.data(), count, DLRT_INT32, op, root, comm
        );
    };
}
CallOf allreduce_call(std::int64_t count, dlrt_type type, dlrt_op op) {
    return [=](dlrt_comm comm, Memory& memory) {
        return dlrt_allreduce(memory.input.data(), memory.output.data(), count, type, op, comm);
    };
}
CallOf gather_call(std::int64_t count, int root) {
    return [=](dlrt_comm comm, Memory& memory) {
        return dlrt_gather(
            memory.input.data(), count, DLRT_INT32, memory.output.data(), root, comm
        );
    };
}
CallOf allgather_call(std::int64_t count) {
    return [=](dlrt_comm comm, Memory& memory) {
        return dlrt_allgather(memory.input.data(), count, DLRT_INT32, memory.output.data(), comm);
    };
}
CallOf alltoall_call(std::int64_t count) {
    return [=](dlrt_comm comm, Memory& memory) {
        return dlrt_alltoall(memory.input.data(), memory.output.data(), count, DLRT_INT32, comm);
    };
}
CallOf scan_call(dlrt_op op) {
    return [=](dlrt_comm comm, Memory& memory) {
        return dlrt_scan(memory.input.data(), memory.output.data(), 4, DLRT_INT32, op, comm);
    };
}
/// So many elements to itself, and so many to each other; two from each.
CallOf alltoallv_call(std::int64_t to_itself, std::int64_t to_others) {
    return [=](dlrt_comm comm, Memory& memory) {
        std::int32_t rank = 0, size = 0;
        expect_ok(dlrt_comm_rank(comm, &rank));
        expect_ok(dlrt_comm_size(comm, &size));
        std::vector<std::int64_t> sent(static_cast<std::size_t>(size), to_others);
        const std::vector<std::int64_t> received(sent.size(), 2);
        sent[static_cast<std::size_t>(rank)] = to_itself;
        return dlrt_alltoallv(
            memory.input.data(), sent.data(), nullptr, memory.output.data(), received.data(),
            nullptr, DLRT_INT32, comm
        );
    };
}
CallOf both(CallOf first, CallOf second) {
    return [=](dlrt_comm comm, Memory& memory) {
        const dlrt_err outcome = first(comm, memory);
        return outcome == DLRT_OK ? second(comm, memory) : outcome;
    };
}

struct Pair {
    const char* what;
    CallOf of_rank_0, of_others;  ///< Or of another odd one, instead of rank 0.
    const char* words_of_rank_0;  ///< Stand in the message, as do those of the others.
    const char* words_of_others;
};

std::vector<Pair> disagreements() {
    const auto int_sum = allreduce_call(2, DLRT_INT32, DLRT_SUM);
    return {
        {"operation", barrier_call(), int_sum, "barrier", "allreduce of 8 bytes (sum of int32)"},
        {"operation", bcast_call(2, DLRT_INT32, 0), int_sum, "bcast with root 0", "allreduce"},
        {"operation", allgather_call(3), alltoall_call(3), "allgather", "alltoall"},
        {"operation", reduce_call(2, DLRT_SUM, 0), gather_call(2, 0), "reduce with", "gather with"},
        {"root", bcast_call(4, DLRT_INT32, 0), bcast_call(4, DLRT_INT32, 1), "root 0", "root 1"},
        // Either sees the other's record, or finds its message.
        {"begun", ibcast_call(0), ibcast_call(1), "root 0", "root 1"},
        {"root", reduce_call(4, DLRT_SUM, 0), reduce_call(4, DLRT_SUM, 1), "root 0", "root 1"},
        {"root", gather_call(4, 0), gather_call(4, 1), "root 0", "root 1"},
        {"count", int_sum, allreduce_call(3, DLRT_INT32, DLRT_SUM), "8 bytes", "12 bytes"},
        {"long", allreduce_call(4000, DLRT_DOUBLE, DLRT_SUM),
         allreduce_call(4001, DLRT_DOUBLE, DLRT_SUM), "32000 bytes", "32008 bytes"},
        {"count", bcast_call(2, DLRT_INT32, 0), bcast_call(3, DLRT_INT32, 0), "8 bytes",
         "12 bytes"},
        {"pieces", bcast_call(2048, DLRT_INT32, 0), bcast_call(3072, DLRT_INT32, 0), "8192 bytes",
         "12288 bytes"},
        {"count", alltoall_call(1), alltoall_call(2), "4 bytes", "8 bytes"},
        {"block", alltoallv_call(2, 3), alltoallv_call(2, 2), "rank 0 sent more", "expects"},
        {"block", alltoallv_call(2, 1), alltoallv_call(2, 2), "rank 0 sent less", "expects"},
        {"block", alltoallv_call(1, 2), alltoallv_call(2, 2), "for itself has 4 bytes", "8 as"},
        {"type", int_sum, allreduce_call(2, DLRT_FLOAT, DLRT_SUM), "int32", "float"},
        {"type", int_sum, allreduce_call(1, DLRT_DOUBLE, DLRT_SUM), "int32", "double"},
        {"reduction", int_sum, allreduce_call(2, DLRT_INT32, DLRT_MAX), "sum", "max"},
        {"reduction", scan_call(DLRT_SUM), scan_call(DLRT_MIN), "sum", "min"},
        {"order", both(barrier_call(), int_sum), both(int_sum, barrier_call()), "barrier",
         "allreduce"},
        {"form", barrier_call(), ibarrier_call(), "barrier", "nonblocking barrier"},
    };
}

/// Who makes the first call of a pair, and how much later.
struct OddOne {
    int rank = 0;
    double late_s = 0;
};

/// 1 where it went through.
int try_disagreement(const World& world, const Pair& pair, Memory& memory, const OddOne& odd) {
    dlrt_comm comm{};
    expect_ok(dlrt_comm_dup(DLRT_COMM_WORLD, &comm));
    const bool is_odd = world.rank == odd.rank;
    if (is_odd) std::this_thread::sleep_for(std::chrono::duration<double>(odd.late_s));
    const double begin = seconds_now();
    // Calls that need nothing from the others go through; the next one doesn't.
    dlrt_err outcome = (is_odd ? pair.of_rank_0 : pair.of_others)(comm, memory);
    if (outcome == DLRT_OK) outcome = dlrt_barrier(comm);
    const double taken = seconds_now() - begin;
    if (outcome != DLRT_OK) {
        expect_error(outcome, DLRT_ERR_MISMATCH);
        const std::string text = dlrt_last_error();
        const bool is_heard = text.find("has found that the ranks") != std::string::npos;
        const bool is_told = is_heard || (text.find(pair.words_of_rank_0) != std::string::npos &&
                                          text.find(pair.words_of_others) != std::string::npos);
        if (!is_told) std::fprintf(stderr, "%s: %s\n", pair.what, text.c_str());
        expect(is_told, "both calls are told");
    }
    if (taken > odd.late_s + 10) std::fprintf(stderr, "%s took %g s\n", pair.what, taken);
    expect(taken <= odd.late_s + 10, "within ten times a second");
    expect_ok(dlrt_comm_free(&comm));
    return outcome == DLRT_OK ? 1 : 0;
}

void try_disagreements(const World& world) {
    Memory memory;
    for (const Pair& pair : disagreements()) {
        std::int32_t passed = try_disagreement(world, pair, memory, {});
        std::int32_t passed_count = 0;
        expect_ok(dlrt_allreduce(&passed, &passed_count, 1, DLRT_INT32, DLRT_SUM, DLRT_COMM_WORLD));
        if (passed_count == world.size) std::fprintf(stderr, "%s went through\n", pair.what);
        expect(passed_count < world.size, "somebody is told");
    }
}

/// The others have looked whether calls differ, and found nothing, when the last one comes.
void try_late_disagreement(const World& world) {
    Memory memory;
    const Pair pair{
        "late", gather_call(2, 0), allreduce_call(4000, DLRT_DOUBLE, DLRT_SUM), "gather",
        "allreduce of 32000 bytes"};
    const int passed = try_disagreement(world, pair, memory, {world.size - 1, 2.5});
    expect(passed == 0, "all are told");
}

void try_legal_calls(const World& world) {
    std::vector<std::int32_t> input(40, world.rank), output(40);
    dlrt_type ten{};
    expect_ok(dlrt_type_contiguous(10, DLRT_INT32, &ten));
    // The same sequence of elements, put together in two ways.
    const bool is_odd = world.rank % 2 == 1;
    expect_ok(
        dlrt_bcast(output.data(), is_odd ? 2 : 20, is_odd ? ten : DLRT_INT32, 0, DLRT_COMM_WORLD)
    );
    expect_ok(dlrt_allreduce(
        is_odd ? DLRT_IN_PLACE : input.data(), output.data(), is_odd ? 1 : 10,
        is_odd ? ten : DLRT_INT32, DLRT_MAX, DLRT_COMM_WORLD
    ));
    // Nothing, described as different nothings.
    expect_ok(dlrt_bcast(nullptr, 0, is_odd ? DLRT_DOUBLE : DLRT_BYTE, 0, DLRT_COMM_WORLD));
    // Blocks of which the ranks know only their own.
    std::vector<std::int64_t> counts;
    for (int rank = 0; rank < world.size; ++rank) counts.push_back(rank % 3);
    expect_ok(dlrt_gatherv(
        input.data(), world.rank % 3, DLRT_INT32, output.data(), counts.data(), nullptr, 0,
        DLRT_COMM_WORLD
    ));
    expect_ok(dlrt_type_free(&ten));
}

}  // namespace

int main() {
    const World world;
    try_legal_calls(world);
    try_disagreements(world);
    try_late_disagreement(world);
    barrier();
}
