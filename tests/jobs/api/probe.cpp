// SPDX-License-Identifier: Apache-2.0
/// Probes and matched messages; np >= 2.
#include "tests/jobs/api/job.hpp"

#include <array>

using namespace job;

namespace {

constexpr dlrt_comm comm = DLRT_COMM_WORLD;

dlrt_request send_bytes(const World& world, const std::vector<unsigned char>& bytes, int tag) {
    dlrt_request request{};
    const auto count = static_cast<std::int64_t>(bytes.size());
    expect_ok(dlrt_isend(bytes.data(), count, DLRT_BYTE, world.next, tag, comm, &request));
    return request;
}

void check_status(const World& world, const dlrt_status& status, int tag, std::size_t size) {
    expect_equal(status.source, world.previous);
    expect_equal(status.tag, tag);
    expect_equal(status.size_bytes, std::uint64_t{size});
}

void plain(const World& world) {
    for (const std::size_t size : {0u, 10u, 5000u, 300000u}) {
        std::vector<unsigned char> outgoing(size), incoming(size);
        fill_bytes(outgoing);
        dlrt_request request = send_bytes(world, outgoing, 3);
        dlrt_status status{};
        expect_ok(dlrt_probe(DLRT_ANY_SOURCE, DLRT_ANY_TAG, comm, &status));
        check_status(world, status, 3, size);
        int is_there = 0;
        expect_ok(dlrt_iprobe(world.previous, 3, comm, &is_there, &status));
        expect_equal(is_there, 1);
        expect_ok(dlrt_iprobe(world.previous, 4, comm, &is_there, &status));
        expect_equal(is_there, 0);
        const auto count = static_cast<std::int64_t>(size);
        expect_ok(dlrt_recv(incoming.data(), count, DLRT_BYTE, world.previous, 3, comm, &status));
        expect(incoming == outgoing, "probed message");
        expect_ok(dlrt_iprobe(world.previous, 3, comm, &is_there, &status));
        expect_equal(is_there, 0);
        expect_ok(dlrt_wait(&request, nullptr));
        barrier();
    }
}

/// A matched message is out of reach of receives and probes; its handle receives it once.
void matched(const World& world) {
    for (const std::size_t size : {0u, 10u, 5000u, 300000u}) {
        std::vector<unsigned char> first(size), second(size), incoming(size);
        fill_bytes(first, 1);
        fill_bytes(second, 2);
        std::array requests{send_bytes(world, first, 3), send_bytes(world, second, 3)};
        dlrt_message message{};
        dlrt_status status{};
        expect_ok(dlrt_mprobe(DLRT_ANY_SOURCE, 3, comm, &message, &status));
        check_status(world, status, 3, size);
        const auto count = static_cast<std::int64_t>(size);
        expect_ok(dlrt_recv(incoming.data(), count, DLRT_BYTE, world.previous, 3, comm, &status));
        expect(incoming == second, "the second message overtakes the matched one");
        int is_there = 0;
        expect_ok(dlrt_iprobe(world.previous, 3, comm, &is_there, nullptr));
        expect_equal(is_there, 0);
        dlrt_message stale = message;
        expect_ok(dlrt_mrecv(incoming.data(), count, DLRT_BYTE, &message, &status));
        check_status(world, status, 3, size);
        expect(incoming == first, "the matched message");
        expect_equal(message.index, 0u);
        expect_error(
            dlrt_mrecv(incoming.data(), count, DLRT_BYTE, &stale, &status), DLRT_ERR_MESSAGE
        );
        expect_ok(dlrt_waitall(2, requests.data(), nullptr));
        barrier();
    }
}

void matched_without_waiting(const World& world) {
    std::vector<unsigned char> outgoing(100000), incoming(100000);
    fill_bytes(outgoing, 9);
    dlrt_request sending = send_bytes(world, outgoing, 4);
    dlrt_message message{};
    dlrt_status status{};
    int is_there = 0;
    while (is_there == 0) {
        expect_ok(dlrt_improbe(world.previous, DLRT_ANY_TAG, comm, &is_there, &message, &status));
    }
    check_status(world, status, 4, 100000);
    dlrt_request receiving{};
    expect_ok(dlrt_imrecv(incoming.data(), 100000, DLRT_BYTE, &message, &receiving));
    expect_equal(message.index, 0u);
    expect_ok(dlrt_wait(&receiving, &status));
    check_status(world, status, 4, 100000);
    expect(incoming == outgoing, "imrecv");
    expect_ok(dlrt_wait(&sending, nullptr));
    barrier();
}

void truncated(const World& world) {
    std::vector<unsigned char> outgoing(500), incoming(500, 0xee);
    fill_bytes(outgoing);
    dlrt_request sending = send_bytes(world, outgoing, 5);
    dlrt_message message{};
    dlrt_status status{};
    expect_ok(dlrt_mprobe(world.previous, 5, comm, &message, &status));
    expect_error(dlrt_mrecv(incoming.data(), 100, DLRT_BYTE, &message, &status), DLRT_ERR_TRUNCATE);
    expect_bytes(incoming, 100);
    expect_equal<int>(incoming[100], 0xee);
    expect_ok(dlrt_wait(&sending, nullptr));
}

void nobody() {
    dlrt_status status{};
    int is_there = 0;
    dlrt_message message{};
    expect_ok(dlrt_probe(DLRT_PROC_NULL, 1, comm, &status));
    expect_equal<int>(status.source, DLRT_PROC_NULL);
    expect_ok(dlrt_iprobe(DLRT_PROC_NULL, 1, comm, &is_there, &status));
    expect_equal(is_there, 1);
    expect_ok(dlrt_mprobe(DLRT_PROC_NULL, 1, comm, &message, &status));
    expect_equal(message.index, DLRT_MESSAGE_NO_PROC.index);
    int value = 3;
    expect_ok(dlrt_mrecv(&value, 1, DLRT_INT, &message, &status));
    expect_equal<int>(status.source, DLRT_PROC_NULL);
    expect_equal(message.index, 0u);
    expect_ok(dlrt_improbe(DLRT_PROC_NULL, 1, comm, &is_there, &message, &status));
    dlrt_request request{};
    expect_ok(dlrt_imrecv(&value, 1, DLRT_INT, &message, &request));
    expect_ok(dlrt_wait(&request, &status));
    expect_equal<int>(status.source, DLRT_PROC_NULL);
    expect_equal(value, 3);
}

}  // namespace

int main() {
    const World world;
    plain(world);
    matched(world);
    matched_without_waiting(world);
    truncated(world);
    nobody();
}
