// SPDX-License-Identifier: Apache-2.0
/// The recorder seen through the reader, also while both run.
#include "runtime/flight_recorder.hpp"

#include <atomic>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

FlightRecorder::Operation operation(std::uint64_t value) {
    const auto narrow = static_cast<std::int32_t>(value & 0xffff);
    return {Call::recv, narrow, narrow + 1, value * 2, value * 3, value * 5};
}

bool is_consistent(const FlightEntry& entry) {
    const std::uint64_t value = entry.sequence;
    const auto narrow = static_cast<std::int32_t>(value & 0xffff);
    return entry.peer == narrow && entry.tag == narrow + 1 && entry.context == value * 2 &&
           entry.size_bytes == value * 3 && entry.arguments_hash == value * 5;
}

}  // namespace

TEST_CASE("flight recorder: an operation goes from running to waiting to done", "[runtime]") {
    const auto ring = std::make_unique<FlightRing>();
    FlightRecorder recorder(*ring);
    CHECK(recorder.current() == FlightRecorder::no_operation);
    const std::uint64_t sequence = recorder.enter({Call::send, 3, 7, 16, 8, 99});
    CHECK(sequence == 0);
    CHECK(recorder.current() == sequence);
    auto entry = read_flight_ring(*ring, 1).at(0);
    CHECK(entry.call == Call::send);
    CHECK(entry.state == FlightState::entered);
    CHECK(entry.peer == 3);
    CHECK(entry.tag == 7);
    CHECK(entry.context == 16);
    CHECK(entry.size_bytes == 8);
    CHECK(entry.arguments_hash == 99);
    CHECK(entry.waiting_since_ns == 0);
    recorder.mark_waiting(recorder.current());
    entry = read_flight_ring(*ring, 1).at(0);
    CHECK(entry.state == FlightState::waiting);
    CHECK(entry.waiting_since_ns > 0);
    recorder.finish(sequence);
    CHECK(read_flight_ring(*ring, 1).at(0).state == FlightState::finished);
    CHECK(recorder.current() == FlightRecorder::no_operation);
    CHECK(recorder.enter({}) == 1);
    recorder.finish(1);
}

TEST_CASE("flight recorder: a number that is gone or never was changes nothing", "[runtime]") {
    const auto ring = std::make_unique<FlightRing>();
    FlightRecorder recorder(*ring);
    recorder.mark_waiting(FlightRecorder::no_operation);
    recorder.finish(FlightRecorder::no_operation);
    recorder.finish(17);
    CHECK(read_flight_ring(*ring, 10).empty());
    for (int i = 0; i < 257; ++i) recorder.enter({});
    recorder.mark_waiting(0);
    CHECK(ring->records[0].state == FlightState::entered);
    recorder.finish(256);
}

TEST_CASE("flight recorder: a second recorder of the same ring counts on", "[runtime]") {
    const auto ring = std::make_unique<FlightRing>();
    FlightRecorder first(*ring);
    first.finish(first.enter({}));
    FlightRecorder second(*ring);
    CHECK(second.enter({}) == 1);
    second.finish(1);
}

TEST_CASE("flight recorder: a reader beside it never sees a mixed record", "[runtime]") {
    const auto ring = std::make_unique<FlightRing>();
    std::atomic<bool> is_over{false};
    std::atomic<bool> is_seen{false};
    std::thread writer([&] {
        FlightRecorder recorder(*ring);
        // Goes on until the reader had its turn: on a busy machine that takes a while.
        for (std::uint64_t i = 0; i < 200'000 || !is_seen.load(std::memory_order_relaxed); ++i) {
            const std::uint64_t sequence = recorder.enter(operation(i));
            if (i % 64 == 0) recorder.mark_waiting(sequence);
            recorder.finish(sequence);
        }
        is_over.store(true, std::memory_order_release);
    });
    std::uint64_t seen_count = 0;
    bool are_all_consistent = true;
    do {
        for (const FlightEntry& entry : read_flight_ring(*ring, 256)) {
            ++seen_count;
            are_all_consistent = are_all_consistent && is_consistent(entry);
            is_seen.store(true, std::memory_order_relaxed);
        }
    } while (!is_over.load(std::memory_order_acquire));
    writer.join();
    CHECK(are_all_consistent);
    CHECK(seen_count > 0);
    CHECK(read_flight_ring(*ring, 256).size() == 256);
}

TEST_CASE("flight recorder: threads get numbers and currents of their own", "[runtime]") {
    const auto ring = std::make_unique<FlightRing>();
    FlightRecorder recorder(*ring);
    recorder.allow_threads();
    std::set<std::uint64_t> numbers[2];
    auto record = [&](std::set<std::uint64_t>& mine) {
        for (int i = 0; i < 1000; ++i) {
            const std::uint64_t sequence = recorder.enter({});
            if (recorder.current() == sequence) mine.insert(sequence);
            recorder.finish(sequence);
        }
    };
    std::thread other([&] { record(numbers[1]); });
    record(numbers[0]);
    other.join();
    numbers[0].merge(numbers[1]);
    CHECK(numbers[0].size() == 2000);
}

TEST_CASE("flight recorder: threads overtake each other, and one marks failures", "[runtime]") {
    const auto ring = std::make_unique<FlightRing>();
    FlightRecorder recorder(*ring);
    recorder.allow_threads();
    std::atomic<bool> is_over{false};
    std::thread judge([&] {
        while (!is_over.load(std::memory_order_acquire)) {
            recorder.fail(2, {});
            std::this_thread::yield();
        }
    });
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 3; ++caller) {
        callers.emplace_back([&] {
            for (int i = 0; i < 3000; ++i) recorder.finish(recorder.enter({Call::barrier}));
        });
    }
    for (std::thread& caller : callers) caller.join();
    is_over.store(true, std::memory_order_release);
    judge.join();
    CHECK_FALSE(recorder.has_other_threads_inside());
    for (const FlightEntry& entry : read_flight_ring(*ring, 256))
        CHECK(entry.state == FlightState::finished);
}

}  // namespace dlrt
