// SPDX-License-Identifier: Apache-2.0
#include "launcher/output_lane.hpp"

#include "runtime/base/fd.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <optional>
#include <string>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace dlrt::launcher {
namespace {

LineOrigin rank(std::uint32_t number) {
    return {number, StreamKind::out, 100, 0};
}

/// A lane into a pipe of one page.
struct Way {
    Way() {
        int ends[2];
        REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
        reader = Fd(ends[0]);
        writer = Fd(ends[1]);
        ::fcntl(reader.get(), F_SETFL, O_NONBLOCK);
        REQUIRE(::fcntl(writer.get(), F_SETPIPE_SZ, 4096) == 4096);
        lane.emplace(
            loop, writer.get(),
            OutputWriter::Handlers{
                [this](std::uint32_t, std::size_t credit_bytes) { credits += credit_bytes; },
                [this](int error) { failure = error; }, [] {}}
        );
    }
    void turn(std::chrono::milliseconds time = std::chrono::milliseconds(2)) {
        Timer end(loop);
        end.start(time, [this] { loop.stop(); });
        loop.run();
    }
    std::string read() {
        std::string text(65536, '\0');
        const ssize_t got = ::read(reader.get(), text.data(), text.size());
        text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
        turn();
        return text;
    }

    EventLoop loop;
    Fd reader;
    Fd writer;
    std::size_t credits = 0;
    int failure = 0;
    std::optional<OutputLane> lane;
};

}  // namespace

TEST_CASE("output lane: lines are written and credited", "[launcher]") {
    Way way;
    way.lane->add(rank(0), "a\n");
    way.lane->add_own_line("own");
    way.lane->add(rank(1), "bc\n");
    CHECK(way.read() == "a\nown\nbc\n");
    CHECK(way.credits == 5);
    CHECK(way.lane->is_empty());
}

TEST_CASE("output lane: what isn't read isn't credited", "[launcher]") {
    Way way;
    const std::string page = std::string(4095, 'x') + '\n';
    way.lane->add(rank(0), page);
    way.lane->add(rank(0), page);
    CHECK(way.credits == 4096);
    CHECK(!way.lane->is_empty());
    CHECK(way.read() == page);
    CHECK(way.credits == 8192);
    CHECK(way.read() == page);
    CHECK(way.lane->is_empty());
}

TEST_CASE("output lane: a line that stays open holds others up only for a while", "[launcher]") {
    Way way;
    way.lane->add(rank(0), "begin ");
    way.lane->add(rank(1), "x\n");
    CHECK(way.read() == "begin ");
    CHECK(!way.lane->is_empty());
    way.turn(std::chrono::milliseconds(500));
    CHECK(way.read() == "\nx\n");
    CHECK(way.lane->is_empty());
}

TEST_CASE("output lane: a slow reader breaks no line", "[launcher]") {
    Way way;
    const std::string page(4096, 'x');
    way.lane->add(rank(0), page);
    way.lane->add(rank(0), page);
    way.lane->add(rank(1), "y\n");
    way.turn(std::chrono::milliseconds(350));
    CHECK(way.read() == page);
    way.lane->add(rank(0), "end\n");
    CHECK(way.read() == page);
    CHECK(way.read() == "end\ny\n");
}

TEST_CASE("output lane: at the end nobody is waited for", "[launcher]") {
    Way way;
    way.lane->add(rank(0), "begin ");
    way.lane->add(rank(1), "x\n");
    way.lane->end();
    CHECK(way.read() == "begin \nx\n");
    CHECK(way.lane->is_empty());
}

TEST_CASE("output lane: once it can't be written, all is credited and dropped", "[launcher]") {
    Way way;
    way.reader.reset();
    ::signal(SIGPIPE, SIG_IGN);
    way.lane->add(rank(0), "a\n");
    way.lane->add(rank(0), "b\n");
    CHECK(way.failure == EPIPE);
    CHECK(way.credits == 4);
    CHECK(way.lane->is_empty());
}

}  // namespace dlrt::launcher
