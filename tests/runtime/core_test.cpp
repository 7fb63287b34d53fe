// SPDX-License-Identifier: Apache-2.0
/// The life of the runtime in real processes: init, finalize, abort, fork, and init again.
#include "runtime/core.hpp"

#include "runtime/base/error_text.hpp"
#include "tests/runtime/store_server.hpp"

#include <algorithm>
#include <set>
#include <thread>
#include <time.h>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

using test::fork_child;
using test::StoreServer;
using Statuses = std::vector<int>;

const LayoutRef& bytes_layout() {
    return Layout::of(ElementType::byte);
}

Status send_bytes(std::int32_t to, Tag tag, const std::vector<std::byte>& data) {
    Core& core = *Core::get();
    return core.engine().send(
        SendMode::standard, {core.world()->user_context(), to, tag},
        {data.data(), data.size(), &bytes_layout()}
    );
}

Status receive_bytes(std::int32_t from, Tag tag, std::vector<std::byte>& data) {
    Core& core = *Core::get();
    MessageStatus status;
    return core.engine().recv(
        {core.world()->user_context(), from, tag}, {data.data(), data.size(), &bytes_layout()},
        status
    );
}

std::vector<std::byte> pattern(std::size_t size, unsigned seed) {
    std::vector<std::byte> data(size);
    for (std::size_t i = 0; i < size; ++i)
        data[i] = static_cast<std::byte>(i * 31 + i / 255 + seed);
    return data;
}

