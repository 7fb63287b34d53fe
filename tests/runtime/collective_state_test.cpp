// SPDX-License-Identifier: Apache-2.0
#include "runtime/collective_state.hpp"

#include "tests/runtime/collective_calls.hpp"
#include "tests/runtime/collective_ranks.hpp"

#include <cstdlib>
#include <new>

#include <catch2/catch.hpp>

namespace {

thread_local std::uint64_t allocation_count = 0;

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
    ++allocation_count;
    if (void* memory = std::malloc(size)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    ++allocation_count;
    return std::malloc(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace dlrt {
namespace {

using namespace dlrt::testing;

const coll::Algorithm& bcast_algorithm() {
    return *coll::find_algorithm(coll::Collective::bcast, "binomial");
}

coll::Shape shape(std::int32_t root) {
    return {100, 3, root, coll::Placement::separate};
}

}  // namespace

TEST_CASE("collective state: a schedule is built once", "[runtime]") {
    CollectiveState state;
    const auto first = state.schedule(bcast_algorithm(), shape(7));
    CHECK(state.schedule(bcast_algorithm(), shape(8))->shape.root == 8);
    CHECK(state.schedule(bcast_algorithm(), shape(7)) == first);
}

TEST_CASE("collective state: more shapes than it keeps are still right", "[runtime]") {
    CollectiveState state;
    for (std::int32_t round = 0; round < 3; ++round) {
        for (std::int32_t root = 0; root < 100; ++root) {
            const auto schedule = state.schedule(bcast_algorithm(), shape(root));
            CHECK(schedule->shape.root == root);
            CHECK(schedule->steps.size() == bcast_algorithm().build(shape(root)).steps.size());
        }
    }
}

TEST_CASE("collective state: an arena grows, is aligned, and stays", "[runtime]") {
    Arena arena;
    CHECK(arena.at_least(0) == nullptr);
    std::byte* memory = arena.at_least(100);
    REQUIRE(memory != nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(memory) % no_sharing_bytes == 0);
    CHECK(arena.at_least(4096) == memory);
    std::byte* grown = arena.at_least(5000);
    REQUIRE(grown != nullptr);
    CHECK(arena.at_least(1) == grown);
    CHECK(arena.at_least(8192) == grown);
}

// Sanitizers end the program at a request that can't be granted.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("collective state: memory that isn't there is null, and the arena goes on", "[runtime]") {
    Arena arena;
    CHECK(arena.at_least(std::uint64_t{1} << 60) == nullptr);
    CHECK(arena.at_least(64) != nullptr);
}
#endif

TEST_CASE("collective state: a repeated operation allocates nothing", "[runtime]") {
    CollectiveRanks ranks(1);
    ranks.run([](Communicator& comm) {
        const LayoutRef gapped = *Layout::resized(0, 16, Layout::of(ElementType::float64));
        std::vector<double> input(20, 1.0), output(20);
        const Reduction arguments{

            {input.data(), 10, &gapped},
            {output.data(), 10, &gapped},
            {ReduceOp::sum, ElementType::float64},
            false};
        std::uint64_t counts[2] = {};
        for (std::uint64_t& count : counts) {
            const std::uint64_t before = allocation_count;
            for (int i = 0; i < 10; ++i) {
                DLRT_DEMAND(allreduce(comm, arguments).ok());
                DLRT_DEMAND(bcast(comm, arguments.output, 0).ok());
                DLRT_DEMAND(barrier(comm).ok());
            }
            count = allocation_count - before;
        }
        DLRT_DEMAND(counts[0] > 0);
        DLRT_DEMAND(counts[1] == 0);
    });
    SUCCEED();
}

}  // namespace dlrt
