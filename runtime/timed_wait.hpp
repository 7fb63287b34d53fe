// SPDX-License-Identifier: Apache-2.0
/// Waits that end at a time, and what there is to say then. Times are those of monotonic_ns().
/// Thread: as for the engine's waits.
#pragma once

#include "runtime/engine.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace dlrt {

/// As Engine::wait_any(); whether one was complete, or all inactive, in time.
[[nodiscard]] DLRT_CORE bool wait_any_until(
    Engine& engine, std::span<Request* const> requests, std::uint64_t deadline_ns
);

/// Waits until messages of this rank are all handed over; whether they were in time.
[[nodiscard]] bool hand_over_until(Engine& engine, std::uint64_t deadline_ns);

/// What an unfinished operation is, and which ranks haven't come to it as far as this host knows.
[[nodiscard]] DLRT_CORE std::string describe_wait(Engine& engine, const Request& request);

}  // namespace dlrt
