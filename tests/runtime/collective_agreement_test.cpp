// SPDX-License-Identifier: Apache-2.0
#include "runtime/collective_agreement.hpp"

#include "tests/runtime/collective_calls.hpp"

#include <array>
#include <vector>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

using namespace dlrt::testing;

const LayoutRef& ints() {
    return Layout::of(ElementType::int32);
}

std::uint32_t check_of(const CollectiveCall& call) {
    return agreement_of(call, CollectiveForm::blocking).check(3);
}

CollectiveCall vector_call(
    coll::Collective collective, std::uint64_t count, const LayoutRef& layout, std::int32_t root
) {
    CollectiveCall call;
    call.collective = collective;
    call.root = root;
    call.input = {nullptr, count, &layout};
    call.output = {nullptr, count, &layout};
    return call;
}

}  // namespace

TEST_CASE("agreement: what is significant makes another check", "[runtime]") {
    const Reducer sum(ReduceOp::sum, ElementType::int32);
    const Reducer maximum(ReduceOp::maximum, ElementType::int32);
    CollectiveCall call = vector_call(coll::Collective::reduce, 7, ints(), 1);
    call.reducer = &sum;
    std::vector<std::uint32_t> checks{check_of(call)};
    CollectiveCall other = call;
    other.root = 2;
    checks.push_back(check_of(other));
    other = call;
    other.reducer = &maximum;
    checks.push_back(check_of(other));
    other = call;
    other.input.count = 8;
    checks.push_back(check_of(other));
    other = call;
    other.input.layout = &Layout::of(ElementType::float32);
    checks.push_back(check_of(other));
    other = call;
    other.collective = coll::Collective::gather;
    checks.push_back(check_of(other));
    checks.push_back(agreement_of(call, CollectiveForm::nonblocking).check(3));
    checks.push_back(agreement_of(call, CollectiveForm::blocking).check(4));
    for (std::size_t i = 0; i < checks.size(); ++i) {
        CHECK(checks[i] != 0);
        CHECK(checks[i] < 1u << check_bits);
        for (std::size_t j = 0; j < i; ++j) CHECK(checks[i] != checks[j]);
    }
}

TEST_CASE("agreement: what MPI leaves to each rank makes the same check", "[runtime]") {
    const Reducer sum(ReduceOp::sum, ElementType::int32);
    const LayoutRef ten = *Layout::contiguous(10, ints());
    const LayoutRef spread = *Layout::resized(0, 80, ten);
    CollectiveCall call = vector_call(coll::Collective::allreduce, 30, ints(), 0);
    call.reducer = &sum;
    const std::uint32_t check = check_of(call);
    for (const LayoutRef* const layout : {&ten, &spread}) {
        CollectiveCall other = vector_call(coll::Collective::allreduce, 3, *layout, 0);
        other.reducer = &sum;
        CHECK(check_of(other) == check);
    }
    CollectiveCall in_place = call;
    in_place.is_in_place = true;
    in_place.input = {};
    CHECK(check_of(in_place) == check);
    CollectiveCall share = vector_call(coll::Collective::scatter, 30, ints(), 0);
    const std::uint32_t dealt = check_of(share);
    share.is_in_place = true;
    share.output = {};
    CHECK(check_of(share) == dealt);
    // A root means nothing here.
    CollectiveCall rooted = call;
    rooted.root = 5;
    CHECK(check_of(rooted) == check);
    // Lists: each rank has its own.
    const std::vector<std::int64_t> some{1, 2}, others{0, 9};
    const std::array layouts{&ints()};
    const BlockList first{some, {}, BlockList::Unit::extents, layouts};
    const BlockList second{others, {}, BlockList::Unit::extents, layouts};
    CollectiveCall exchange;
    exchange.collective = coll::Collective::alltoall;
    exchange.input_list = &first;
    exchange.output_list = &second;
    const std::uint32_t uneven = check_of(exchange);
    exchange.input_list = &second;
    CHECK(check_of(exchange) == uneven);
}

TEST_CASE("agreement: a record tells the call in words", "[runtime]") {
    const Reducer sum(ReduceOp::sum, ElementType::float64);
    CollectiveCall call = vector_call(
        coll::Collective::reduce, 3, Layout::of(ElementType::float64), 2
    );
    call.reducer = &sum;
    FlightEntry entry{};
    entry.call = Call::reduce;
    entry.peer = 2;
    entry.size_bytes = 24;
    entry.arguments_hash = agreement_of(call, CollectiveForm::nonblocking).packed();
    CHECK(describe_call(entry) == "nonblocking reduce with root 2 of 24 bytes (sum of double)");
    FlightEntry barrier{};
    barrier.call = Call::barrier;
    barrier.peer = -1;
    CHECK(describe_call(barrier) == "barrier");
    CHECK_FALSE(is_same_call(entry, barrier));
    FlightEntry other = entry;
    other.peer = 1;
    CHECK_FALSE(is_same_call(entry, other));
    other = entry;
    other.size_bytes = 16;
    CHECK(is_same_call(entry, other));
}

}  // namespace dlrt
