// SPDX-License-Identifier: Apache-2.0
/// The first line of a daemon that something else than its head has started: where its words begin,
/// behind whatever a login writes, and of which version it is. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dlrt::launcher {

inline constexpr std::size_t preamble_bytes_max = 256;

/// "0.1.0, protocol 2": both sides must say the same.
[[nodiscard]] std::string daemon_version(std::string_view program_version);

/// The line, with its end. REQUIRES: `version` is short and has no line end in it.
[[nodiscard]] std::string preamble(std::string_view version);

/// What the bytes that have come so far are.
struct PreambleLook {
    std::size_t noise_bytes = 0;     ///< Before it, or before where it may begin.
    std::size_t preamble_bytes = 0;  ///< Behind the noise; 0: not all of it is there.
    std::string version;
};
[[nodiscard]] PreambleLook look_for_preamble(std::string_view bytes);

}  // namespace dlrt::launcher
