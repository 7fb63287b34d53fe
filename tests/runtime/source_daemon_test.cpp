// SPDX-License-Identifier: Apache-2.0
/// Joining through a daemon: by inherited descriptors, by reattaching, and all that must fail.
#include "runtime/base/error_text.hpp"
#include "runtime/wireup_source.hpp"
#include "tests/runtime/fake_daemon.hpp"

#include <cstring>
#include <fcntl.h>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

using test::FakeDaemon;
constexpr int timeout_ms = 10'000;
using Statuses = std::vector<int>;

/// 0 when the rank joined as itself and left.
int join_and_leave(std::uint32_t rank) {
    auto source = choose_source(timeout_ms);
    if (!source || (*source)->name() != "daemon") return 10;
    auto membership = (*source)->join();
    if (!membership) {
        std::fprintf(stderr, "join: %s\n", last_error_text().c_str());
        return 11;
    }
    if (membership->rank != rank || membership->map.job_id != "fake-job") return 12;
    if (membership->segment.header().local_size != membership->map.size()) return 13;
    if (!membership->doorbell.is_open()) return 14;
    return (*source)->leave().ok() ? 0 : 15;
}

/// 0 when joining fails with this code and a text that has these words.
int join_fails(Errc code, std::initializer_list<const char*> words) {
    auto source = choose_source(300);
    Status status = source.error();
    if (source) status = (*source)->join().error();
    for (const char* word : words) {
        if (last_error_text().find(word) == std::string::npos) {
            std::fprintf(stderr, "no '%s' in: %s\n", word, last_error_text().c_str());
            return 21;
        }
    }
    return status.code == code ? 0 : 20;
}

void replace_by_null_device(int descriptor) {
    const int other = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    ::dup3(other, descriptor, O_CLOEXEC);
    ::close(other);
}

}  // namespace

TEST_CASE("daemon source: inherited descriptors let a rank in, again and again", "[runtime]") {
    FakeDaemon daemon(2);
    daemon.start(1, [] {
        for (int i = 0; i < 3; ++i) {
            if (const int status = join_and_leave(1); status != 0) return status;
        }
        return 0;
    });
    CHECK(daemon.serve() == Statuses{0});
    CHECK(daemon.hello_count == 3);
    CHECK(daemon.reattach_count == 0);
    CHECK(daemon.finalized_count == 3);
}

TEST_CASE("daemon source: lost descriptors are got again from the daemon", "[runtime]") {
    FakeDaemon daemon(2);
    daemon.start(0, [&] {
        for (const int descriptor :
             {daemon.inherited[0].get(), daemon.map_file.get(), daemon.segment->descriptor(),
              daemon.doorbells[0].get()}) {
            ::close(descriptor);
        }
        return join_and_leave(0);
    });
    daemon.start(1, [] {
        ::unsetenv(environment::descriptors);
        return join_and_leave(1);
    });
    CHECK(daemon.serve() == Statuses{0, 0});
    CHECK(daemon.reattach_count == 2);
}

TEST_CASE("daemon source: each wrong descriptor is recognised", "[runtime]") {
    FakeDaemon daemon(1);
    const int numbers[] = {
        daemon.inherited[0].get(), daemon.map_file.get(), daemon.segment->descriptor(),
        daemon.doorbells[0].get()};
    for (const int number : numbers) {
        daemon.start(0, [number] {
            replace_by_null_device(number);
            return join_and_leave(0);
        });
        CHECK(daemon.serve() == Statuses{0});
    }
    CHECK(daemon.reattach_count == 4);
}

TEST_CASE("daemon source: a control socket with nobody behind it is replaced", "[runtime]") {
    FakeDaemon daemon(1);
    daemon.connections[0].socket.reset();
    daemon.start(0, [] { return join_and_leave(0); });
    CHECK(daemon.serve() == Statuses{0});
    CHECK(daemon.reattach_count == 1);
}

TEST_CASE("daemon source: text that isn't four descriptors leads to a reattach", "[runtime]") {
    FakeDaemon daemon(1);
    for (const char* text : {"", "1,2,3", "1,2,3,4,5", "a,b,c,d", "3,4,5,-1", "3,4,5,6,"}) {
        daemon.start(0, [text] {
            ::setenv(environment::descriptors, text, 1);
            return join_and_leave(0);
        });
        CHECK(daemon.serve() == Statuses{0});
    }
    CHECK(daemon.reattach_count == 6);
}

