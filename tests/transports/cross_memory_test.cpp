// SPDX-License-Identifier: Apache-2.0
/// Reading another process's memory, and every way in which the system forbids it: each time the
/// data must be had by the other way, and nothing may be printed. Each case is two forked
/// processes.
#include "runtime/base/clock.hpp"
#include "tests/transports/shm_area.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

namespace dlrt::testing {
namespace {

constexpr std::size_t message_bytes = 3 * 1024 * 1024 + 5;
constexpr std::uint64_t limit_ns = 20'000'000'000;

/// What the reader saw, as exit codes of its process.
enum class Outcome : int { was_read = 0, was_streamed = 10, wrong_bytes = 11, timeout = 12 };

std::byte pattern(std::size_t i) {
    return static_cast<std::byte>(i * 13 + i / 977);
}

/// Sends its memory's description, then the same bytes as a stream when the reader asks for it.
void run_owner(Endpoint& endpoint, std::uint64_t rounds) {
    std::vector<std::byte> memory(message_bytes);
    for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = pattern(i);
    const RemoteMemory described = endpoint.describe(memory);
    const std::uint64_t begin_ns = monotonic_ns();
    std::array<Arrival, 4> arrivals;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        while (endpoint.post_eager(PeerIndex{1}, {described.address, 0}, {}) != Post::done) {}
        std::size_t count = 0;
        while (count == 0 && monotonic_ns() - begin_ns < limit_ns) count = endpoint.poll(arrivals);
        if (count == 0) std::_Exit(1);
        if (arrivals[0].header.first == 0) continue;
        const std::size_t fragment = endpoint.fragment_bytes(message_bytes);
        for (std::size_t at = 0; at < message_bytes;) {
            const Bytes piece(memory.data() + at, std::min(fragment, message_bytes - at));
            const Post post = endpoint.post_fragment(PeerIndex{1}, {at, 0}, piece, {});
            if (post == Post::done) at += piece.size();
            if (monotonic_ns() - begin_ns > limit_ns) std::_Exit(1);
        }
    }
}

/// Reads once; `refused` leads to the stream.
Outcome read_once(Endpoint& endpoint) {
    const std::uint64_t begin_ns = monotonic_ns();
    std::array<Arrival, 4> arrivals;
    while (endpoint.poll({arrivals.data(), 1}) == 0) {
        if (monotonic_ns() - begin_ns > limit_ns) return Outcome::timeout;
    }
    std::vector<std::byte> target(message_bytes);
    const RemoteMemory source{arrivals[0].header.first, 0};
    const bool is_read = endpoint.post_get(PeerIndex{0}, source, target, {}) == Post::done;
    const std::uint64_t wants_stream = is_read ? 0 : 1;
    while (endpoint.post_eager(PeerIndex{0}, {wants_stream, 0}, {}) != Post::done) {}
    for (std::size_t got = 0; !is_read && got < message_bytes;) {
        const std::size_t count = endpoint.poll(arrivals);
        for (std::size_t i = 0; i < count; ++i) {
            const Bytes piece = arrivals[i].payload;
            std::copy(piece.begin(), piece.end(), target.data() + arrivals[i].header.first);
            got += piece.size();
        }
        if (monotonic_ns() - begin_ns > limit_ns) return Outcome::timeout;
    }
    for (std::size_t i = 0; i < target.size(); ++i) {
        if (target[i] != pattern(i)) return Outcome::wrong_bytes;
    }
    return is_read ? Outcome::was_read : Outcome::was_streamed;
}

struct Scene {
    std::function<void()> owner_before = [] {};   ///< In the owner's process, before it opens.
    std::function<void()> reader_before = [] {};  ///< In the reader's process, before it opens.
    std::function<void()> reader_between = [] {};
    std::function<void()> owner_between = [] {};  ///< Before the second round.
    bool is_allowed = true;
};

struct Outcomes {
    int first = -1;
    int second = -1;
    friend bool operator==(const Outcomes&, const Outcomes&) = default;
};

constexpr int exit_skipped = 77;

int wait_for(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Two rounds; -77 in both when the system does not let us make the scene.
Outcomes play(const Scene& scene) {
    const ShmArea area(2);
    int report[2];
    REQUIRE(::pipe(report) == 0);
    const pid_t owner = ::fork();
    if (owner == 0) {
        scene.owner_before();
        const std::unique_ptr<Endpoint> endpoint = area.open(0);
        run_owner(*endpoint, 1);
        scene.owner_between();
        run_owner(*endpoint, 1);
        std::_Exit(0);
    }
    const pid_t reader = ::fork();
    if (reader == 0) {
        scene.reader_before();
        shm::Options options = area.options(1);
        options.allow_cross_memory = scene.is_allowed;
        const std::unique_ptr<Endpoint> endpoint = *shm::open_endpoint(options);
        Outcomes outcomes;
        outcomes.first = static_cast<int>(read_once(*endpoint));
        scene.reader_between();
        outcomes.second = static_cast<int>(read_once(*endpoint));
        std::_Exit(::write(report[1], &outcomes, sizeof outcomes) == sizeof outcomes ? 0 : 1);
    }
    ::close(report[1]);
    const int reader_exit = wait_for(reader);
    if (reader_exit != 0) ::kill(owner, SIGKILL);
    const int owner_exit = wait_for(owner);
    Outcomes outcomes;
    if (::read(report[0], &outcomes, sizeof outcomes) != sizeof outcomes) outcomes = {};
    ::close(report[0]);
    if (owner_exit == exit_skipped || reader_exit == exit_skipped) {
        return {-exit_skipped, -exit_skipped};
    }
    return outcomes;
}

/// From now on process_vm_readv fails with this error. Ends the process when filters are forbidden.
void forbid_reading(int error) {
    std::array<sock_filter, 4> program = {
        sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        sock_filter BPF_STMT(
            BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (static_cast<unsigned>(error) & SECCOMP_RET_DATA)
        ),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) std::_Exit(exit_skipped);
    if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) != 0) std::_Exit(exit_skipped);
}

