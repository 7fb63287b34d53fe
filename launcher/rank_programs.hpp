// SPDX-License-Identifier: Apache-2.0
/// The command line of each rank: its block's program, within the commands that wrap it. Pure.
#pragma once

#include "launcher/frame.hpp"
#include "launcher/options.hpp"
#include "runtime/base/result.hpp"
#include "runtime/wireup/job_map.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dlrt::launcher {

struct RankPrograms {
    std::vector<Program> programs;               ///< Each that differs, once.
    std::vector<std::uint32_t> program_of_rank;  ///< By world rank.
};

/// `of_blocks` are the programs without wraps. Errors: Errc::argument for wraps of ranks that run
/// another program, or don't exist.
[[nodiscard]] Result<RankPrograms> wrap_programs(
    std::span<const Block> blocks, const std::vector<Program>& of_blocks, const JobMap& map
);

/// "ranks 0-1 on h: ./app 'a b'", for each program on each host.
[[nodiscard]] std::vector<std::string> program_lines(const JobMap& map, const StartJob& start);

/// As a shell would read it again.
[[nodiscard]] std::string command_text(std::span<const std::string> arguments);

}  // namespace dlrt::launcher
