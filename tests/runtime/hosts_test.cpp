// SPDX-License-Identifier: Apache-2.0
/// Jobs over several hosts in real processes: here all are on one machine, and what they say of
/// themselves is changed on its way, so that they take each other for being elsewhere.
#include "runtime/base/error_text.hpp"
#include "runtime/collective.hpp"
#include "runtime/core.hpp"
#include "runtime/heap.hpp"
#include "runtime/rank_identity.hpp"
#include "tests/runtime/fake_daemon.hpp"
#include "tests/runtime/store_server.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <time.h>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

using test::FakeDaemon;
using test::StoreServer;
using Statuses = std::vector<int>;

constexpr std::size_t mib = 1 << 20;

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

std::vector<std::byte> pattern(std::size_t size, std::uint32_t seed) {
    std::vector<std::byte> data(size);
    for (std::size_t i = 0; i < size; ++i)
        data[i] = static_cast<std::byte>(i * 31 + i / 255 + seed);
    return data;
}

/// Whether everybody gets from everybody else what that one sends, at the same time.
bool exchange_all(std::size_t size) {
    Core& core = *Core::get();
    const auto own = static_cast<std::uint32_t>(core.world()->rank());
    const auto count = static_cast<std::uint32_t>(core.world()->size());
    std::vector<std::vector<std::byte>> sent, got;
    std::vector<Request*> requests;
    for (std::uint32_t other = 0; other < count; ++other) {
        sent.push_back(pattern(size, own * 16 + other));
        got.emplace_back(size);
    }
    for (std::uint32_t other = 0; other < count; ++other) {
        const auto peer = static_cast<std::int32_t>(other);
        const ContextId context = core.world()->user_context();
        requests.push_back(
            core.engine().irecv({context, peer, 3}, {got[other].data(), size, &bytes_layout()})
        );
        requests.push_back(core.engine().isend(
            SendMode::standard, {context, peer, 3}, {sent[other].data(), size, &bytes_layout()}
        ));
    }
    core.engine().wait_all(requests);
    core.engine().release_all(requests);
    for (std::uint32_t other = 0; other < count; ++other) {
        if (got[other] != pattern(size, other * 16 + own)) return false;
    }
    return true;
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

/// The hosts' ranks follow each other, with as many on each.
struct Shape {
    std::uint32_t size;
    std::uint32_t host_count;
    [[nodiscard]] std::uint32_t host_of(std::uint32_t rank) const {
        return rank * host_count / size;
    }
};

void spread(StoreServer& server, Shape shape) {
    server.on_put = [shape](const std::string& key, std::string& value) {
        auto identity = decode_identity(value);
        if (!identity) return;
        const auto rank = static_cast<std::uint32_t>(std::stoul(key.substr(key.rfind('/') + 1)));
        identity->host_name = "h" + std::to_string(shape.host_of(rank));
        identity->host_key += "/" + identity->host_name;
        value = encode_identity(*identity);
    };
}

/// Every rank runs `body` between init and finalize; 0 when all went well.
template<typename Body>
Statuses run_job(Shape shape, Body body, ThreadLevel level = ThreadLevel::single) {
    StoreServer server(shape.size);
    spread(server, shape);
    for (std::uint32_t rank = 0; rank < shape.size; ++rank) {
        server.start(rank, [&](const KeyValueStore& store) {
            if (!Core::init_with_store(level, store).ok()) {
                std::fprintf(stderr, "init: %s\n", last_error_text().c_str());
                return 100;
            }
            const int status = body(rank);
            if (Core::get() != nullptr && !Core::finalize().ok()) {
                std::fprintf(stderr, "finalize: %s\n", last_error_text().c_str());
                return 101;
            }
            return status;
        });
    }
    return server.serve();
}

bool says(const Status& status, Errc code, std::initializer_list<const char*> words) {
    for (const char* word : words) {
        if (last_error_text().find(word) != std::string::npos) continue;
        std::fprintf(stderr, "no '%s' in: %s\n", word, last_error_text().c_str());
        return false;
    }
    return status.code == code;
}

}  // namespace

