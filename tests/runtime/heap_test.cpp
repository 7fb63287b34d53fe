// SPDX-License-Identifier: Apache-2.0
/// The shared heap: which parts are in use, what errors say, what goes back to the system, and what
/// an endpoint reads out of a peer's.
#include "runtime/heap.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/base/fd.hpp"
#include "runtime/wireup/host_segment.hpp"
#include "transports/shm/shm.hpp"

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <sys/stat.h>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

constexpr std::uint64_t mib = 1u << 20;

HostSegment make_segment(std::uint32_t size) {
    std::vector<std::uint32_t> ranks(size);
    for (std::uint32_t i = 0; i < size; ++i) ranks[i] = i;
    auto made = HostSegment::create({.job_id = "heap", .world_ranks = ranks});
    if (!made) throw std::runtime_error(last_error_text());
    return std::move(*made);
}

std::unique_ptr<Heap> make_heap(
    const HostSegment& segment, std::uint32_t rank, std::uint64_t limit_bytes = 64 * mib
) {
    return std::make_unique<Heap>(heap_regions(segment), rank, limit_bytes);
}

std::uint64_t touched_bytes(const HostSegment& segment) {
    struct stat state {};
    ::fstat(segment.descriptor(), &state);
    return static_cast<std::uint64_t>(state.st_blocks) * 512;
}

std::byte* take(Heap& heap, std::uint64_t size_bytes) {
    const Result<void*> memory = heap.allocate(size_bytes);
    if (!memory) throw std::runtime_error(last_error_text());
    return static_cast<std::byte*>(*memory);
}

std::string refusal(const Status& status, Errc code) {
    return status.code == code ? last_error_text() : "other code";
}

std::unique_ptr<Endpoint> open_endpoint(HostSegment& segment, Heap& heap, std::uint32_t rank) {
    shm::Options options;
    options.area = segment.transport_area();
    options.local_rank = rank;
    options.local_size = segment.header().local_size;
    options.doorbells = &segment.doorbell(0);
    options.copy_table = shm::builtin_copy_table();
    options.allow_cross_memory = false;
    options.own_heap = &heap.own();
    options.map_peer_heap = [&heap](std::uint32_t peer, std::uint64_t size_bytes) {
        return heap.map_peer(peer, size_bytes);
    };
    auto endpoint = shm::open_endpoint(std::move(options));
    if (!endpoint) throw std::runtime_error(last_error_text());
    return std::move(*endpoint);
}

}  // namespace

TEST_CASE("heap: blocks take the smallest gap that holds them, and gaps join", "[runtime]") {
    BlockMap map(1000);
    std::array<std::uint64_t, 5> at{};
    for (std::uint64_t& begin : at) REQUIRE(map.take(200, 1, begin));
    CHECK(at == std::array<std::uint64_t, 5>{0, 200, 400, 600, 800});
    std::uint64_t none = 7;
    CHECK_FALSE(map.take(1, 1, none));
    CHECK(none == 7);
    BlockMap::Block block, gap;
    REQUIRE(map.give_back(200, block, gap));
    CHECK(gap == BlockMap::Block{200, 200});
    REQUIRE(map.give_back(600, block, gap));
    REQUIRE(map.give_back(800, block, gap));
    CHECK(block == BlockMap::Block{800, 200});
    CHECK(gap == BlockMap::Block{600, 400});
    std::uint64_t small = 0;
    REQUIRE(map.take(100, 1, small));
    CHECK(small == 200);
    CHECK_FALSE(map.take(401, 1, none));
    CHECK(map.largest_gap_bytes() == 400);
    REQUIRE(map.give_back(400, block, gap));
    CHECK(gap == BlockMap::Block{300, 700});
    CHECK_FALSE(map.give_back(400, block, gap));
    CHECK_FALSE(map.give_back(250, block, gap));
    CHECK(map.used_bytes() == 300);
    CHECK(map.block_count() == 2);
    // Gaps before and after an aligned block.
    std::uint64_t aligned = 0;
    REQUIRE(map.take(256, 256, aligned));
    CHECK(aligned == 512);
    CHECK(map.largest_gap_bytes() == 232);
    CHECK_FALSE(map.take(200, 512, none));
    REQUIRE(map.give_back(512, block, gap));
    CHECK(gap == BlockMap::Block{300, 700});
}

