// SPDX-License-Identifier: Apache-2.0
/// The writer of the flight ring. A record is written between two stores of its stamp; every store
/// in between is a release, so that none is seen before the stamp was cleared (plain stores on
/// x86). Partner: the acquire loads of read_flight_ring().
#include "runtime/flight_recorder.hpp"

#include "runtime/base/clock.hpp"

namespace dlrt {
namespace {

[[gnu::tls_model("initial-exec"
)]] thread_local std::uint64_t current_of_thread = FlightRecorder::no_operation;

template<typename T>
void store(T& field, T value) {
    std::atomic_ref<T>(field).store(value, std::memory_order_release);
}

constexpr std::uint32_t stamp_of(std::uint64_t sequence) {
    return static_cast<std::uint32_t>(sequence + 1);
}

/// Null when the record has been overwritten since, or was never entered.
FlightRecord* find(FlightRing& ring, std::uint64_t sequence) {
    FlightRecord& record = ring.records[sequence % flight_record_count];
    if (sequence == FlightRecorder::no_operation) return nullptr;
    const bool is_there = record.stamp.load(std::memory_order_relaxed) == stamp_of(sequence);
    return is_there ? &record : nullptr;
}

}  // namespace

std::uint64_t FlightRecorder::current() {
    return current_of_thread;
}

std::uint64_t FlightRecorder::enter(const Operation& operation) {
    std::uint64_t sequence;
    if (is_shared_) {
        inside_count_.fetch_add(1, std::memory_order_relaxed);
        sequence = ring_->next_sequence.fetch_add(1, std::memory_order_release);
    } else {
        sequence = ring_->next_sequence.load(std::memory_order_relaxed);
        ring_->next_sequence.store(sequence + 1, std::memory_order_release);
    }
    FlightRecord& record = ring_->records[sequence % flight_record_count];
    record.stamp.store(0, std::memory_order_relaxed);
    store(record.call, operation.call);
    store(record.state, FlightState::entered);
    store(record.context, operation.context);
    store(record.sequence, sequence);
    store(record.arguments_hash, operation.arguments_hash);
    store(record.size_bytes, operation.size_bytes);
    store(record.peer, operation.peer);
    store(record.tag, operation.tag);
    store(record.waiting_since_ns, std::uint64_t{0});
    record.stamp.store(stamp_of(sequence), std::memory_order_release);
    current_of_thread = sequence;
    return sequence;
}

void FlightRecorder::mark_waiting(std::uint64_t sequence) {
    FlightRecord* record = find(*ring_, sequence);
    if (record == nullptr) return;
    store(record->waiting_since_ns, monotonic_ns());
    store(record->state, FlightState::waiting);
}

bool FlightRecorder::has_other_threads_inside() const {
    const std::uint32_t own = current_of_thread != no_operation ? 1 : 0;
    return inside_count_.load(std::memory_order_relaxed) > own;
}

void FlightRecorder::finish(std::uint64_t sequence) {
    if (is_shared_ && sequence != no_operation) {
        inside_count_.fetch_sub(1, std::memory_order_relaxed);
    }
    current_of_thread = no_operation;
    FlightRecord* record = find(*ring_, sequence);
    if (record != nullptr) store(record->state, FlightState::finished);
}

}  // namespace dlrt
