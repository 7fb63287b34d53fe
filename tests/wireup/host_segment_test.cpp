// SPDX-License-Identifier: Apache-2.0
/// The host segment: what every part starts as, who may open what, aborts and departures.
#include "runtime/wireup/host_segment.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/wireup/host_heap.hpp"

#include <array>
#include <cstring>
#include <fcntl.h>
#include <numeric>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

HostSegment make_segment(std::uint32_t local_size) {
    std::vector<std::uint32_t> world_ranks(local_size);
    std::iota(world_ranks.begin(), world_ranks.end(), 10u);
    auto segment = HostSegment::create(
        {.job_id = "j1", .host_index = 2, .usable_cpu_count = 3, .world_ranks = world_ranks}
    );
    REQUIRE(segment.has_value());
    return std::move(*segment);
}

/// A memory file with the head of a good segment, changed by `change`, and sealed.
Fd forged_file(
    void (*change)(SegmentHeader&), int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL
) {
    const HostSegment good = make_segment(2);
    alignas(SegmentHeader) std::array<std::byte, sizeof(SegmentHeader)> head{};
    REQUIRE(::pread(good.descriptor(), head.data(), head.size(), 0) == ssize_t(head.size()));
    change(*reinterpret_cast<SegmentHeader*>(head.data()));
    Fd file(::memfd_create("forged", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    REQUIRE(::ftruncate(file.get(), static_cast<off_t>(good.header().total_size)) == 0);
    REQUIRE(::pwrite(file.get(), head.data(), head.size(), 0) == ssize_t(head.size()));
    REQUIRE(::fcntl(file.get(), F_ADD_SEALS, seals) == 0);
    return file;
}

std::string refusal(const Fd& file) {
    return HostSegment::open(file.get()).error().code == Errc::wireup ? last_error_text()
                                                                      : "accepted";
}

}  // namespace

TEST_CASE("segment: what the maker wrote is what another mapping sees", "[wireup]") {
    const HostSegment made = make_segment(3);
    auto opened = HostSegment::open(made.descriptor());
    REQUIRE(opened.has_value());
    CHECK(opened->header().local_size == 3);
    CHECK(opened->header().usable_cpu_count == 3);
    CHECK(opened->header().host_index == 2);
    CHECK(std::string(opened->header().job_id) == "j1");
    CHECK(opened->life(2).world_rank == 12);
    CHECK(opened->life(2).life.load() == static_cast<std::uint32_t>(RankLife::absent));
    made.life(1).pid.store(77);
    CHECK(opened->life(1).pid.load() == 77);
    CHECK(opened->transport_area().size() == transport_area_size_bytes(3));
    CHECK(opened->descriptor() != made.descriptor());
}

TEST_CASE("segment: parts don't overlap and are aligned", "[wireup]") {
    for (const std::uint32_t local_size : {1u, 2u, 3u, 31u, 1024u}) {
        const HostSegment segment = make_segment(local_size);
        const std::uint32_t last = local_size - 1;
        const std::vector<std::pair<void*, std::size_t>> parts = {
            {&segment.header(), sizeof(SegmentHeader)},
            {&segment.abort_cell(), sizeof(AbortCell)},
            {&segment.doorbell(0), local_size * sizeof(Doorbell)},
            {&segment.life(0), local_size * sizeof(LifeCell)},
            {&segment.flight_ring(0), local_size * sizeof(FlightRing)},
            {&segment.tenancy(), sizeof(TenancyTable)},
            {segment.collective_area().data(), segment.collective_area().size()},
            {segment.transport_area().data(), segment.transport_area().size()},
        };
        auto end = reinterpret_cast<std::uintptr_t>(parts[0].first);
        for (const auto& [address, size] : parts) {
            const auto begin = reinterpret_cast<std::uintptr_t>(address);
            CHECK(begin >= end);
            CHECK(begin % 64 == 0);
            end = begin + size;
        }
        CHECK(&segment.doorbell(last) == &segment.doorbell(0) + last);
        CHECK(reinterpret_cast<std::uintptr_t>(&segment.flight_ring(last)) % no_sharing_bytes == 0);
        CHECK(reinterpret_cast<std::uintptr_t>(segment.transport_area().data()) % 4096 == 0);
    }
}

TEST_CASE("segment: is sparse, sealed and has no name", "[wireup]") {
    const HostSegment segment = make_segment(1024);
    struct stat info {};
    REQUIRE(::fstat(segment.descriptor(), &info) == 0);
    CHECK(info.st_blocks * 512 < 1024 * 1024);
    CHECK(info.st_nlink == 0);
    CHECK(::ftruncate(segment.descriptor(), 0) == -1);
    CHECK(::ftruncate(segment.descriptor(), info.st_size * 2) == -1);
    CHECK((::fcntl(segment.descriptor(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("segment: each rank has a heap region of its own behind what is mapped", "[wireup]") {
    for (const std::uint32_t size : {1u, 2u, 3u, 128u, 1024u}) {
        const HostSegment segment = make_segment(size);
        const std::vector<HeapRegion> regions = heap_regions(segment);
        REQUIRE(regions.size() == size);
        std::uint64_t end = segment.header().total_size;
        for (const HeapRegion& region : regions) {
            CHECK(region.descriptor == segment.descriptor());
            CHECK(region.offset_bytes >= end);
            CHECK(region.offset_bytes % (2u << 20) == 0);
            CHECK(region.size_bytes >= std::uint64_t{16} << 30);
            end = region.offset_bytes + region.size_bytes;
        }
        struct stat info {};
        REQUIRE(::fstat(segment.descriptor(), &info) == 0);
        CHECK(static_cast<std::uint64_t>(info.st_size) == end);
        // Somebody else's mapping of it sees what is written.
        const Result<HostSegment> other = HostSegment::open(segment.descriptor());
        REQUIRE(other.has_value());
        const auto mine = map_heap(regions.back(), 8192);
        const auto theirs = map_heap(heap_regions(*other).back(), 8192);
        REQUIRE((mine.has_value() && theirs.has_value()));
        (*mine)[8191] = std::byte{42};
        CHECK((*theirs)[8191] == std::byte{42});
        punch_hole(regions.back(), 0, 8192);
        CHECK((*theirs)[8191] == std::byte{0});
        ::munmap(mine->data(), mine->size());
        ::munmap(theirs->data(), theirs->size());
    }
}

TEST_CASE("segment: where 'ulimit -f' is low there is no heap, and all else", "[wireup]") {
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    rlimit low = before;
    low.rlim_cur = std::uint64_t{1} << 30;
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &low) == 0);
    const HostSegment segment = make_segment(2);
    const Result<HostSegment> other = HostSegment::open(segment.descriptor());
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
    REQUIRE(other.has_value());
    for (const HeapRegion& region : heap_regions(segment)) CHECK(region.size_bytes == 0);
}

TEST_CASE("segment: limits of the shape", "[wireup]") {
    const std::vector<std::uint32_t> ranks(1025);
    CHECK(HostSegment::create({.job_id = "j", .world_ranks = ranks}).error().code == Errc::limit);
    CHECK(HostSegment::create({.job_id = "j", .world_ranks = {}}).error().code == Errc::limit);
    const std::string long_id(64, 'x');
    const auto one = std::span(ranks).first(1);
    CHECK(HostSegment::create({.job_id = long_id, .world_ranks = one}).error().code == Errc::limit);
    CHECK(HostSegment::create({.job_id = std::string(63, 'x'), .world_ranks = one}).has_value());
}

TEST_CASE("segment: anything else is refused", "[wireup]") {
    CHECK(HostSegment::open(-1).error().code == Errc::wireup);
    const Fd null_device(::open("/dev/null", O_RDWR | O_CLOEXEC));
    CHECK(HostSegment::open(null_device.get()).error().code == Errc::wireup);
    CHECK(refusal(forged_file([](SegmentHeader&) {})) == "accepted");
    CHECK(
        refusal(forged_file([](SegmentHeader&) {}, F_SEAL_GROW)).find("not a sealed") !=
        std::string::npos
    );
    CHECK(refusal(forged_file([](SegmentHeader& h) {
              h.magic = 1;
          })).find("else") != std::string::npos);
    CHECK(refusal(forged_file([](SegmentHeader& h) {
              h.version = 9;
          })).find("version 9") != std::string::npos);
    CHECK(refusal(forged_file([](SegmentHeader& h) {
              h.local_size = 0;
          })) == "host segment: 0 local ranks");
    CHECK(refusal(forged_file([](SegmentHeader& h) {
              h.local_size = 3;
          })).find("layout") != std::string::npos);
    CHECK(refusal(forged_file([](SegmentHeader& h) {
              h.transport_area_size += 4096;
          })).find("layout") != std::string::npos);
    CHECK(refusal(forged_file([](SegmentHeader& h) {
              std::memset(h.job_id, 'x', 64);
          })).find("no end") != std::string::npos);
}

TEST_CASE("segment: moving keeps the mapping, and destroying unmaps once", "[wireup]") {
    HostSegment first = make_segment(1);
    SegmentHeader* header = &first.header();
    HostSegment second = std::move(first);
    CHECK(&second.header() == header);
    HostSegment third = make_segment(2);
    third = std::move(second);
    CHECK(&third.header() == header);
    CHECK(third.header().local_size == 1);
}

TEST_CASE("segment: the first abort wins and its text is cut between characters", "[wireup]") {
    const HostSegment segment = make_segment(2);
    const std::string text = std::string(478, 'a') + "\u00e9";  // The last character has bytes 478
                                                                // and 479.
    CHECK(segment.raise_abort(7, 11, text));
    CHECK_FALSE(segment.raise_abort(8, 10, "late"));
    const AbortCell& cell = segment.abort_cell();
    CHECK(cell.raised.load() == 1);
    CHECK(cell.code == 7);
    CHECK(cell.rank == 11);
    CHECK(std::string(cell.text) == std::string(478, 'a'));
}

TEST_CASE("segment: a departure is counted once", "[wireup]") {
    const HostSegment segment = make_segment(3);
    segment.mark_departed(1);
    segment.mark_departed(1);
    CHECK(segment.header().departures.load() == 1);
    CHECK(segment.life(1).life.load() == static_cast<std::uint32_t>(RankLife::departed));
    segment.mark_departed(2);
    CHECK(segment.header().departures.load() == 2);
}

TEST_CASE("segment: who departs on another host is marked within the job's size", "[wireup]") {
    const std::array<std::uint32_t, 2> world_ranks = {1, 4};
    HostSegment segment = *HostSegment::create(
        {.job_id = "j", .host_index = 1, .world_ranks = world_ranks, .job_size = 5}
    );
    std::vector<std::uint32_t> woken;
    segment.set_wake_descriptor([&](std::uint32_t local_rank) { woken.push_back(local_rank); });
    segment.doorbell(1).announce_sleep(SleepKind::descriptor);
    segment.mark_departed_elsewhere(3);
    segment.mark_departed_elsewhere(3);
    segment.mark_departed_elsewhere(5);
    CHECK(segment.header().departures.load() == 1);
    CHECK(woken == std::vector<std::uint32_t>{1});
    const HostSegment other = *HostSegment::open(segment.descriptor());
    CHECK(other.has_departed_elsewhere(3));
    CHECK_FALSE(other.has_departed_elsewhere(2));
    CHECK_FALSE(other.has_departed_elsewhere(4));
    CHECK_FALSE(other.has_departed_elsewhere(5));
    CHECK(other.collective_area().data() > reinterpret_cast<std::byte*>(&other.tenancy() + 1) + 4);
    CHECK(
        HostSegment::create({.job_id = "j", .world_ranks = world_ranks, .job_size = (1 << 20) + 1})
            .error()
            .code == Errc::limit
    );
}

TEST_CASE("segment: an abort wakes sleepers of both kinds", "[wireup]") {
    HostSegment segment = make_segment(2);
    std::vector<std::uint32_t> woken;
    segment.set_wake_descriptor([&](std::uint32_t local_rank) { woken.push_back(local_rank); });
    segment.doorbell(1).announce_sleep(SleepKind::descriptor);
    segment.doorbell(0).announce_sleep(SleepKind::futex);
    std::thread sleeper([&] { segment.doorbell(0).sleep_futex(-1); });
    CHECK(segment.raise_abort(1, 10, "x"));
    sleeper.join();
    CHECK(woken == std::vector<std::uint32_t>{1});
}

}  // namespace dlrt
