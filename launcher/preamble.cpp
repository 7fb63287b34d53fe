// SPDX-License-Identifier: Apache-2.0
#include "launcher/preamble.hpp"

#include "launcher/frame.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

/// No shell writes that by itself.
constexpr std::string_view magic(
    "\x01\x02"
    "dlrund\x03 "
);

}  // namespace

std::string daemon_version(std::string_view program_version) {
    return fmt::format("{}, protocol {}", program_version, frame_protocol_version);
}

std::string preamble(std::string_view version) {
    return fmt::format("{}{}\n", magic, version);
}

PreambleLook look_for_preamble(std::string_view bytes) {
    for (std::size_t at = bytes.find(magic[0]); at != std::string_view::npos;
         at = bytes.find(magic[0], at + 1)) {
        const std::string_view rest = bytes.substr(at);
        const std::size_t known = std::min(rest.size(), magic.size());
        if (rest.substr(0, known) != magic.substr(0, known)) continue;
        const std::size_t end = rest.substr(0, preamble_bytes_max).find('\n');
        if (end == std::string_view::npos) {
            if (rest.size() < preamble_bytes_max) return {at, 0, ""};
            continue;
        }
        return {at, end + 1, std::string(rest.substr(magic.size(), end - magic.size()))};
    }
    return {bytes.size(), 0, ""};
}

}  // namespace dlrt::launcher
