// SPDX-License-Identifier: Apache-2.0
/// The command line of each rank: its block's program, within the commands that wrap it. Pure.
#pragma once

#include "launcher/frame.hpp"
#include "launcher/options.hpp"
#include "runtime/base/result.hpp"
#include "runtime/wireup/job_map.hpp"

#include <cstdint>
#include <span>
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

}  // namespace dlrt::launcher
