// SPDX-License-Identifier: Apache-2.0
#include "runtime/timed_wait.hpp"

#include "runtime/base/clock.hpp"
#include "runtime/engine_state.hpp"
#include "runtime/engine_task.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace dlrt {
namespace {

/// Waits until `is_done` is true, which is asked by any thread.
template<typename Question>
bool wait_in_time(EngineState& state, const Question& is_done, std::uint64_t deadline_ns) {
    struct Wait {
        const Question* is_done;
        std::uint64_t deadline_ns;
        bool was_in_time = false;

        static bool is_over(void* self) {
            auto& wait = *static_cast<Wait*>(self);
            wait.was_in_time = (*wait.is_done)();
            return wait.was_in_time || monotonic_ns() >= wait.deadline_ns;
        }
    };
    Wait wait{&is_done, deadline_ns};
    state.waiter.wait({Wait::is_over, &wait, Condition::Asked::by_any_thread, deadline_ns});
    return wait.was_in_time;
}

/// Those that have been asked answer at once if they are in a call of dlrt.
constexpr std::uint64_t answer_time_ns = 300'000'000;

void await_reports(EngineState& state) {
    struct Wait {
        EngineState* state;
        std::uint64_t deadline_ns;

        static bool is_over(void* self) {
            const auto& wait = *static_cast<const Wait*>(self);
            return !wait.state->awaits_reports() || monotonic_ns() >= wait.deadline_ns;
        }
    };
    Wait wait{&state, monotonic_ns() + answer_time_ns};
    state.waiter.wait({Wait::is_over, &wait, Condition::Asked::by_any_thread, wait.deadline_ns});
}

}  // namespace

bool wait_any_until(Engine& engine, std::span<Request* const> requests, std::uint64_t deadline_ns) {
    const auto is_any_done = [requests] {
        bool has_active = false;
        for (const Request* request : requests) {
            if (request == nullptr || !is_active(*request)) continue;
            if (is_complete(*request)) return true;
            has_active = true;
        }
        return !has_active;
    };
    if (is_any_done()) return true;
    bool was_in_time = false;
    engine.look_inside([&](EngineInside& inside) {
        was_in_time = wait_in_time(inside.state(), is_any_done, deadline_ns);
    });
    return was_in_time;
}

bool hand_over_until(Engine& engine, std::uint64_t deadline_ns) {
    bool was_in_time = false;
    engine.look_inside([&](EngineInside& inside) {
        EngineState& state = inside.state();
        const auto is_handed_over = [&state] { return !state.has_outgoing(); };
        was_in_time = wait_in_time(state, is_handed_over, deadline_ns);
    });
    return was_in_time;
}

std::string describe_wait(Engine& engine, const Request& request) {
    std::string text;
    engine.look_inside([&](EngineInside& inside) {
        if (request.kind == RequestKind::task) {
            request.task().ask_others(inside);
            await_reports(inside.state());
            text = request.task().describe_wait(inside);
            return;
        }
        const bool is_receive = request.kind == RequestKind::receive;
        const WorldRank peer = request.key.source;
        text = fmt::format(
            "{} {}, tag {}", is_receive ? "receive from" : "send to",
            peer == any_source ? "any rank" : fmt::format("world rank {}", peer), request.key.tag
        );
    });
    return text;
}

}  // namespace dlrt
