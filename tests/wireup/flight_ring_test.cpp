// SPDX-License-Identifier: Apache-2.0
/// What a reader of the flight ring sees, and the lines for people.
#include "runtime/wireup/flight_ring.hpp"

#include <memory>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

void write_record(FlightRing& ring, std::uint64_t sequence, Call call) {
    FlightRecord& record = ring.records[sequence % flight_record_count];
    record.call = call;
    record.state = FlightState::finished;
    record.stamp.store(static_cast<std::uint32_t>(sequence + 1));
    ring.next_sequence.store(sequence + 1);
}

FlightEntry entry(Call call, FlightState state, std::int32_t peer, std::int32_t tag) {
    FlightEntry result{};
    result.call = call;
    result.state = state;
    result.sequence = 41;
    result.peer = peer;
    result.tag = tag;
    result.size_bytes = 8;
    result.waiting_since_ns = 1'000'000'000;
    return result;
}

}  // namespace

TEST_CASE("flight ring: an empty one has no entries", "[wireup]") {
    const auto ring = std::make_unique<FlightRing>();
    CHECK(read_flight_ring(*ring, 10).empty());
}

TEST_CASE("flight ring: the newest come oldest first, at most as many as asked", "[wireup]") {
    const auto ring = std::make_unique<FlightRing>();
    for (std::uint64_t i = 0; i < 300; ++i) write_record(*ring, i, Call::send);
    const auto all = read_flight_ring(*ring, 1000);
    REQUIRE(all.size() == 256);
    CHECK(all.front().sequence == 44);
    CHECK(all.back().sequence == 299);
    const auto three = read_flight_ring(*ring, 3);
    REQUIRE(three.size() == 3);
    CHECK(three.front().sequence == 297);
    CHECK(read_flight_ring(*ring, 0).empty());
}

TEST_CASE("flight ring: a torn record and one of another round are left out", "[wireup]") {
    const auto ring = std::make_unique<FlightRing>();
    for (std::uint64_t i = 0; i < 5; ++i) write_record(*ring, i, Call::recv);
    ring->records[1].stamp.store(0);
    ring->records[3].stamp.store(3 + 1 + 256);
    const auto entries = read_flight_ring(*ring, 10);
    REQUIRE(entries.size() == 3);
    CHECK(entries[0].sequence == 0);
    CHECK(entries[1].sequence == 2);
    CHECK(entries[2].sequence == 4);
}

TEST_CASE("flight ring: lines for people", "[wireup]") {
    CHECK(
        describe(entry(Call::recv, FlightState::waiting, 3, 7), 3'100'000'000) ==
        "recv #41 from rank 3, tag 7, 8 bytes: waiting for 2.1 s"
    );
    CHECK(
        describe(entry(Call::recv, FlightState::waiting, -2, -1), 1'004'000'000) ==
        "recv #41 from any rank, any tag, 8 bytes: waiting for 4 ms"
    );
    CHECK(
        describe(entry(Call::send, FlightState::entered, 0, 0), 0) ==
        "send #41 to rank 0, tag 0, 8 bytes: running"
    );
    CHECK(
        describe(entry(Call::sendrecv, FlightState::finished, 1, 2), 0) ==
        "sendrecv #41 with rank 1, tag 2, 8 bytes: done"
    );
    CHECK(
        describe(
            entry(Call::barrier, FlightState::waiting, -1, 0), 1'000'000'000 + 61'500'000'000
        ) == "barrier #41: waiting for 1 min 1 s"
    );
    CHECK(
        describe(entry(Call::bcast, FlightState::waiting, 2, 0), 1'000'001'500) ==
        "bcast #41 with root rank 2, 8 bytes: waiting for 2 us"
    );
    FlightEntry other = entry(Call::wait, FlightState::waiting, -1, 0);
    other.context = (std::uint64_t{3} << 32) + 8;
    CHECK(
        describe(other, 1'000'000'000 + 7'260'000'000'000) ==
        "wait #41, communicator 3.8: waiting for 2 h 1 min"
    );
}

TEST_CASE("flight ring: a clock behind the record and unknown calls don't confuse", "[wireup]") {
    CHECK(
        describe(entry(Call::probe, FlightState::waiting, 1, 1), 0) ==
        "probe #41 from rank 1, tag 1: waiting for 0 us"
    );
    CHECK(call_name(static_cast<Call>(200)) == "none");
    CHECK(call_name(Call::abort) == "abort");
    CHECK(call_name(Call::comm_free) == "comm_free");
    CHECK(call_name(Call::imrecv) == "imrecv");
}

}  // namespace dlrt