/// An ordinary user: root may read whomever it wants.
void become_nobody() {
    constexpr unsigned nobody = 65534;
    if (::geteuid() != 0) return;
    if (::setgid(nobody) != 0 || ::setuid(nobody) != 0) std::_Exit(exit_skipped);
    ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

constexpr Outcomes both(Outcome outcome) {
    return {int(outcome), int(outcome)};
}

/// True, and said aloud, when the scene cannot be made on this system.
bool is_skipped(const Outcomes& outcomes, const char* reason) {
    if (outcomes != Outcomes{-exit_skipped, -exit_skipped}) return false;
    WARN(reason);
    return true;
}

}  // namespace

TEST_CASE("cross memory: between two processes of a user it reads", "[transports]") {
    CHECK(
        play({.owner_before = become_nobody, .reader_before = become_nobody}) ==
        both(Outcome::was_read)
    );
}

TEST_CASE("cross memory: switched off, it streams", "[transports]") {
    CHECK(play({.is_allowed = false}) == both(Outcome::was_streamed));
}

TEST_CASE("cross memory: forbidden by a filter, it streams", "[transports]") {
    const int error = GENERATE(EPERM, ENOSYS, EACCES);
    const Outcomes outcomes = play({.reader_before = [=] { forbid_reading(error); }});
    if (is_skipped(outcomes, "no seccomp filters here")) return;
    CHECK(outcomes == both(Outcome::was_streamed));
}

TEST_CASE("cross memory: forbidden in the middle, it streams from then on", "[transports]") {
    const Outcomes outcomes = play({.reader_between = [] { forbid_reading(EPERM); }});
    if (is_skipped(outcomes, "no seccomp filters here")) return;
    CHECK(outcomes == Outcomes{int(Outcome::was_read), int(Outcome::was_streamed)});
}

TEST_CASE("cross memory: a peer that stops being dumpable is streamed", "[transports]") {
    const Outcomes outcomes = play({
        .owner_before = become_nobody,
        .reader_before = become_nobody,
        .owner_between = [] { ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); },
    });
    CHECK(outcomes == Outcomes{int(Outcome::was_read), int(Outcome::was_streamed)});
}

TEST_CASE("cross memory: each in a user namespace of its own, they stream", "[transports]") {
    const auto leave = [] {
        become_nobody();
        if (::unshare(CLONE_NEWUSER) != 0) std::_Exit(exit_skipped);
    };
    const Outcomes outcomes = play({.owner_before = leave, .reader_before = leave});
    if (is_skipped(outcomes, "no user namespaces here")) return;
    CHECK(outcomes == both(Outcome::was_streamed));
}

TEST_CASE("cross memory: a dead peer is refused, also when its number lives on", "[transports]") {
    const ShmArea area(3);
    const pid_t owner = ::fork();
    if (owner == 0) {
        static_cast<void>(area.open(0).release());
        std::_Exit(0);
    }
    REQUIRE(wait_for(owner) == 0);
    const std::unique_ptr<Endpoint> reader = area.open(1);
    std::array<std::byte, 8> target{};
    const RemoteMemory memory = reader->describe(target);
    CHECK(reader->post_get(PeerIndex{0}, memory, target, {}) == Post::refused);
    CHECK(
        reader->choose_large(PeerIndex{0}, 1 << 30, Traffic::all_busy) ==
        LargeProtocol::rendezvous_stream
    );

    // Rank 2 shows a number under which something else lives now.
    std::unique_ptr<Endpoint> other = area.open(2);
    CHECK(reader->post_get(PeerIndex{2}, memory, target, {}) == Post::done);
    other.reset();
    CHECK(reader->post_get(PeerIndex{2}, memory, target, {}) == Post::refused);
}

}  // namespace dlrt::testing
