// SPDX-License-Identifier: Apache-2.0
/// The job map: the bytes of format.md, damaged input, and its sealed file.
#include "runtime/wireup/job_map.hpp"

#include "runtime/base/error_text.hpp"

#include <fcntl.h>
#include <initializer_list>
#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

JobMap small_map() {
    return {"j1", {{"h", 2}}, {{0, 0, 0, {}}, {0, 1, 0, {1}}}};
}

/// Ranks 0..4 alternate between two hosts, a third host is idle.
JobMap round_robin_map() {
    JobMap map{"round", {{"a", 4}, {"b", 8}, {"c", 1}}, {}};
    for (std::uint32_t rank = 0; rank < 5; ++rank)
        map.ranks.push_back({rank % 2, rank / 2, 0, {rank}});
    return map;
}

}  // namespace

TEST_CASE("job map: the example of format.md", "[wireup]") {
    const std::initializer_list<int> expected = {
        0x21, 0x44, 0x4c, 0x52, 0x54, 0x4d, 0x41, 0x50, 1, 0, 0, 0, 2,    0, 0, 0, 0x6a, 0x31,
        1,    0,    0,    0,    2,    0,    0,    0,    1, 0, 0, 0, 0x68, 2, 0, 0, 0,    0,
        0,    0,    0,    0,    0,    0,    0,    0,    0, 0, 0, 0, 0,    0, 0, 0, 0,    0,
        0,    1,    0,    0,    0,    0,    0,    0,    0, 1, 0, 0, 0,    1, 0, 0, 0,
    };
    std::vector<std::byte> bytes;
    for (const int value : expected) bytes.push_back(static_cast<std::byte>(value));
    CHECK(encode_job_map(small_map()) == bytes);
}

TEST_CASE("job map: comes back equal", "[wireup]") {
    for (const JobMap& map : {small_map(), round_robin_map()}) {
        const auto decoded = decode_job_map(encode_job_map(map));
        REQUIRE(decoded.has_value());
        CHECK(*decoded == map);
    }
}

TEST_CASE("job map: ranks of a host in order of their local rank", "[wireup]") {
    JobMap map = round_robin_map();
    CHECK(map.ranks_on_host(0) == std::vector<std::uint32_t>{0, 2, 4});
    CHECK(map.ranks_on_host(1) == std::vector<std::uint32_t>{1, 3});
    CHECK(map.ranks_on_host(2).empty());
    std::swap(map.ranks[1].local_rank, map.ranks[3].local_rank);
    CHECK(map.ranks_on_host(1) == std::vector<std::uint32_t>{3, 1});
}

TEST_CASE("job map: cut or lengthened bytes are refused", "[wireup]") {
    auto bytes = encode_job_map(round_robin_map());
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        CHECK(decode_job_map(Bytes(bytes).first(length)).error().code == Errc::wireup);
    }
    bytes.push_back(std::byte{0});
    CHECK(decode_job_map(bytes).error().code == Errc::wireup);
}

TEST_CASE("job map: places that can't be are refused in words", "[wireup]") {
    JobMap map = small_map();
    map.ranks[1].host_index = 1;
    CHECK_FALSE(decode_job_map(encode_job_map(map)).has_value());
    CHECK(last_error_text() == "job map: rank 1 is on host 1 of 1");
    map = small_map();
    map.ranks[1].local_rank = 2;
    CHECK_FALSE(decode_job_map(encode_job_map(map)).has_value());
    CHECK(last_error_text() == "job map: rank 1 has local rank 2 of 2");
    map = small_map();
    map.ranks[1].local_rank = 0;
    CHECK_FALSE(decode_job_map(encode_job_map(map)).has_value());
    CHECK(last_error_text() == "job map: two ranks have local rank 0 of host 0");
    map.ranks.clear();
    CHECK_FALSE(decode_job_map(encode_job_map(map)).has_value());
}

TEST_CASE("job map: its file can be read by anybody and changed by nobody", "[wireup]") {
    const auto file = create_job_map_file(round_robin_map());
    REQUIRE(file.has_value());
    CHECK(*read_job_map_file(file->get()) == round_robin_map());
    CHECK(::pwrite(file->get(), "x", 1, 0) == -1);
    CHECK(::ftruncate(file->get(), 0) == -1);
    CHECK(::mmap(nullptr, 1, PROT_WRITE, MAP_SHARED, file->get(), 0) == MAP_FAILED);
    CHECK((::fcntl(file->get(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("job map: another descriptor is refused", "[wireup]") {
    CHECK(read_job_map_file(-1).error().code == Errc::wireup);
    const Fd null_device(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    CHECK(read_job_map_file(null_device.get()).error().code == Errc::wireup);
    const Fd unsealed(::memfd_create("x", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    CHECK(read_job_map_file(unsealed.get()).error().code == Errc::wireup);
}

}  // namespace dlrt