TEST_CASE("heap: thousands of blocks never overlap and all of it comes back", "[runtime]") {
    constexpr std::uint64_t size = 100'000;
    BlockMap map(size);
    std::map<std::uint64_t, std::uint64_t> used;
    std::mt19937 random(5);
    std::uint64_t sum = 0;
    for (int round = 0; round < 20'000; ++round) {
        BlockMap::Block block, gap;
        if (random() % 5 < 3) {
            const std::uint64_t wanted = 1 + random() % 1000;
            std::uint64_t begin = 0;
            const std::uint64_t alignment = std::uint64_t{1} << random() % 8;
            if (!map.take(wanted, alignment, begin)) continue;
            REQUIRE(begin % alignment == 0);
            const auto next = used.lower_bound(begin);
            REQUIRE((next == used.end() || begin + wanted <= next->first));
            if (next != used.begin()) {
                const auto before = std::prev(next);
                REQUIRE(before->first + before->second <= begin);
            }
            REQUIRE(begin + wanted <= size);
            used.emplace(begin, wanted);
            sum += wanted;
        } else if (!used.empty()) {
            auto victim = used.begin();
            std::advance(victim, static_cast<long>(random() % used.size()));
            REQUIRE(map.give_back(victim->first, block, gap));
            REQUIRE(block == BlockMap::Block{victim->first, victim->second});
            sum -= victim->second;
            used.erase(victim);
        }
        REQUIRE(map.used_bytes() == sum);
    }
    for (const auto& [begin, bytes] : used) {
        BlockMap::Block block, gap;
        REQUIRE(map.give_back(begin, block, gap));
    }
    CHECK(map.largest_gap_bytes() == size);
}

TEST_CASE("heap: blocks are aligned, apart, and hold what is written", "[runtime]") {
    const HostSegment segment = make_segment(1);
    const auto heap = make_heap(segment, 0);
    CHECK(heap->use().block_count == 0);
    std::vector<std::pair<std::byte*, std::uint64_t>> blocks;
    unsigned char value = 0;
    for (const std::uint64_t size : {1u, 63u, 64u, 65u, 4095u, 4096u, 4097u, 1u << 20}) {
        std::byte* const memory = take(*heap, size);
        const auto address = reinterpret_cast<std::uintptr_t>(memory);
        CHECK(address % (size < 4096 ? 64 : 4096) == 0);
        std::memset(memory, ++value, size);
        blocks.emplace_back(memory, size);
    }
    value = 0;
    for (const auto& [memory, size] : blocks) {
        ++value;
        CHECK(memory[0] == std::byte{value});
        CHECK(memory[size - 1] == std::byte{value});
    }
    CHECK(heap->use().block_count == 8);
    for (const auto& [memory, size] : blocks) CHECK(heap->free(memory).ok());
    CHECK(heap->use().block_count == 0);
    CHECK(heap->use().size_bytes == 0);
}

TEST_CASE("heap: what is freed goes back to the system", "[runtime]") {
    const HostSegment segment = make_segment(2);
    const auto heap = make_heap(segment, 1);
    const std::uint64_t before = touched_bytes(segment);
    std::byte* const large = take(*heap, 16 * mib);
    CHECK(touched_bytes(segment) == before);
    std::memset(large, 1, 16 * mib);
    CHECK(touched_bytes(segment) >= before + 16 * mib);
    REQUIRE(heap->free(large).ok());
    CHECK(touched_bytes(segment) == before);
    // Small ones share pages, which go with the last of them.
    std::vector<std::byte*> small;
    for (int i = 0; i < 1000; ++i) {
        small.push_back(take(*heap, 100));
        std::memset(small.back(), 2, 100);
    }
    CHECK(touched_bytes(segment) > before);
    for (std::size_t i = 0; i < small.size(); i += 2) REQUIRE(heap->free(small[i]).ok());
    for (std::size_t i = 1; i < small.size(); i += 2) CHECK(small[i][99] == std::byte{2});
    for (std::size_t i = 1; i < small.size(); i += 2) REQUIRE(heap->free(small[i]).ok());
    CHECK(touched_bytes(segment) == before);
}

