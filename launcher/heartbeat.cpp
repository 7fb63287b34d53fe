// SPDX-License-Identifier: Apache-2.0
#include "launcher/heartbeat.hpp"

#include <fmt/format.h>

namespace dlrt::launcher {

std::string silence_text(std::uint64_t heartbeat_ms) {
    const double seconds = static_cast<double>(heartbeat_ms * silent_beats_max) / 1000;
    return fmt::format("heard nothing from it for {:g} s", seconds);
}

}  // namespace dlrt::launcher
