// SPDX-License-Identifier: Apache-2.0
/// The short ways of a small message or collective, each in a function of its own that
/// message_paths_test.py has valgrind count. One thread and one process throughout, so that nothing
/// waits and every run takes the same instructions.
///
/// Usage: message_paths PATH   Prints how many operations its function was called for.
#include "dlrt.h"

#include "runtime/core.hpp"
#include "runtime/host_collective.hpp"
#include "tests/runtime/engine_cluster.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace dlrt::testing {
namespace {

constexpr int round_count = 200;
constexpr std::size_t window = 16;
constexpr Tag tag = 7;

void expect(bool is_good) {
    if (!is_good) std::abort();
}

}  // namespace

// What is counted. With C names, which valgrind is given.
extern "C" {

[[gnu::noinline]] void counted_engine_send(Engine& engine, const Route& to, double& value) {
    const ConstBuffer buffer{&value, 1, &Layout::of(ElementType::float64)};
    expect(engine.send(SendMode::standard, to, buffer).ok());
}

[[gnu::noinline]] void counted_engine_recv(Engine& engine, const Route& from, double& value) {
    MessageStatus status;
    const Buffer buffer{&value, 1, &Layout::of(ElementType::float64)};
    expect(engine.recv(from, buffer, status).ok());
}

[[gnu::noinline]] Request* counted_engine_isend(Engine& engine, const Route& to, double& value) {
    return engine.isend(SendMode::standard, to, {&value, 1, &Layout::of(ElementType::float64)});
}

[[gnu::noinline]] Request* counted_engine_irecv(Engine& engine, const Route& from, double& value) {
    return engine.irecv(from, {&value, 1, &Layout::of(ElementType::float64)});
}

[[gnu::noinline]] void counted_engine_progress(Engine& engine) {
    static_cast<void>(engine.progress());
}

[[gnu::noinline]] void counted_engine_wait(Engine& engine, std::span<Request* const> requests) {
    engine.wait_all(requests);
    engine.release_all(requests);
}

[[gnu::noinline]] void counted_send(const double* value) {
    expect(dlrt_send(value, 1, DLRT_DOUBLE, 0, tag, DLRT_COMM_WORLD) == DLRT_OK);
}

[[gnu::noinline]] void counted_recv(double* value) {
    dlrt_status status;
    expect(dlrt_recv(value, 1, DLRT_DOUBLE, 0, tag, DLRT_COMM_WORLD, &status) == DLRT_OK);
}

[[gnu::noinline]] void counted_isend(const double* value, dlrt_request* request) {
    expect(dlrt_isend(value, 1, DLRT_DOUBLE, 0, tag, DLRT_COMM_WORLD, request) == DLRT_OK);
}

[[gnu::noinline]] void counted_irecv(double* value, dlrt_request* request) {
    expect(dlrt_irecv(value, 1, DLRT_DOUBLE, 0, tag, DLRT_COMM_WORLD, request) == DLRT_OK);
}

[[gnu::noinline]] void counted_waitall(std::array<dlrt_request, window>& requests) {
    constexpr auto count = static_cast<std::int32_t>(window);
    expect(dlrt_waitall(count, requests.data(), nullptr) == DLRT_OK);
}

[[gnu::noinline]] void counted_give_cell(HostCollective& host, const HostCollective::Plan& plan) {
    expect(host.run_planned(plan).ok());
}

[[gnu::noinline]] void counted_take_cell(HostCollective& host, const HostCollective::Plan& plan) {
    expect(host.run_planned(plan).ok());
}

}  // extern "C"

namespace {

/// Collectives over cells between the same two: who gives never waits for who takes, as long as
/// they take turns.
class Cells {
  public:
    Cells() : cluster_(2, {}), group_(std::make_shared<const Group>(std::vector<WorldRank>{0, 1})) {
        for (std::int32_t rank = 0; rank < 2; ++rank) {
            hosts_.push_back(std::make_unique<HostCollective>(
                cluster_.engine(rank), ContextId{40}, group_, rank, 0
            ));
        }
    }
    void broadcast() { repeat(coll::Collective::bcast, 0); }
    /// 0 gives to 1, who sums.
    void reduce() { repeat(coll::Collective::reduce, 1); }

  private:
    void repeat(coll::Collective collective, std::int32_t root) {
        HostCall call;
        call.collective = collective;
        call.root = root;
        call.size_bytes = sizeof(double);
        call.element = ElementType::float64;
        std::array<double, 2> given{1, 2}, taken{};
        const HostCollective::Plan* plans[2];
        for (std::size_t rank = 0; rank < 2; ++rank) {
            if (collective == coll::Collective::reduce) {
                call.reducer = &sum_;
                call.input = reinterpret_cast<const std::byte*>(&given[rank]);
            }
            const bool has_output = collective == coll::Collective::bcast || rank == 1;
            call.output = has_output ? reinterpret_cast<std::byte*>(&taken[rank]) : nullptr;
            expect(hosts_[rank]->run(call).ok());
            hosts_[rank]->set_repeatable(true);
            plans[rank] = hosts_[rank]->repeatable();
        }
        for (int round = 0; round < round_count; ++round) {
            counted_give_cell(*hosts_[0], *plans[0]);
            counted_take_cell(*hosts_[1], *plans[1]);
        }
        if (collective == coll::Collective::reduce) expect(taken[1] == 3);
    }