TEST_CASE("hosts: messages of all sizes pass within and between hosts", "[runtime]") {
    const auto level = GENERATE(ThreadLevel::single, ThreadLevel::multiple);
    CHECK(
        run_job(
            {4, 2},
            [](std::uint32_t) {
                const JobMap& map = Core::get()->job_map();
                if (map.hosts.size() != 2 || map.hosts[1].name != "h1") return 1;
                if (map.ranks[3].host_index != 1 || map.ranks[3].local_rank != 1) return 2;
                int number = 3;
                for (const std::size_t size :
                     {std::size_t{0}, std::size_t{8}, std::size_t{4096}, std::size_t{65536},
                      std::size_t{65537}, mib + 3}) {
                    if (!exchange_all(size)) return number;
                    ++number;
                }
                return 0;
            },
            level
        ) == Statuses{0, 0, 0, 0}
    );
}

TEST_CASE("hosts: collectives meet over hosts with one and with several ranks", "[runtime]") {
    const std::uint32_t host_count = GENERATE(2u, 3u, 5u);
    CHECK(run_job({5, host_count}, [](std::uint32_t rank) {
              const CommunicatorRef& world = Core::get()->world();
              for (int round = 0; round < 20; ++round) {
                  if (!barrier(*world).ok()) return 1;
              }
              std::vector<std::byte> data(1000);
              if (rank == 4) data = pattern(1000, 9);
              for (std::int32_t other = 0; rank == 4 && other < 4; ++other) {
                  if (!send_bytes(other, 1, data).ok()) return 2;
              }
              if (rank != 4 && !receive_bytes(4, 1, data).ok()) return 3;
              return data == pattern(1000, 9) ? 0 : 4;
          }) == Statuses(5, 0));
}

TEST_CASE(
    "hosts: what was sent before finalize arrives, however late it is received", "[runtime]"
) {
    CHECK(run_job({2, 2}, [](std::uint32_t rank) {
              constexpr int count = 3000;
              if (rank == 0) {
                  for (int i = 0; i < count; ++i) {
                      if (!send_bytes(1, 4, pattern(64, static_cast<unsigned>(i))).ok()) return 1;
                  }
                  const auto large = std::make_unique<std::vector<std::byte>>(pattern(8 * mib, 7));
                  Core& core = *Core::get();
                  Request* const request = core.engine().isend(
                      SendMode::standard, {core.world()->user_context(), 1, 5},
                      {large->data(), large->size(), &bytes_layout()}
                  );
                  core.engine().release(request);
                  return Core::finalize().ok() ? 0 : 2;
              }
              be_late(200);
              std::vector<std::byte> data(64);
              for (int i = 0; i < count; ++i) {
                  if (!receive_bytes(0, 4, data).ok()) return 3;
                  if (data != pattern(64, static_cast<unsigned>(i))) return 4;
              }
              data.resize(8 * mib);
              if (!receive_bytes(0, 5, data).ok()) return 5;
              return data == pattern(8 * mib, 7) ? 0 : 6;
          }) == Statuses{0, 0});
}

TEST_CASE("hosts: a job can finalize and begin again", "[runtime]") {
    StoreServer server(4);
    spread(server, {4, 2});
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        server.start(rank, [&](const KeyValueStore& store) {
            for (int round = 0; round < 3; ++round) {
                if (!Core::init_with_store(ThreadLevel::single, store).ok()) return 1;
                if (!exchange_all(100)) return 2;
                if (!Core::finalize().ok()) return 3;
            }
            return 0;
        });
    }
    CHECK(server.serve() == Statuses{0, 0, 0, 0});
}

TEST_CASE("hosts: a rank that waits for another host sleeps", "[runtime]") {
    CHECK(run_job({2, 2}, [](std::uint32_t rank) {
              if (!exchange_all(8)) return 1;
              std::vector<std::byte> data(8);
              if (rank == 0) {
                  be_late(500);
                  return send_bytes(1, 1, data).ok() ? 0 : 2;
              }
              const double before = cpu_seconds();
              if (!receive_bytes(0, 1, data).ok()) return 3;
              return cpu_seconds() - before < 0.2 ? 0 : 4;
          }) == Statuses{0, 0});
}

