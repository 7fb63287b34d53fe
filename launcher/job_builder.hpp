// SPDX-License-Identifier: Apache-2.0
/// From the command line and the caller's surroundings to what a daemon is told. Pure but for the
/// random numbers of id and token, which the caller makes.
#pragma once

#include "launcher/caller_context.hpp"
#include "launcher/frame.hpp"
#include "launcher/options.hpp"
#include "launcher/placement.hpp"
#include "runtime/base/result.hpp"
#include "runtime/wireup/job_map.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dlrt::launcher {

struct BuiltJob {
    StartJob start;  ///< For host 0; the others' differ in host_index.
    Placement placement;
    std::vector<std::uint32_t> places;     ///< By host of the placement: which of the allocation.
    std::vector<HostTopology> topologies;  ///< By host of the placement; empty: not known.
    JobMap map;
    std::vector<std::string> warnings;
};

/// `facts` are by host of the caller's allocation; hosts that weren't asked have none.
/// Errors: Errc::argument with the line to print.
[[nodiscard]] Result<BuiltJob> build_job(
    const Options& options, const CallerContext& context,
    std::span<const std::optional<HostFacts>> facts
);

}  // namespace dlrt::launcher