TEST_CASE("heap: errors name sizes, limit and address", "[runtime]") {
    const HostSegment segment = make_segment(1);
    const auto heap = make_heap(segment, 0, mib + 100);
    std::byte* const most = take(*heap, mib - 8192);
    const std::string full = refusal(heap->allocate(8193).error(), Errc::no_memory);
    CHECK(
        full ==
        "8193 bytes: of the 1048576 that this rank may have (DLRT_HEAP_BYTES), 1040384 "
        "are in use and at most 8192 are free in one piece"
    );
    CHECK(heap->allocate(UINT64_MAX).error().code == Errc::no_memory);
    CHECK(heap->allocate(UINT64_MAX - 4095).error().code == Errc::no_memory);
    int elsewhere = 0;
    const std::string foreign = refusal(heap->free(&elsewhere), Errc::argument);
    CHECK(foreign.find("is not memory of dlrt_alloc") != std::string::npos);
    CHECK(
        refusal(heap->free(most + 64), Errc::argument).find("lies within a block") !=
        std::string::npos
    );
    REQUIRE(heap->free(most).ok());
    CHECK(
        refusal(heap->free(most), Errc::argument).find("has been freed already") !=
        std::string::npos
    );
    const auto empty = make_heap(segment, 0, 0);
    CHECK(
        refusal(empty->allocate(1).error(), Errc::no_memory).find("of the 0 that") !=
        std::string::npos
    );
    CHECK(empty->free(&elsewhere).code == Errc::argument);
}

TEST_CASE("heap: a peer's is read by loads, as far as it goes", "[runtime]") {
    HostSegment segment = make_segment(2);
    const auto first = make_heap(segment, 0, 256 * mib), second = make_heap(segment, 1);
    const auto sender = open_endpoint(segment, *first, 0);
    const auto receiver = open_endpoint(segment, *second, 1);
    std::byte* const low = take(*first, 3 * mib);
    static_cast<void>(take(*first, 100 * mib));
    // Beyond what a first look maps.
    std::byte* const high = take(*first, mib);
    std::vector<std::byte> target(mib);
    unsigned char value = 10;
    for (std::byte* const memory : {low + 5, high, low}) {
        std::memset(memory, ++value, mib);
        const RemoteMemory described = sender->describe({memory, mib});
        REQUIRE(receiver->can_load(PeerIndex{0}, described, mib));
        REQUIRE(receiver->post_get(PeerIndex{0}, described, target, OperationId{1}) == Post::done);
        CHECK(target.front() == std::byte{value});
        CHECK(target.back() == std::byte{value});
    }
    // A part in the middle, as the engine reads a long message.
    high[mib / 2] = std::byte{99};
    RemoteMemory part = sender->describe({high, mib});
    part.address += mib / 2;
    MutableBytes one = MutableBytes(target).first(1);
    REQUIRE(receiver->post_get(PeerIndex{0}, part, one, OperationId{1}) == Post::done);
    CHECK(target[0] == std::byte{99});
}

TEST_CASE("heap: other memory is described and read as ever", "[runtime]") {
    HostSegment segment = make_segment(2);
    const auto first = make_heap(segment, 0, mib), second = make_heap(segment, 1);
    const auto sender = open_endpoint(segment, *first, 0);
    const auto receiver = open_endpoint(segment, *second, 1);
    std::vector<std::byte> own(8192);
    const RemoteMemory before = sender->describe(own);
    CHECK_FALSE(receiver->can_load(PeerIndex{0}, before, own.size()));
    std::byte* const memory = take(*first, mib);
    CHECK_FALSE(receiver->can_load(PeerIndex{0}, sender->describe(own), own.size()));
    // Runs over the end of the heap.
    const RemoteMemory too_long = sender->describe({memory, mib + 1});
    CHECK_FALSE(receiver->can_load(PeerIndex{0}, too_long, mib + 1));
    std::vector<std::byte> target(own.size());
    // Without cross-memory attach there is no other way to read.
    CHECK(receiver->post_get(PeerIndex{0}, before, target, OperationId{1}) == Post::refused);
}

}  // namespace dlrt
