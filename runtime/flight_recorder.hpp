// SPDX-License-Identifier: Apache-2.0
/// Writes this rank's flight ring: a few plain stores per operation; time is read only when it
/// begins to wait.
///
/// The surface enters each call; the engine stamps the newest entered record when it stops
/// spinning. Thread: one at a time; any after allow_threads().
///
/// A record is written between two stores of its stamp; every store in between is a release, so
/// that none is seen before the stamp was cleared (plain stores on x86). Partner: the acquire loads
/// of read_flight_ring().
#pragma once

#include "runtime/base/export.hpp"
#include "runtime/wireup/flight_ring.hpp"

#include <atomic>
#include <cstdint>

namespace dlrt {

class DLRT_CORE FlightRecorder {
  public:
    explicit FlightRecorder(FlightRing& ring) : ring_(&ring) {}

    struct Operation {
        Call call = Call::none;
        FlightPlace place = {};
        std::uint64_t context = 0;
        std::uint64_t size_bytes = 0;
        std::uint64_t arguments_hash = 0;
    };
    /// What current() yields when this thread is in no call; the functions below ignore it.
    static constexpr std::uint64_t no_operation = ~std::uint64_t{0};

    /// Before a second thread enters. REQUIRES: nobody is inside.
    void allow_threads() { is_shared_ = true; }
    /// Returns the record's sequence number, for finish().
    std::uint64_t enter(const Operation& operation) {
        return is_shared_ ? enter_among_threads(operation) : enter_alone(operation);
    }
    /// The same for short ways, where it is known that nobody has called allow_threads(). An
    /// operation that never waits may be finished from the beginning.
    std::uint64_t enter_alone(
        const Operation& operation, FlightState state = FlightState::entered
    ) {
        FlightRing& ring = *ring_;
        const std::uint64_t sequence = ring.next_sequence.load(std::memory_order_relaxed);
        ring.next_sequence.store(sequence + 1, std::memory_order_release);
        write(ring, operation, state, sequence);
        return sequence;
    }
    /// REQUIRES: enter_alone() gave the number, and at most 255 others since.
    void finish_alone(std::uint64_t sequence) {
        store(ring_->records[sequence % flight_record_count].state, FlightState::finished);
    }
    /// The operation of that number now waits (called by the engine once per wait, after spinning).
    void mark_waiting(std::uint64_t sequence);
    void finish(std::uint64_t sequence) {
        if (is_shared_) [[unlikely]] {
            finish_among_threads(sequence);
            return;
        }
        close(sequence);
    }
    /// Marks this rank's newest record of that operation as failed for good.
    void fail(std::uint64_t context, FlightPlace place);
    /// An operation that was entered as finished, because it hardly ever waits, has to wait: it is
    /// running again. Returns its number for finish(); no_operation where the newest isn't
    /// finished.
    std::uint64_t reopen() {
        if (is_shared_) return no_operation;
        const std::uint64_t newest = ring_->next_sequence.load(std::memory_order_relaxed) - 1;
        FlightRecord* const record = find(newest);
        if (record == nullptr || load(record->state) != FlightState::finished) return no_operation;
        store(record->state, FlightState::entered);
        return newest;
    }
    /// The newest entered and unfinished one of this thread; what the engine stamps.
    [[nodiscard]] std::uint64_t current() const;
    /// After allow_threads(): whether threads besides the calling one have entered and not
    /// finished.
    [[nodiscard]] bool has_other_threads_inside() const;

  private:
    std::uint64_t enter_among_threads(const Operation& operation);
    void finish_among_threads(std::uint64_t sequence);

    template<typename T>
    static void store(T& field, T value) {
        std::atomic_ref<T>(field).store(value, std::memory_order_release);
    }
    /// Another thread may have begun to use the record for the next operation.
    template<typename T>
    [[nodiscard]] static T load(T& field) {
        return std::atomic_ref<T>(field).load(std::memory_order_relaxed);
    }
    [[nodiscard]] static constexpr std::uint32_t stamp_of(std::uint64_t sequence) {
        return static_cast<std::uint32_t>(sequence + 1);
    }
    /// Null when the record has been overwritten since, or was never entered.
    [[nodiscard]] FlightRecord* find(std::uint64_t sequence) const {
        if (sequence == no_operation) return nullptr;
        FlightRecord& record = ring_->records[sequence % flight_record_count];
        const bool is_there = record.stamp.load(std::memory_order_relaxed) == stamp_of(sequence);
        return is_there ? &record : nullptr;
    }
    static void write(
        FlightRing& ring, const Operation& operation, FlightState state, std::uint64_t sequence
    ) {
        FlightRecord& record = ring.records[sequence % flight_record_count];
        record.stamp.store(0, std::memory_order_relaxed);
        store(record.call, operation.call);
        store(record.state, state);
        store(record.context, operation.context);
        store(record.arguments_hash, operation.arguments_hash);
        store(record.size_bytes, operation.size_bytes);
        store(record.place, operation.place.packed());
        record.stamp.store(stamp_of(sequence), std::memory_order_release);
    }
    void close(std::uint64_t sequence) {
        FlightRecord* const record = find(sequence);
        if (record == nullptr || load(record->state) == FlightState::failed) return;
        store(record->state, FlightState::finished);
    }

    FlightRing* ring_;
    bool is_shared_ = false;
    std::atomic<std::uint32_t> inside_count_{0};
};

}  // namespace dlrt