double cpu_seconds() {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// A late rank is part of these cases, not a way to synchronise.
void be_late(int milliseconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

/// Every rank of a job of `size` runs `body` between init and finalize; 0 when all went well.
template<typename Body>
Statuses run_job(std::uint32_t size, Body body, ThreadLevel level = ThreadLevel::single) {
    StoreServer server(size);
    for (std::uint32_t rank = 0; rank < size; ++rank) {
        server.start(rank, [&](const KeyValueStore& store) {
            if (!Core::init_with_store(level, store).ok()) {
                std::fprintf(stderr, "init: %s\n", last_error_text().c_str());
                return 100;
            }
            const int status = body(rank);
            if (Core::get() != nullptr && !Core::finalize().ok()) return 101;
            return status;
        });
    }
    return server.serve();
}

/// The same for one process that is alone.
template<typename Body>
int run_alone(Body body) {
    const test::Child child = fork_child(body);
    return child.status();
}

}  // namespace

TEST_CASE("core: before, between and after init and finalize", "[runtime]") {
    CHECK(run_alone([] {
              if (Core::get() != nullptr || Core::is_finalized()) return 1;
              if (Core::absence().code != Errc::not_initialized) return 2;
              if (Core::finalize().code != Errc::not_initialized) return 3;
              for (int round = 0; round < 3; ++round) {
                  if (!Core::init(ThreadLevel::funneled).ok()) return 4;
                  if (Core::init(ThreadLevel::single).code != Errc::already_initialized) return 5;
                  Core& core = *Core::get();
                  if (core.world()->size() != 1 || core.self()->rank() != 0) return 6;
                  if (core.thread_level() != ThreadLevel::funneled) return 7;
                  if (Core::is_finalized()) return 8;
                  if (!send_bytes(0, 5, pattern(100, 1)).ok()) return 9;
                  std::vector<std::byte> data(100);
                  if (!receive_bytes(0, 5, data).ok() || data != pattern(100, 1)) return 10;
                  if (!Core::finalize().ok()) return 11;
                  if (Core::finalize().code != Errc::not_initialized || !Core::is_finalized())
                      return 12;
              }
              return 0;
          }) == 0);
}

TEST_CASE("core: a setting that can't be keeps a program from starting", "[runtime]") {
    CHECK(run_alone([] {
              ::setenv("DLRT_EAGER_BYTE", "1", 1);
              if (Core::init(ThreadLevel::single).code != Errc::argument) return 1;
              if (last_error_text().find("DLRT_EAGER_BYTES?") == std::string::npos) return 2;
              ::unsetenv("DLRT_EAGER_BYTE");
              ::setenv("DLRT_COPY_TABLE", "no-such-file", 1);
              if (Core::init(ThreadLevel::single).code != Errc::argument) return 5;
              if (last_error_text().find("DLRT_COPY_TABLE=no-such-file") == std::string::npos)
                  return 6;
              ::unsetenv("DLRT_COPY_TABLE");
              ::setenv("DLRT_EAGER_BYTES", "1m", 1);
              if (Core::init(ThreadLevel::single).ok()) {
                  // A transport that can do it may; then the setting was used.
                  return Core::finalize().ok() ? 0 : 3;
              }
              return last_error_text().find("DLRT_EAGER_BYTES=1048576") != std::string::npos ? 0
                                                                                             : 4;
          }) == 0);
}

TEST_CASE("core: context ids differ between ranks, calls and lives", "[runtime]") {
    CHECK(run_alone([] {
              std::set<ContextId> seen;
              for (int round = 0; round < 2; ++round) {
                  // The segment of a process alone is new each time, so only numbers within a life
                  // count.
                  seen.clear();
                  if (!Core::init(ThreadLevel::single).ok()) return 1;
                  Core& core = *Core::get();
                  seen.insert(core.world()->user_context());
                  seen.insert(core.self()->user_context());
                  seen.insert(core.meeting_context());
                  for (int i = 0; i < 100; ++i) seen.insert(core.new_context());
                  for (const ContextId id : seen) {
                      if (static_cast<std::uint64_t>(id) % 2 != 0) return 2;
                  }
                  if (seen.size() != 103) return 3;
                  if (!Core::finalize().ok()) return 4;
              }
              return 0;
          }) == 0);
}

TEST_CASE("core: what was sent before finalize is received (E06 a)", "[runtime]") {
    const Statuses statuses = run_job(2, [](std::uint32_t rank) {
        constexpr int count = 5000;
        if (rank == 0) {
            for (int i = 0; i < count; ++i) {
                if (!send_bytes(1, i, pattern(64, static_cast<unsigned>(i))).ok()) return 1;
            }
            return 0;
        }
        be_late(300);
        std::vector<std::byte> data(64);
        for (int i = 0; i < count; ++i) {
            if (!receive_bytes(0, i, data).ok()) return 2;
            if (data != pattern(64, static_cast<unsigned>(i))) return 3;
        }
        return 0;
    });
    CHECK(statuses == Statuses{0, 0});
}

TEST_CASE("core: a large send whose request was freed is delivered (E06 b)", "[runtime]") {
    const Statuses statuses = run_job(2, [](std::uint32_t rank) {
        constexpr std::size_t size = std::size_t{8} << 20;
        static const std::vector<std::byte> sent = pattern(size, 7);
        if (rank == 0) {
            Core& core = *Core::get();
            Request* request = core.engine().isend(
                SendMode::standard, {core.world()->user_context(), 1, 3},
                {sent.data(), sent.size(), &bytes_layout()}
            );
            core.engine().release(request);
            return 0;
        }
        be_late(300);
        std::vector<std::byte> data(size);
        if (!receive_bytes(0, 3, data).ok()) return 1;
        return data == sent ? 0 : 2;
    });
    CHECK(statuses == Statuses{0, 0});
}

TEST_CASE("core: those who wait in finalize for a late rank are idle (E06 c)", "[runtime]") {
    const Statuses statuses = run_job(4, [](std::uint32_t rank) {
        if (rank == 3) be_late(1500);
        const double before = cpu_seconds();
        if (!Core::finalize().ok()) return 1;
        return cpu_seconds() - before < 0.15 ? 0 : 2;
    });
    CHECK(statuses == Statuses{0, 0, 0, 0});
}

TEST_CASE("core: an unmatched small message doesn't hold finalize up (E06 d)", "[runtime]") {
    ::setenv("DLRT_CHECK", "1", 1);
    const Statuses statuses = run_job(2, [](std::uint32_t rank) {
        if (rank == 0 && !send_bytes(1, 9, pattern(16, 0)).ok()) return 1;
        return 0;
    });
    ::unsetenv("DLRT_CHECK");
    CHECK(statuses == Statuses{0, 0});
}

TEST_CASE("core: a large message that nobody receives doesn't either", "[runtime]") {
    const Statuses statuses = run_job(2, [](std::uint32_t rank) {
        static const std::vector<std::byte> sent = pattern(std::size_t{1} << 20, 7);
        Core& core = *Core::get();
        if (rank == 1) return 0;
        Request* request = core.engine().isend(
            SendMode::standard, {core.world()->user_context(), 1, 3},
            {sent.data(), sent.size(), &bytes_layout()}
        );
        core.engine().release(request);
        return 0;
    });
    CHECK(statuses == Statuses{0, 0});
}

TEST_CASE("core: finalize works in an exit handler (E06 e)", "[runtime]") {
    StoreServer server(2);
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        server.start(rank, [](const KeyValueStore& store) {
            if (!Core::init_with_store(ThreadLevel::single, store).ok()) return 1;
            std::atexit([] { ::_exit(Core::finalize().ok() ? 55 : 2); });
            std::exit(3);
            return 4;
        });
    }
    CHECK(server.serve() == Statuses{55, 55});
}