TEST_CASE("hosts: when a rank dies elsewhere both ends of its connection are named", "[runtime]") {
    const Statuses statuses = run_job({3, 3}, [](std::uint32_t rank) {
        if (!exchange_all(8)) return 1;
        if (rank == 2) {
            std::vector<std::byte> data(8);
            // Sent before: it arrives all the same.
            if (!send_bytes(0, 1, data).ok()) return 2;
            ::_exit(7);
        }
        std::vector<std::byte> data(8);
        if (rank == 0 && !receive_bytes(2, 1, data).ok()) return 3;
        const Status lost = receive_bytes(2, 2, data);
        if (!says(lost, Errc::peer_lost, {"world rank 2", "the connection from ", " to "}))
            return 4;
        // Of those that are left nobody is disturbed.
        const auto other = static_cast<std::int32_t>(1 - rank);
        if (rank == 0 && !send_bytes(other, 3, data).ok()) return 5;
        if (rank == 1 && !receive_bytes(other, 3, data).ok()) return 6;
        return Core::leave(1000).ok() ? 0 : 7;
    });
    CHECK(statuses == Statuses{0, 0, 7});
}

TEST_CASE("hosts: a rank that leaves early is missed only by who needs it", "[runtime]") {
    CHECK(run_job({2, 2}, [](std::uint32_t rank) {
              std::vector<std::byte> data(8);
              if (rank == 1) {
                  if (!send_bytes(0, 1, pattern(8, 5)).ok()) return 1;
                  return Core::leave(5000).ok() ? 0 : 2;
              }
              be_late(100);
              if (!receive_bytes(1, 1, data).ok() || data != pattern(8, 5)) return 3;
              const Status lost = receive_bytes(1, 2, data);
              if (!says(lost, Errc::peer_lost, {"world rank 1", "has left"})) return 4;
              return Core::leave(1000).ok() ? 0 : 5;
          }) == Statuses{0, 0});
}

/// Waits for a message that never comes; how that ended.
using WaitInVain = Status (*)(std::int32_t from);

Status wait_by_recv(std::int32_t from) {
    std::vector<std::byte> data(8);
    return receive_bytes(from, 1, data);
}
Status wait_by_probe(std::int32_t from) {
    Core& core = *Core::get();
    MessageStatus status;
    core.engine().probe({core.world()->user_context(), from, 1}, status);
    return status.error;
}
Status wait_by_test(std::int32_t from) {
    Core& core = *Core::get();
    std::vector<std::byte> data(8);
    Request* const request = core.engine().irecv(
        {core.world()->user_context(), from, 1}, {data.data(), data.size(), &bytes_layout()}
    );
    while (!core.engine().test(request)) be_late(1);
    const Status lost = outcome_of(*request);
    core.engine().release(request);
    return lost;
}
Status wait_by_iprobe(std::int32_t from) {
    Core& core = *Core::get();
    MessageStatus status;
    while (!core.engine().iprobe({core.world()->user_context(), from, 1}, status)) be_late(1);
    return status.error;
}
TEST_CASE("hosts: without a daemon, one that dies before anybody spoke to it is missed") {
    constexpr std::array<WaitInVain, 4> waits = {
        wait_by_recv, wait_by_probe, wait_by_test, wait_by_iprobe};
    CHECK(run_job({5, 5}, [&](std::uint32_t rank) {
              if (rank == 0) ::_exit(7);
              const bool is_told = says(
                  waits[rank - 1](0), Errc::peer_lost, {"world rank 0", "it cannot be reached at"}
              );
              return is_told && Core::leave(1000).ok() ? 0 : 2;
          }) == Statuses{7, 0, 0, 0, 0});
}

TEST_CASE("hosts: without a daemon, one that dies is missed while another thread makes progress") {
    CHECK(
        run_job(
            {2, 2},
            [](std::uint32_t rank) {
                if (rank == 0) ::_exit(7);
                std::atomic<bool> is_right{false};
                std::thread first([&] { is_right = wait_by_recv(1).ok(); });
                // It owns progress by then.
                be_late(300);
                const bool is_told = says(wait_by_probe(0), Errc::peer_lost, {"world rank 0"});
                const bool is_sent = send_bytes(1, 1, std::vector<std::byte>(8)).ok();
                first.join();
                return is_told && is_sent && is_right && Core::leave(1000).ok() ? 0 : 2;
            },
            ThreadLevel::multiple
        ) == Statuses{7, 0}
    );
}

