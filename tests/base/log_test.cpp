// SPDX-License-Identifier: Apache-2.0
/// What lands on standard error, and the nearest of several names.
#include "runtime/base/log.hpp"

#include <array>
#include <string>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

/// What `act` writes to standard error (less than a pipe holds).
template<typename Act>
std::string captured(Act act) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    const int saved = ::dup(STDERR_FILENO);
    ::dup2(ends[1], STDERR_FILENO);
    act();
    ::dup2(saved, STDERR_FILENO);
    ::close(saved);
    ::close(ends[1]);
    std::string text(4096, '\0');
    const ssize_t length = ::read(ends[0], text.data(), text.size());
    ::close(ends[0]);
    return text.substr(0, length > 0 ? static_cast<std::size_t>(length) : 0);
}

}  // namespace

TEST_CASE("log: one line with rank, host and module; less important ones are left out", "[base]") {
    CHECK(captured([] { log(LogLevel::error, "core", "x"); }).find("[pid ") == 0);
    set_log_identity(3, "h1");
    CHECK(captured([] {
              log(LogLevel::warning, "core", "{} of {}", 1, 2);
          }) == "[3 h1] core: 1 of 2\n");
    CHECK(captured([] { log(LogLevel::info, "core", "quiet"); }).empty());
    set_log_level(LogLevel::debug);
    CHECK(captured([] { log(LogLevel::debug, "shm", "two\nlines"); }) == "[3 h1] shm: two lines\n");
    set_log_level(LogLevel::warning);
}

TEST_CASE("log: a long host name is cut, not written past", "[base]") {
    set_log_identity(1, std::string(300, 'h'));
    CHECK(captured([] {
              write_log_line("m", "t");
          }).size() == 128 + std::string("[] m: t\n").size());
}

}  // namespace dlrt