TEST_CASE(
    "daemon source: refusals are passed on in words, nobody becomes a singleton", "[runtime]"
) {
    FakeDaemon daemon(1);
    daemon.start(0, [] {
        ::setenv(environment::token, "guess", 1);
        return join_fails(Errc::wireup, {"the daemon refuses rank 0", "wrong token"});
    });
    daemon.start(0, [] {
        ::unsetenv(environment::descriptors);
        ::setenv(environment::token, "guess", 1);
        return join_fails(Errc::wireup, {"the daemon refuses rank 0", "wrong token"});
    });
    CHECK(daemon.serve() == Statuses{0, 0});
}

TEST_CASE("daemon source: two processes can't be one rank", "[runtime]") {
    FakeDaemon daemon(1);
    for (int i = 0; i < 2; ++i) {
        daemon.start(0, [] {
            auto source = choose_source(timeout_ms);
            return (*source)->join()                                                ? 0
                   : last_error_text().find("claimed already") != std::string::npos ? 1
                                                                                    : 2;
        });
    }
    Statuses statuses = daemon.serve();
    std::sort(statuses.begin(), statuses.end());
    CHECK(statuses == Statuses{0, 1});
}

TEST_CASE(
    "daemon source: gone daemon and gone descriptors are an error with both causes", "[runtime]"
) {
    FakeDaemon daemon(1);
    daemon.start(0, [&] {
        ::close(daemon.map_file.get());
        ::setenv(environment::daemon_socket, "dlrt-nobody-listens-here", 1);
        return join_fails(
            Errc::wireup, {"fake-job", "job map", "dlrt-nobody-listens-here", "unset"}
        );
    });
    daemon.start(0, [] {
        ::unsetenv(environment::descriptors);
        ::unsetenv(environment::daemon_socket);
        return join_fails(Errc::wireup, {"DLRT_FDS is ''"});
    });
    CHECK(daemon.serve() == Statuses{0, 0});
}

TEST_CASE("daemon source: a daemon that says nothing ends in an error", "[runtime]") {
    FakeDaemon daemon(1);
    daemon.is_silent = true;
    daemon.start(0, [] {
        return join_fails(Errc::wireup, {"the daemon does not answer", "300 ms"});
    });
    CHECK(daemon.serve() == Statuses{0});
}

TEST_CASE("daemon source: left-overs in the environment are named", "[runtime]") {
    FakeDaemon daemon(2);
    daemon.start(0, [] {
        ::unsetenv(environment::job_id);
        return join_fails(Errc::wireup, {"DLRT_RANK is set but DLRT_JOBID is not"});
    });
    daemon.start(0, [] {
        ::setenv(environment::rank, "one", 1);
        return join_fails(Errc::wireup, {"DLRT_RANK is 'one'"});
    });
    daemon.start(0, [] {
        ::setenv(environment::rank, "7", 1);
        ::unsetenv(environment::daemon_socket);
        return join_fails(Errc::wireup, {"rank 7 in a job of 2 ranks"});
    });
    daemon.start(0, [] {
        ::setenv(environment::size, "3", 1);
        return join_fails(Errc::wireup, {"DLRT_SIZE '3'", "2 ranks"});
    });
    daemon.start(0, [] {
        ::setenv(environment::job_id, "other", 1);
        ::unsetenv(environment::daemon_socket);
        return join_fails(Errc::wireup, {"'fake-job'", "'other'"});
    });
    CHECK(daemon.serve() == Statuses{0, 0, 0, 0, 0});
}

TEST_CASE("daemon source: ranks ring each other's eventfds", "[runtime]") {
    FakeDaemon daemon(2);
    daemon.start(0, [] {
        auto source = choose_source(timeout_ms);
        auto membership = (*source)->join();
        const int bell = (*source)->doorbell_of(1);
        const std::uint64_t five = 5;
        if ((*source)->doorbell_of(1) != bell) return 2;
        return ::write(bell, &five, sizeof five) == sizeof five ? 0 : 1;
    });
    daemon.start(1, [] {
        auto source = choose_source(timeout_ms);
        auto membership = (*source)->join();
        pollfd entry{membership->doorbell.get(), POLLIN, 0};
        std::uint64_t value = 0;
        if (::poll(&entry, 1, timeout_ms) != 1) return 1;
        return ::read(entry.fd, &value, sizeof value) == sizeof value && value == 5 ? 0 : 2;
    });
    CHECK(daemon.serve() == Statuses{0, 0});
}

TEST_CASE("daemon source: an abort reaches the daemon before the call returns", "[runtime]") {
    FakeDaemon daemon(1);
    daemon.start(0, [] {
        auto source = choose_source(timeout_ms);
        auto membership = (*source)->join();
        (*source)->abort(42, "no way on");
        return 0;
    });
    CHECK(daemon.serve() == Statuses{0});
    REQUIRE(daemon.aborts.size() == 1);
    CHECK(daemon.aborts[0] == Abort{42, "no way on"});
}

}  // namespace dlrt