TEST_CASE("hosts: without a daemon, who waits for any rank misses them once all have died") {
    CHECK(run_job({3, 3}, [](std::uint32_t rank) {
              if (rank != 2) ::_exit(7);
              const bool is_told = says(wait_by_recv(any_source), Errc::peer_lost, {"all others"});
              return is_told && Core::leave(1000).ok() ? 0 : 2;
          }) == Statuses{7, 7, 0});
}

TEST_CASE("hosts: without a daemon, who says nothing for long is not missed") {
    CHECK(run_job({2, 2}, [](std::uint32_t rank) {
              std::vector<std::byte> data(8);
              if (rank == 1) return wait_by_recv(0).ok() ? 0 : 1;
              // As one that computes.
              be_late(4500);
              return send_bytes(1, 1, data).ok() ? 0 : 2;
          }) == Statuses{0, 0});
}

TEST_CASE("hosts: without a daemon, who fails to start is missed at the start, and why is told") {
    const std::uint32_t failing = GENERATE(0u, 1u, 2u);
    StoreServer server(3);
    spread(server, {3, 2});
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
        server.start(rank, [rank, failing](const KeyValueStore& store) {
            if (rank == failing) ::setenv("DLRT_TCP_INTERFACES", "nosuch7", 1);
            const Status status = Core::init_with_store(ThreadLevel::single, store);
            if (rank == failing) return says(status, Errc::argument, {"nosuch7"}) ? 0 : 1;
            // Those who share their host with another learn it of that one.
            std::vector<std::byte> data(8);
            if (status.ok()) return receive_bytes(any_source, 1, data).ok() ? 2 : 0;
            const bool is_told = says(status, Errc::wireup, {"has failed to start", "nosuch7"});
            return is_told ? 0 : 3;
        });
    }
    CHECK(server.serve() == Statuses(3, 0));
}

TEST_CASE("hosts: a child that a rank forked doesn't keep its connections", "[runtime]") {
    CHECK(run_job({2, 2}, [](std::uint32_t rank) {
              if (!exchange_all(8)) return 1;
              std::vector<std::byte> data(8);
              if (rank == 1) {
                  if (::fork() == 0) {
                      ::prctl(PR_SET_PDEATHSIG, 0);
                      be_late(3000);
                      ::_exit(0);
                  }
                  ::_exit(6);
              }
              const double limit_s = 2.5;
              timespec begin{}, end{};
              ::clock_gettime(CLOCK_MONOTONIC, &begin);
              if (receive_bytes(1, 2, data).code != Errc::peer_lost) return 2;
              ::clock_gettime(CLOCK_MONOTONIC, &end);
              if (static_cast<double>(end.tv_sec - begin.tv_sec) > limit_s) return 3;
              return Core::leave(1000).ok() ? 0 : 4;
          }) == Statuses{0, 6});
}

TEST_CASE("hosts: through daemons, addresses are asked for when they are needed", "[runtime]") {
    FakeDaemon daemon(4, 2);
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        daemon.start(rank, [] {
            for (int round = 0; round < 2; ++round) {
                if (!Core::init(ThreadLevel::single).ok()) {
                    std::fprintf(stderr, "init: %s\n", last_error_text().c_str());
                    return 1;
                }
                if (!exchange_all(1000)) return 2;
                if (!Core::finalize().ok()) return 3;
            }
            return 0;
        });
    }
    CHECK(daemon.serve() == Statuses{0, 0, 0, 0});
    CHECK(daemon.addresses.contains("0/tcp"));
    CHECK(daemon.addresses.contains("3/tcp/1"));
}

TEST_CASE("hosts: who waits for a rank that a daemon knows to be gone is told", "[runtime]") {
    FakeDaemon daemon(2, 2);
    daemon.start(0, [] {
        if (!Core::init(ThreadLevel::single).ok()) return 1;
        std::vector<std::byte> data(8);
        const Status lost = receive_bytes(1, 2, data);
        if (!says(lost, Errc::peer_lost, {"world rank 1", "on another host has ended"})) return 2;
        return Core::leave(1000).ok() ? 0 : 3;
    });
    daemon.start(1, [] { return Core::init(ThreadLevel::single).ok() ? 5 : 1; });
    daemon.on_end = [&](std::size_t child) {
        if (child == 1) daemon.segments[0].mark_departed_elsewhere(1);
    };
    CHECK(daemon.serve() == Statuses{0, 5});
}

}  // namespace dlrt
