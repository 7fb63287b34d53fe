// SPDX-License-Identifier: Apache-2.0
#include "launcher/input_feeder.hpp"

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <span>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

namespace dlrt::launcher {
namespace {

/// The reading ends of some ranks, and what the feeder has said.
struct Feed {
    explicit Feed(std::size_t target_count) {
        ::signal(SIGPIPE, SIG_IGN);
        for (std::size_t i = 0; i < target_count; ++i) {
            int ends[2];
            REQUIRE(::pipe2(ends, O_NONBLOCK | O_CLOEXEC) == 0);
            readers.emplace_back(ends[0]);
            REQUIRE(::fcntl(ends[1], F_SETPIPE_SZ, 4096) == 4096);
            feeder.add_target(Fd(ends[1]));
        }
    }

    void add(std::string_view text) {
        const auto bytes = std::as_bytes(std::span(text));
        feeder.add({bytes.begin(), bytes.end()});
        turn();
    }
    /// All that is due.
    void turn() {
        Timer end(loop);
        end.start(std::chrono::milliseconds(2), [this] { loop.stop(); });
        loop.run();
    }
    /// What a rank finds in its pipe; "EOF" at its end.
    std::string read(std::size_t reader, std::size_t size_max = 65536) {
        std::string text(size_max, '\0');
        const ssize_t got = ::read(readers[reader].get(), text.data(), text.size());
        text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
        turn();
        return got == 0 ? "EOF" : text;
    }

    EventLoop loop;
    std::uint64_t taken_bytes = 0;
    int closed_count = 0;
    InputFeeder feeder{loop, [this](std::uint64_t size_bytes, InputFeeder::End end) {
                           taken_bytes += size_bytes;
                           if (end == InputFeeder::End::closed) ++closed_count;
                       }};
    std::vector<Fd> readers;
};

}  // namespace

TEST_CASE("input feeder: every target gets all of it and its end", "[launcher]") {
    Feed feed(3);
    feed.add("ab");
    feed.add("c");
    CHECK(feed.taken_bytes == 3);
    feed.add("");
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(feed.read(i) == "abc");
        CHECK(feed.read(i) == "EOF");
    }
    CHECK(feed.closed_count == 1);
}

TEST_CASE("input feeder: what the slowest has not read counts as under way", "[launcher]") {
    Feed feed(2);
    const std::string page(4096, 'x');
    feed.add(page);
    CHECK(feed.taken_bytes == 4096);
    feed.add(page);
    CHECK(feed.taken_bytes == 4096);
    CHECK(feed.read(0) == page);
    CHECK(feed.taken_bytes == 4096);
    CHECK(feed.read(1) == page);
    CHECK(feed.taken_bytes == 8192);
    CHECK(feed.read(0) == page);
    CHECK(feed.read(1) == page);
    CHECK(feed.read(1).empty());
}

TEST_CASE("input feeder: a target that closes is no longer waited for", "[launcher]") {
    Feed feed(3);
    const std::string page(4096, 'x');
    feed.add(page);
    feed.add("rest");
    CHECK(feed.taken_bytes == 4096);
    CHECK(feed.read(0) == page);
    CHECK(feed.read(2) == page);
    feed.readers[1].reset();
    feed.turn();
    CHECK(feed.taken_bytes == 4100);
    CHECK(feed.read(0) == "rest");
    feed.readers[0].reset();
    feed.readers[2].reset();
    CHECK(feed.closed_count == 0);
    feed.add("more");
    CHECK(feed.closed_count == 1);
    feed.add("and more");
    feed.add("");
    CHECK(feed.closed_count == 1);
}

TEST_CASE("input feeder: without a target all is refused, once", "[launcher]") {
    Feed feed(0);
    feed.feeder.add_target(Fd());
    feed.add("x");
    feed.add("y");
    CHECK(feed.closed_count == 1);
    CHECK(feed.taken_bytes == 0);
}

TEST_CASE("input feeder: the end waits for what came before it", "[launcher]") {
    Feed feed(1);
    feed.add(std::string(4096, 'a') + "b");
    feed.add("");
    CHECK(feed.closed_count == 0);
    CHECK(feed.read(0) == std::string(4096, 'a'));
    CHECK(feed.read(0) == "b");
    CHECK(feed.read(0) == "EOF");
    CHECK(feed.closed_count == 1);
}

}  // namespace dlrt::launcher
