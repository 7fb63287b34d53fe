// SPDX-License-Identifier: Apache-2.0
/// How head, daemon and keeper tell that they live, and when one counts as lost. Beats of the
/// listener's own are counted, not time: after a host or a job was frozen as a whole everybody has
/// one late beat, and nobody is lost.
#pragma once

#include <cstdint>
#include <string>

namespace dlrt::launcher {

inline constexpr std::uint64_t heartbeat_default_ms = 5000;
/// Six beats of 5 s: 30 s.
inline constexpr std::uint32_t silent_beats_max = 6;

/// "heard nothing from it for 30 s"
[[nodiscard]] std::string silence_text(std::uint64_t heartbeat_ms);

}  // namespace dlrt::launcher
