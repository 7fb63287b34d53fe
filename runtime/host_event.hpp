// SPDX-License-Identifier: Apache-2.0
/// Something that another rank of the host writes into shared memory before it rings this rank's
/// doorbell. Engine::wait_for_host() waits for it. A value; the questions are asked by any thread
/// that makes progress and only load.
#pragma once

#include "runtime/engine_task.hpp"

namespace dlrt {

struct HostEvent {
    [[nodiscard]] bool has_come() const { return has_come_function(state); }
    /// Whether it can't come any more if that world rank has gone.
    [[nodiscard]] bool needs(WorldRank rank) const { return needs_function(state, rank); }

    /// Now and then while it waits; then it has come if others do something else.
    void compare_calls(EngineInside& inside) const { compare_calls_function(state, inside); }

    bool (*has_come_function)(const void* state);
    bool (*needs_function)(const void* state, WorldRank rank);
    void (*compare_calls_function)(const void* state, EngineInside& inside);
    const void* state;
};

}  // namespace dlrt
