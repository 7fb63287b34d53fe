// SPDX-License-Identifier: Apache-2.0
#include "launcher/frame.hpp"

#include "runtime/base/fd.hpp"

#include <algorithm>
#include <sys/socket.h>
#include <thread>

#include <catch2/catch.hpp>

namespace dlrt::launcher {
namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
    const auto view = std::as_bytes(std::span(text));
    return {view.begin(), view.end()};
}

StartJob start_of_job() {
    StartJob job;
    job.token = "secret";
    job.host_index = 2;
    job.job_map = bytes_of("map");
    job.programs = {{{"a", "b c"}, {"X=1"}, "/tmp"}, {{"d"}, {}, "/"}};
    job.program_of_rank = {1, 0, 1};
    job.stdin_kind = StdinKind::forwarded;
    job.stdin_rank = 5;
    job.output = {"/logs/%r", "[%r] ", true, RankSet({{0, 3}, {7, 7}}), true, false};
    job.master_address = "127.0.0.1";
    job.master_port = 1;
    job.outlives_failures = true;
    job.heartbeat_ms = 5000;
    job.start_gate = "/gate";
    job.memory_binding = MemoryBinding::interleave;
    job.lends_cpus = true;
    job.waits_for_others = true;
    return job;
}

std::vector<Frame> one_of_each() {
    HostFacts facts{1,          "h",       77, {0, 3}, 2, 29500, {}, {}, bytes_of("digest"),
                    "10.0.0.2", "10.0.0.1"};
    facts.busy_cpus = {3};
    facts.topology = {
        TopologyDetail::devices,
        {{0, {0, 3}}},
        {{2, {0, 3}, 1ull << 40}},
        {},
        {{0, {0}, 0, 1}},
        {},
        {},
        {{TopologyDevice::Kind::network, "mlx5_0", "near", {3}}},
        "model"};
    const StartJob job = start_of_job();
    return {
        facts,
        job,
        HostFailed{127, "no"},
        RanksStarted{{1, 2, -3}},
        RankOutput{4, StreamKind::err, 77, 1ull << 50, bytes_of("line\n")},
        OutputWritten{4, 1ull << 40},
        RankEnded{
            1, 99, 139, 12345678901, true, {1ull << 60, 2, 3, 4}, true, "why", {"barrier", "recv"}},
        RankAborted{3, 8, -2, "why"},
        Terminate{15, 5000},
        SignalRanks{10},
        SuspendRanks{},
        RanksSuspended{},
        StdinBytes{bytes_of("in")},
        StdinTaken{65536, true},
        Notice{"note"},
        JobEnded{},
        DescribeHost{TopologyDetail::devices, 7},
        Heartbeat{},
        HostSignalled{15, "keeper"},
        RankMissed{3, 8},
        JobPrepared{},
        BeginRanks{},
        RankAddress{7, "tcp", bytes_of("where")},
        AddressWanted{8, "tcp"},
        RankDeparted{9},
        RankConnectBack{3, 9, "tcp/1", "no route to host"},
        JoinTree{
            5, 9, 2, "job", "h5", bytes_of("secret"), 5000, 30'000, 100, 200, "h1",
            bytes_of("addresses")},
        RelayReady{bytes_of("addresses")},
        Relayed{6, encode_frame(BeginRanks{})},
        ToAll{3, encode_frame(Terminate{15, 5})},
        AssignHosts{{1, UINT32_MAX, 0}},
        DaemonLost{"killed"},
        LinkLost{7, "gone"},
        ParentLost{"silent"},
        RelayEnded{}};
}

Bytes body_of(const std::vector<std::byte>& frame) {
    return Bytes(frame).subspan(frame_header_bytes);
}

}  // namespace

TEST_CASE("frame: every kind comes back as it was", "[launcher]") {
    const std::vector<Frame> frames = one_of_each();
    REQUIRE(frames.size() == std::variant_size_v<Frame>);
    for (const Frame& frame : frames) {
        const std::vector<std::byte> bytes = encode_frame(frame);
        const Result<std::size_t> size = decode_frame_size(Bytes(bytes).first(frame_header_bytes));
        REQUIRE(size.has_value());
        CHECK(*size == bytes.size() - frame_header_bytes);
        const Result<Frame> decoded = decode_frame(body_of(bytes));
        REQUIRE(decoded.has_value());
        CHECK(*decoded == frame);
    }
}

