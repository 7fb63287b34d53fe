// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/check.hpp"

#include <array>
#include <csignal>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

struct Ending {
    int wait_status = 0;
    std::string error_text;
};

// Runs assertion_failed in a child, since it never returns.
Ending fail_in_child() {
    std::array<int, 2> pipe{};
    REQUIRE(::pipe(pipe.data()) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        std::signal(SIGABRT, SIG_DFL);
        ::dup2(pipe[1], STDERR_FILENO);
        assertion_failed("depth >= 0", "file.cpp", 12, "pop");
    }
    ::close(pipe[1]);
    Ending ending;
    std::array<char, 256> piece{};
    ssize_t size = 0;
    while ((size = ::read(pipe[0], piece.data(), piece.size())) > 0) {
        ending.error_text.append(piece.data(), static_cast<std::size_t>(size));
    }
    ::close(pipe[0]);
    ::waitpid(child, &ending.wait_status, 0);
    return ending;
}

}  // namespace

TEST_CASE("check: a broken invariant names condition and place, and aborts", "[base]") {
    const Ending ending = fail_in_child();
    CHECK(ending.error_text == "dlrt: broken invariant: depth >= 0 (file.cpp:12, pop)\n");
    REQUIRE(WIFSIGNALED(ending.wait_status));
    CHECK(WTERMSIG(ending.wait_status) == SIGABRT);
}

TEST_CASE("check: a condition that holds costs nothing else", "[base]") {
    int evaluation_count = 0;
    DLRT_ASSERT(++evaluation_count > 0);
#ifdef NDEBUG
    CHECK(evaluation_count == 0);
#else
    CHECK(evaluation_count == 1);
#endif
}

}  // namespace dlrt