TEST_CASE("core: finalize while a thread still receives is an error (E06 g)", "[runtime]") {
    const Statuses statuses = run_job(
        2,
        [](std::uint32_t rank) {
            Core& core = *Core::get();
            std::vector<std::byte> data(8);
            if (rank == 1) {
                if (!receive_bytes(0, 1, data).ok()) return 1;
                return send_bytes(0, 2, pattern(8, 2)).ok() ? 0 : 2;
            }
            std::atomic<bool> is_inside{false};
            std::atomic<bool> is_received{false};
            std::thread receiver([&] {
                const std::uint64_t record = core.flight().enter({.call = Call::recv});
                is_inside.store(true, std::memory_order_release);
                is_received = receive_bytes(1, 2, data).ok();
                core.flight().finish(record);
            });
            while (!is_inside.load(std::memory_order_acquire)) std::this_thread::yield();
            const Status refused = Core::finalize();
            const bool is_sent = send_bytes(1, 1, pattern(8, 1)).ok();
            receiver.join();
            if (refused.code != Errc::thread) return 3;
            return is_sent && is_received && data == pattern(8, 2) ? 0 : 4;
        },
        ThreadLevel::multiple
    );
    CHECK(statuses == Statuses{0, 0});
}

TEST_CASE(
    "core: ranks can finalize and initialise again, apart from what was before", "[runtime]"
) {
    StoreServer server(3);
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
        server.start(rank, [rank](const KeyValueStore& store) {
            for (unsigned round = 0; round < 3; ++round) {
                if (!Core::init_with_store(ThreadLevel::single, store).ok()) return 1;
                const auto next = static_cast<std::int32_t>((rank + 1) % 3);
                const auto previous = static_cast<std::int32_t>((rank + 2) % 3);
                // One that nobody receives, and one that is received.
                if (!send_bytes(next, 1, pattern(32, round)).ok()) return 2;
                if (!send_bytes(next, 2, pattern(32, round + 10)).ok()) return 3;
                std::vector<std::byte> data(32);
                if (!receive_bytes(previous, 2, data).ok()) return 4;
                if (data != pattern(32, round + 10)) return 5;
                if (!Core::finalize().ok()) return 6;
            }
            return 0;
        });
    }
    CHECK(server.serve() == Statuses{0, 0, 0});
}