TEST_CASE("frame: one within another is told by its type, and must be whole", "[launcher]") {
    const std::vector<std::byte> bytes = encode_frame(Terminate{15, 5});
    CHECK(is_encoded<Terminate>(bytes));
    CHECK_FALSE(is_encoded<SignalRanks>(bytes));
    CHECK_FALSE(is_encoded<Terminate>(Bytes(bytes).first(frame_header_bytes)));
    const Result<Frame> decoded = decode_whole_frame(bytes);
    REQUIRE(decoded.has_value());
    CHECK(*decoded == Frame(Terminate{15, 5}));
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        CHECK_FALSE(decode_whole_frame(Bytes(bytes).first(size)).has_value());
    }
    std::vector<std::byte> longer = bytes;
    longer.push_back(std::byte{0});
    CHECK_FALSE(decode_whole_frame(longer).has_value());
}

TEST_CASE("frame: the bytes of a small one are these", "[launcher]") {
    // Length 9, type 10 (SignalRanks is the tenth): 5 bytes follow the length.
    const std::vector<std::byte> bytes = encode_frame(SignalRanks{258});
    const unsigned char expected[] = {5, 0, 0, 0, 10, 2, 1, 0, 0};
    REQUIRE(bytes.size() == sizeof expected);
    CHECK(std::equal(bytes.begin(), bytes.end(), expected, [](std::byte a, unsigned char b) {
        return a == std::byte{b};
    }));
}

TEST_CASE("frame: every cut and every added byte is refused", "[launcher]") {
    for (const Frame& frame : one_of_each()) {
        std::vector<std::byte> bytes = encode_frame(frame);
        const Bytes body = body_of(bytes);
        for (std::size_t length = 0; length < body.size(); ++length) {
            CHECK(!decode_frame(body.first(length)));
        }
        bytes.push_back(std::byte{0});
        CHECK(!decode_frame(body_of(bytes)));
    }
}

TEST_CASE("frame: a wrong byte anywhere never does more than be refused", "[launcher]") {
    for (const Frame& frame : one_of_each()) {
        const std::vector<std::byte> bytes = encode_frame(frame);
        for (std::size_t at = frame_header_bytes; at < bytes.size(); ++at) {
            for (const int value : {0, 1, 127, 128, 255}) {
                std::vector<std::byte> changed = bytes;
                changed[at] = static_cast<std::byte>(value);
                const Result<Frame> decoded = decode_frame(body_of(changed));
                if (decoded) CHECK(encode_frame(*decoded) == changed);
            }
        }
    }
}

TEST_CASE("frame: lengths of zero and beyond the limit are refused", "[launcher]") {
    const auto size_of = [](std::uint32_t value) {
        std::byte header[4];
        for (int i = 0; i < 4; ++i) header[i] = static_cast<std::byte>(value >> (8 * i));
        return decode_frame_size(header).has_value();
    };
    CHECK(!size_of(0));
    CHECK(size_of(1));
    CHECK(size_of(frame_bytes_max));
    CHECK(!size_of(frame_bytes_max + 1));
    CHECK(!size_of(UINT32_MAX));
}

TEST_CASE("frame: a large one crosses a socket, and its end is an error", "[launcher]") {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    Fd a(ends[0]);
    const Fd b(ends[1]);
    const Frame frame = StdinBytes{std::vector<std::byte>(3'000'000, std::byte{7})};
    std::thread sender([&] {
        CHECK(send_frame(a.get(), frame).ok());
        a.reset();
    });
    const Result<Frame> received = receive_frame(b.get());
    const Result<Frame> after = receive_frame(b.get());
    sender.join();
    REQUIRE(received.has_value());
    CHECK(*received == frame);
    CHECK(after.error().code == Errc::peer_lost);
}

}  // namespace dlrt::launcher