    Cluster cluster_;
    GroupRef group_;
    std::vector<std::unique_ptr<HostCollective>> hosts_;
    const Reducer sum_{ReduceOp::sum, ElementType::float64};
};

/// Two ranks of a host, both in this process: what one posts the other finds when it is asked.
class Pair {
  public:
    Pair() : cluster_(2, {}) {}

    /// One message a round, posted before it is received.
    void exchange() {
        for (int round = 0; round < round_count; ++round) {
            counted_engine_send(cluster_.engine(0), {test_context, 1, tag}, outgoing_);
            counted_engine_recv(cluster_.engine(1), {test_context, 0, tag}, incoming_);
        }
    }
    /// A window a round; `idle_count` receives that never match are posted before.
    void exchange_windows(int idle_count) {
        Engine& sender = cluster_.engine(0);
        Engine& receiver = cluster_.engine(1);
        for (int i = 0; i < idle_count; ++i) {
            static_cast<void>(receiver.irecv(
                {test_context, 0, tag + 1 + i}, {&incoming_, 1, &Layout::of(ElementType::float64)}
            ));
        }
        std::array<Request*, window> sends{}, receives{};
        for (int round = 0; round < round_count; ++round) {
            for (Request*& receive : receives) {
                receive = counted_engine_irecv(receiver, {test_context, 0, tag}, incoming_);
            }
            for (Request*& send : sends) {
                send = counted_engine_isend(sender, {test_context, 1, tag}, outgoing_);
            }
            while (!is_complete(*receives.back())) counted_engine_progress(receiver);
            counted_engine_wait(sender, sends);
            sender.progress();
            receiver.wait_all(receives);
            receiver.release_all(receives);
        }
    }

  private:
    static constexpr ContextId test_context{40};

    Cluster cluster_;
    double outgoing_ = 1, incoming_ = 0;
};

/// Messages to oneself through dlrt.h, and the same through the core that it stands on.
class Surface {
  public:
    Surface() { expect(dlrt_init() == DLRT_OK); }
    Surface(const Surface&) = delete;
    Surface& operator=(const Surface&) = delete;
    ~Surface() { dlrt_finalize(); }

    void exchange() {
        for (int round = 0; round < round_count; ++round) {
            counted_send(&outgoing_);
            counted_recv(&incoming_);
        }
    }
    void exchange_windows() {
        std::array<dlrt_request, window> sends{}, receives{};
        for (int round = 0; round < round_count; ++round) {
            for (dlrt_request& receive : receives) counted_irecv(&incoming_, &receive);
            for (dlrt_request& send : sends) counted_isend(&outgoing_, &send);
            counted_waitall(sends);
            dlrt_waitall(static_cast<std::int32_t>(window), receives.data(), nullptr);
        }
    }
    void exchange_in_core() {
        Core& core = *Core::get();
        const Route route{core.world()->user_context(), 0, tag};
        for (int round = 0; round < round_count; ++round) {
            counted_engine_send(core.engine(), route, outgoing_);
            counted_engine_recv(core.engine(), route, incoming_);
        }
    }

  private:
    double outgoing_ = 1, incoming_ = 0;
};

/// Runs what the counted function is called in; yields for how many messages it was.
int run(const std::string& path) {
    constexpr int windowed_count = round_count * static_cast<int>(window);
    if (path == "shm") {
        Pair().exchange();
        return round_count;
    }
    if (path == "shm_windows" || path == "shm_windows_behind_100") {
        Pair().exchange_windows(path == "shm_windows" ? 0 : 100);
        return windowed_count;
    }
    if (path == "cells_broadcast") {
        Cells().broadcast();
        return round_count;
    }
    if (path == "cells_reduce") {
        Cells().reduce();
        return round_count;
    }
    if (path == "self") {
        Surface().exchange();
        return round_count;
    }
    if (path == "self_windows") {
        Surface().exchange_windows();
        return windowed_count;
    }
    if (path == "self_in_core") {
        Surface().exchange_in_core();
        return round_count;
    }
    return 0;
}

}  // namespace
}  // namespace dlrt::testing

int main(int argument_count, char** arguments) {
    // What the first use of a type makes is no message's cost.
    static_cast<void>(dlrt::Layout::of(dlrt::ElementType::byte));
    const int messages = argument_count == 2 ? dlrt::testing::run(arguments[1]) : 0;
    std::printf("%d\n", messages);
    return messages != 0 ? 0 : 2;
}