TEST_CASE("core: a forked child may not call, and disturbs nobody", "[runtime]") {
    const Statuses statuses = run_job(2, [](std::uint32_t rank) {
        const test::Child child = fork_child([] {
            if (Core::get() != nullptr) return 1;
            if (Core::absence().code != Errc::forked) return 2;
            if (Core::init(ThreadLevel::single).code != Errc::forked) return 3;
            if (Core::finalize().code != Errc::forked) return 4;
            // Destructors of static objects run too.
            std::exit(33);
            return 5;
        });
        if (child.status() != 33) return 6;
        std::vector<std::byte> data(2000);
        const auto other = static_cast<std::int32_t>(1 - rank);
        if (!send_bytes(other, 1, pattern(2000, rank)).ok()) return 7;
        if (!receive_bytes(other, 1, data).ok()) return 8;
        return data == pattern(2000, 1 - rank) ? 0 : 9;
    });
    CHECK(statuses == Statuses{0, 0});
}

TEST_CASE("core: abort ends with its status and tells the others", "[runtime]") {
    const Statuses statuses = run_job(2, [](std::uint32_t rank) {
        if (rank == 0) Core::abort(0x1007, "no way on");
        std::vector<std::byte> data(8);
        const Status status = receive_bytes(0, 1, data);
        const bool is_right = status.code == Errc::aborted || status.code == Errc::peer_lost;
        std::_Exit(is_right ? 21 : 22);
        return 23;
    });
    CHECK(statuses == Statuses{7, 21});
    CHECK(run_alone([] {
              Core::abort(256, "before init");
              return 0;
          }) == 1);
}

TEST_CASE("core: who waits for a rank that died gets an error", "[runtime]") {
    const Statuses statuses = run_job(3, [](std::uint32_t rank) {
        if (rank == 2) std::_Exit(9);
        if (rank == 1) {
            std::vector<std::byte> data(8);
            const Status status = receive_bytes(2, 1, data);
            std::_Exit(status.code == Errc::peer_lost ? 31 : 32);
        }
        std::vector<std::byte> data(8);
        const Status status = receive_bytes(1, 1, data);
        std::_Exit(status.code == Errc::peer_lost ? 31 : 32);
        return 0;
    });
    CHECK(statuses == Statuses{31, 31, 9});
}

TEST_CASE("core: every protocol that DLRT_PROTO allows carries the bytes", "[runtime]") {
    for (const char* rules :
         {"eager@-4k,rendezvous-read", "rendezvous-stream", "^rendezvous-read", "^eager",
          "rendezvous-read@64k-,^eager@1k-2k"}) {
        ::setenv("DLRT_PROTO", rules, 1);
        const Statuses statuses = run_job(2, [](std::uint32_t rank) {
            const auto other = static_cast<std::int32_t>(1 - rank);
            for (const std::size_t size : {0, 1, 1500, 5000, 70'000, 1'000'000}) {
                std::vector<std::byte> data(size);
                const bool is_first = rank == 0;
                if (is_first && !send_bytes(other, 1, pattern(size, 3)).ok()) return 1;
                if (!receive_bytes(other, 1, data).ok()) return 2;
                if (!is_first && !send_bytes(other, 1, pattern(size, 3)).ok()) return 3;
                if (data != pattern(size, 3)) return 4;
            }
            return 0;
        });
        CHECK(statuses == Statuses{0, 0});
    }
    ::unsetenv("DLRT_PROTO");
}

TEST_CASE("core: the other settings reach their places", "[runtime]") {
    for (const char* assignment :
         {"DLRT_CMA=0", "DLRT_EAGER_BYTES=0", "DLRT_SPIN_US=0", "DLRT_SPIN_US=100",
          "DLRT_LOG=error"}) {
        const std::string text = assignment;
        const std::size_t equals = text.find('=');
        const std::string name = text.substr(0, equals);
        ::setenv(name.c_str(), text.substr(equals + 1).c_str(), 1);
        const Statuses statuses = run_job(2, [](std::uint32_t rank) {
            std::vector<std::byte> data(100'000);
            const auto other = static_cast<std::int32_t>(1 - rank);
            if (rank == 0) return send_bytes(other, 1, pattern(100'000, 3)).ok() ? 0 : 1;
            if (!receive_bytes(other, 1, data).ok()) return 2;
            return data == pattern(100'000, 3) ? 0 : 3;
        });
        ::unsetenv(name.c_str());
        CHECK(statuses == Statuses{0, 0});
    }
}

}  // namespace dlrt
