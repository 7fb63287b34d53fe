// SPDX-License-Identifier: Apache-2.0
#include "runtime/recent_calls.hpp"

#include "collectives/contract.hpp"

namespace dlrt {
namespace {

bool is_nowhere(const void* address) {
    // Null and the words of the surfaces for "in place", 1 and -1, can't hold anything.
    return reinterpret_cast<std::uintptr_t>(address) + 1 <= 2;
}

/// As far as both are there.
bool do_overlap(
    const void* input, std::uint64_t input_bytes, const void* output, std::uint64_t output_bytes
) {
    if (input_bytes == 0 || output_bytes == 0) return false;
    const auto first = reinterpret_cast<std::uintptr_t>(input);
    const auto second = reinterpret_cast<std::uintptr_t>(output);
    return first < second ? second - first < input_bytes : first - second < output_bytes;
}

/// But for the buffers.
bool is_same(const RecentCall& a, const RecentCall& b) {
    const std::uint64_t difference = (a.comm ^ b.comm) | (a.type ^ b.type) | (a.op ^ b.op) |
                                     (a.output_type ^ b.output_type) |
                                     static_cast<std::uint64_t>(
                                         (a.count ^ b.count) | (a.output_count ^ b.output_count)
                                     );
    return difference == 0 && a.root == b.root && a.collective == b.collective &&
           a.is_in_place == b.is_in_place;
}

bool has_blocks_in(coll::Collective collective) {
    return collective == coll::Collective::scatter || collective == coll::Collective::alltoall ||
           collective == coll::Collective::reduce_scatter;
}

bool has_blocks_out(coll::Collective collective) {
    return collective == coll::Collective::gather || collective == coll::Collective::allgather ||
           collective == coll::Collective::alltoall;
}

}  // namespace

RecentCalls::Entry& RecentCalls::entry_for(const RecentCall& call) {
    const auto low = [](auto number) { return static_cast<std::uint32_t>(number); };
    const std::uint32_t count = low(call.count);
    const std::uint32_t mixed = (low(call.comm) << 8 ^ low(call.type) << 4 ^ low(call.op) << 12 ^
                                 count ^ count << 16 ^ low(call.root) << 20 ^
                                 static_cast<std::uint32_t>(call.collective) << 24) *
                                0x9e3779b9u;
    return entries_[mixed >> 27];
}

std::optional<Status> RecentCalls::repeat(FlightRecorder& flight, const RecentCall& call) {
    Entry& entry = entry_for(call);
    if (entry.comm == nullptr || !is_same(entry.call, call)) return std::nullopt;
    const bool has_input = entry.input_bytes != 0;
    const bool has_output = entry.output_bytes != 0;
    if ((has_input && is_nowhere(call.input)) || (has_output && is_nowhere(call.output)) ||
        do_overlap(call.input, entry.input_bytes, call.output, entry.output_bytes)) {
        return std::nullopt;
    }
    HostCall& planned = entry.plan.call;
    if (has_input) planned.input = static_cast<const std::byte*>(call.input);
    if (has_output) planned.output = static_cast<std::byte*>(call.output);
    planned.number.value = entry.comm->take_operation_numbers(1, Persistence::once);
    entry.record.place.tag = planned.number.short_form();
    const std::uint64_t sequence = flight.enter_alone(entry.record);
    const Status status = entry.comm->host_collective()->run_planned(entry.plan);
    if (status.ok()) [[likely]] {
        flight.finish_alone(sequence);
    } else {
        // May have been marked as failed.
        flight.finish(sequence);
    }
    return status;
}

void RecentCalls::note(
    const RecentCall& call, Communicator& comm, const FlightRecorder::Operation& record
) {
    HostCollective* const host = comm.host_collective();
    const HostCollective::Plan* const plan = host != nullptr ? host->repeatable() : nullptr;
    if (plan == nullptr) return;
    Entry& entry = entry_for(call);
    entry.call = call;
    entry.comm = &comm;
    entry.plan = *plan;
    if (plan->call.reducer != nullptr) {
        entry.reducer = *plan->call.reducer;
        entry.plan.call.reducer = &entry.reducer;
    }
    const auto size = static_cast<std::uint64_t>(comm.size());
    const std::uint64_t block_bytes = plan->call.size_bytes;
    const std::uint64_t all_bytes = block_bytes * size;
    entry.input_bytes = entry.output_bytes = 0;
    if (plan->call.input != nullptr) {
        entry.input_bytes = has_blocks_in(call.collective) ? all_bytes : block_bytes;
    }
    if (plan->call.output != nullptr) {
        const bool has_all = has_blocks_out(call.collective) ||
                             (call.is_in_place && has_blocks_in(call.collective));
        entry.output_bytes = has_all ? all_bytes : block_bytes;
    }
    entry.record = record;
}

}  // namespace dlrt
