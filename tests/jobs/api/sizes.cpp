// SPDX-License-Identifier: Apache-2.0
/// Messages of every size around the powers of two, both directions at once; with "large" also one
/// beyond 2 GiB as bytes and as elements of a struct; np 2.
#include "tests/jobs/api/job.hpp"

#include <array>
#include <cstring>
#include <string>

using namespace job;

namespace {

constexpr dlrt_comm comm = DLRT_COMM_WORLD;

void exchange(const World& world, std::uint64_t size) {
    std::vector<unsigned char> outgoing(size), incoming(size + 1, 0xee);
    fill_bytes(outgoing, static_cast<std::uint64_t>(world.rank));
    std::array<dlrt_request, 2> requests{};
    std::array<dlrt_status, 2> statuses{};
    const auto count = static_cast<std::int64_t>(size);
    const int peer = 1 - world.rank;
    expect_ok(dlrt_irecv(incoming.data(), count, DLRT_BYTE, peer, 1, comm, &requests[0]));
    expect_ok(dlrt_isend(outgoing.data(), count, DLRT_BYTE, peer, 1, comm, &requests[1]));
    expect_ok(dlrt_waitall(2, requests.data(), statuses.data()));
    std::int64_t received = -1;
    expect_ok(dlrt_status_count(&statuses[0], DLRT_BYTE, &received));
    expect_equal(received, count);
    expect_bytes(incoming, size, static_cast<std::uint64_t>(peer));
    expect_equal<int>(incoming[size], 0xee);
}

/// 2^31 + 100 bytes from rank 0 to rank 1.
void large(const World& world) {
    constexpr std::uint64_t size = (std::uint64_t{1} << 31) + 100;
    std::vector<unsigned char> bytes(size);
    if (world.rank == 0) fill_bytes(bytes);
    const long before = status_kib("VmHWM");
    dlrt_status status{};
    if (world.rank == 0) {
        expect_ok(dlrt_send(bytes.data(), size, DLRT_BYTE, 1, 2, comm));
    } else {
        expect_ok(dlrt_recv(bytes.data(), size, DLRT_BYTE, 0, 2, comm, &status));
        expect_equal(status.size_bytes, size);
        expect_bytes(bytes, size);
    }

    // As one element: 2048 times 1 MiB, and 100 bytes behind it.
    constexpr std::int64_t mebibyte = 1 << 20;
    dlrt_type block{}, whole{};
    expect_ok(dlrt_type_contiguous(mebibyte, DLRT_BYTE, &block));
    const std::array<std::int64_t, 2> lengths{2048, 100};
    const std::array<std::int64_t, 2> offsets{0, 2048 * mebibyte};
    const std::array<dlrt_type, 2> parts{block, DLRT_BYTE};
    expect_ok(dlrt_type_struct(2, lengths.data(), offsets.data(), parts.data(), &whole));
    if (world.rank == 0) {
        expect_ok(dlrt_send(bytes.data(), 1, whole, 1, 3, comm));
    } else {
        std::memset(bytes.data(), 0, size);
        expect_ok(dlrt_recv(bytes.data(), 1, whole, 0, 3, comm, &status));
        std::int64_t received = -1;
        expect_ok(dlrt_status_count(&status, whole, &received));
        expect_equal(received, std::int64_t{1});
        expect_bytes(bytes, size);
    }
    expect_ok(dlrt_type_free(&block));
    expect_ok(dlrt_type_free(&whole));
    if (!is_memory_measurable) return;
    expect(status_kib("VmHWM") - before < 64 * 1024, "less than 64 MiB of extra memory");
}

}  // namespace

int main(int argc, char** argv) {
    const World world;
    expect_equal(world.size, 2);
    if (argc > 1 && std::string(argv[1]) == "large") {
        large(world);
        return 0;
    }
    for (int bits = 0; bits <= 24; ++bits) {
        const std::uint64_t size = std::uint64_t{1} << bits;
        for (const std::uint64_t near : {size - 1, size, size + 1}) exchange(world, near);
    }
    for (const std::uint64_t size : {19145880u, 19145881u}) exchange(world, size);
}
