// SPDX-License-Identifier: Apache-2.0
/// What of the flight recorder isn't on the way of a small message of a single thread.
#include "runtime/flight_recorder.hpp"

#include "runtime/base/clock.hpp"

namespace dlrt {
namespace {

[[gnu::tls_model("initial-exec"
)]] thread_local std::uint64_t current_of_thread = FlightRecorder::no_operation;

}  // namespace

std::uint64_t FlightRecorder::current() const {
    if (is_shared_) return current_of_thread;
    const std::uint64_t newest = ring_->next_sequence.load(std::memory_order_relaxed) - 1;
    FlightRecord* const record = find(newest);
    return record != nullptr && load(record->state) != FlightState::finished ? newest
                                                                             : no_operation;
}

std::uint64_t FlightRecorder::enter_among_threads(const Operation& operation) {
    inside_count_.fetch_add(1, std::memory_order_relaxed);
    const std::uint64_t sequence = ring_->next_sequence.fetch_add(1, std::memory_order_release);
    write(*ring_, operation, FlightState::entered, sequence);
    current_of_thread = sequence;
    return sequence;
}

void FlightRecorder::finish_among_threads(std::uint64_t sequence) {
    if (sequence != no_operation) inside_count_.fetch_sub(1, std::memory_order_relaxed);
    current_of_thread = no_operation;
    close(sequence);
}

void FlightRecorder::mark_waiting(std::uint64_t sequence) {
    FlightRecord* record = find(sequence);
    if (record == nullptr) return;
    store(record->waiting_since_ns, monotonic_ns());
    store(record->state, FlightState::waiting);
}

void FlightRecorder::fail(std::uint64_t context, FlightPlace place) {
    for (FlightRecord& record : ring_->records) {
        const bool is_it = load(record.context) == context &&
                           load(record.place) == place.packed() &&
                           is_of_collective(load(record.call));
        if (is_it) store(record.state, FlightState::failed);
    }
}

bool FlightRecorder::has_other_threads_inside() const {
    const std::uint32_t own = current() != no_operation ? 1 : 0;
    return inside_count_.load(std::memory_order_relaxed) > own;
}

}  // namespace dlrt
