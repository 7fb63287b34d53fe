// SPDX-License-Identifier: Apache-2.0
/// What a call of dlrt.h costs over the core: 8 bytes to oneself through both, interleaved, the
/// minimum over rounds. Prints nanoseconds; fails beyond ten times what they should be.
#include "dlrt.h"

#include "runtime/base/clock.hpp"
#include "runtime/core.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace {

constexpr int pairs_per_round = 2000;
constexpr int round_count = 300;
constexpr double limit_ns = 50;

/// Nanoseconds per call; a pair of calls is a send and its receive.
template<typename Pair>
double time_round(const Pair& pair) {
    const std::uint64_t start = dlrt::monotonic_ns();
    for (int i = 0; i < pairs_per_round; ++i) pair();
    return static_cast<double>(dlrt::monotonic_ns() - start) / (2.0 * pairs_per_round);
}

struct Figures {
    double core_ns = 1e9;
    double surface_ns = 1e9;
};

template<typename CorePair, typename SurfacePair>
Figures compare(const CorePair& core_pair, const SurfacePair& surface_pair) {
    Figures figures;
    for (int round = 0; round < round_count; ++round) {
        figures.core_ns = std::min(figures.core_ns, time_round(core_pair));
        figures.surface_ns = std::min(figures.surface_ns, time_round(surface_pair));
    }
    return figures;
}

bool report(const char* what, const Figures& figures) {
    const double overhead_ns = figures.surface_ns - figures.core_ns;
    std::printf(
        "%s: core %.1f ns, dlrt.h %.1f ns, overhead %.1f ns per call\n", what, figures.core_ns,
        figures.surface_ns, overhead_ns
    );
    return overhead_ns <= limit_ns;
}

Figures blocking() {
    dlrt::Core& core = *dlrt::Core::get();
    dlrt::Engine& engine = core.engine();
    const dlrt::Route route{core.world()->user_context(), 0, 1};
    const dlrt::LayoutRef& layout = dlrt::Layout::of(dlrt::ElementType::float64);
    double outgoing = 1, incoming = 0;
    dlrt::MessageStatus found;
    dlrt_status status;
    return compare(
        [&] {
            static_cast<void>(engine.send(dlrt::SendMode::standard, route, {&outgoing, 1, &layout})
            );
            static_cast<void>(engine.recv(route, {&incoming, 1, &layout}, found));
        },
        [&] {
            dlrt_send(&outgoing, 1, DLRT_DOUBLE, 0, 1, DLRT_COMM_WORLD);
            dlrt_recv(&incoming, 1, DLRT_DOUBLE, 0, 1, DLRT_COMM_WORLD, &status);
        }
    );
}

/// Four calls a pair: both starts and both waits.
Figures nonblocking() {
    dlrt::Core& core = *dlrt::Core::get();
    dlrt::Engine& engine = core.engine();
    const dlrt::Route route{core.world()->user_context(), 0, 1};
    const dlrt::LayoutRef& layout = dlrt::Layout::of(dlrt::ElementType::float64);
    double outgoing = 1, incoming = 0;
    dlrt_status status;
    Figures figures = compare(
        [&] {
            dlrt::Request* const send = engine.isend(
                dlrt::SendMode::standard, route, {&outgoing, 1, &layout}
            );
            dlrt::Request* const receive = engine.irecv(route, {&incoming, 1, &layout});
            engine.wait(send);
            engine.wait(receive);
            engine.release(send);
            engine.release(receive);
        },
        [&] {
            dlrt_request send, receive;
            dlrt_isend(&outgoing, 1, DLRT_DOUBLE, 0, 1, DLRT_COMM_WORLD, &send);
            dlrt_irecv(&incoming, 1, DLRT_DOUBLE, 0, 1, DLRT_COMM_WORLD, &receive);
            dlrt_wait(&send, nullptr);
            dlrt_wait(&receive, &status);
        }
    );
    figures.core_ns /= 2;
    figures.surface_ns /= 2;
    return figures;
}

}  // namespace

int main() {
    if (dlrt_init() != DLRT_OK) return 1;
    const bool is_fast = report("send and recv", blocking());
    const bool is_fast_too = report("isend, irecv and wait", nonblocking());
    return dlrt_finalize() == DLRT_OK && is_fast && is_fast_too ? 0 : 1;
}
