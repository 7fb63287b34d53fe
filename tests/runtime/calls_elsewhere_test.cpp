// SPDX-License-Identifier: Apache-2.0
#include "runtime/calls_elsewhere.hpp"

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

constexpr ContextId context{7};
constexpr WorldRank rank = 3;
constexpr std::uint64_t second_ns = 1'000'000'000;

CallReport answer_of(std::int32_t number, Call call) {
    CallReport report;
    report.number = number;
    report.call = call;
    report.is_answer = true;
    report.has_come = call != Call::none;
    report.size_bytes = 8;
    report.root = 2;
    return report;
}

}  // namespace

TEST_CASE("calls elsewhere: who hasn't answered isn't asked again", "[runtime]") {
    CallsElsewhere calls;
    CHECK_FALSE(calls.has_silent());
    CHECK(calls.begin_to_ask({rank, context, 5}, AskAgain::later, second_ns));
    CHECK(calls.has_silent());
    CHECK_FALSE(calls.begin_to_ask({rank, context, 5}, AskAgain::at_once, 9 * second_ns));
    CHECK(calls.begin_to_ask({rank, ContextId{8}, 5}, AskAgain::later, second_ns));
    CHECK(calls.begin_to_ask({rank, context, 6}, AskAgain::later, second_ns));
    calls.forget(ContextId{8});
    calls.forget(context);
    CHECK_FALSE(calls.has_silent());
}

TEST_CASE("calls elsewhere: an answer is asked for again after a while", "[runtime]") {
    CallsElsewhere calls;
    CHECK(calls.begin_to_ask({rank, context, 5}, AskAgain::later, second_ns));
    calls.learn(rank, context, answer_of(5, Call::none));
    CHECK_FALSE(calls.has_silent());
    CHECK(calls.has_come(rank, context, 5) == false);
    CHECK_FALSE(calls.find(rank, context, 5));
    const std::uint64_t soon_ns = second_ns + second_ns / 10;
    CHECK_FALSE(calls.begin_to_ask({rank, context, 5}, AskAgain::later, soon_ns));
    CHECK(calls.begin_to_ask({rank, context, 5}, AskAgain::at_once, soon_ns));
    calls.learn(rank, context, answer_of(5, Call::none));
    CHECK(calls.begin_to_ask({rank, context, 5}, AskAgain::later, 2 * second_ns));
    calls.learn(rank, context, answer_of(5, Call::bcast));
    const auto call = calls.find(rank, context, 5);
    REQUIRE(call);
    CHECK(call->call == Call::bcast);
    CHECK((call->peer == 2 && call->tag == 5 && call->size_bytes == 8 && call->context == 7));
    CHECK(calls.has_come(rank, context, 5) == true);
    // Of others nothing is known.
    CHECK_FALSE(calls.has_come(rank, context, 6));
    CHECK_FALSE(calls.find(rank + 1, context, 5));
    CHECK_FALSE(calls.find(rank, ContextId{8}, 5));
}

TEST_CASE(
    "calls elsewhere: a failure that nobody asked for is kept, beside an answer", "[runtime]"
) {
    CallsElsewhere calls;
    CallReport failure = answer_of(4, Call::reduce);
    failure.is_answer = false;
    failure.state = FlightState::failed;
    calls.learn(rank, context, failure);
    CHECK_FALSE(calls.has_come(rank, context, 4));
    REQUIRE(calls.begin_to_ask({rank, context, 5}, AskAgain::later, second_ns));
    CallReport answer = answer_of(5, Call::none);
    answer.has_freed = true;
    calls.learn(rank, context, answer);
    CHECK(calls.has_freed(rank, context, 5));
    CHECK_FALSE(calls.has_freed(rank, context, 4));
    const auto failed = calls.find(rank, context, std::nullopt);
    REQUIRE(failed);
    CHECK((failed->call == Call::reduce && failed->tag == 4));
    CHECK(calls.find(rank, context, 4));
    CHECK_FALSE(calls.find(rank, context, 5));
}

}  // namespace dlrt
