// SPDX-License-Identifier: Apache-2.0
#include "launcher/liveness.hpp"

#include <chrono>
#include <utility>

namespace dlrt::launcher {

Liveness::Liveness(EventLoop& loop, std::uint64_t heartbeat_ms, Handlers handlers)
    : timer_(loop), heartbeat_ms_(heartbeat_ms), handlers_(std::move(handlers)) {
    wait();
}

void Liveness::stop() {
    timer_.cancel();
}

void Liveness::heard() {
    silent_beats_ = 0;
    is_excused_ = false;
}

void Liveness::wait() {
    timer_.start(std::chrono::milliseconds(heartbeat_ms_), [this] {
        handlers_.beat();
        if (!is_excused_ && ++silent_beats_ > silent_beats_max) return handlers_.on_silent();
        wait();
    });
}

}  // namespace dlrt::launcher
