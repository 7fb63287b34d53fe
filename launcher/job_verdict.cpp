// SPDX-License-Identifier: Apache-2.0
#include "launcher/job_verdict.hpp"

#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {

void JobVerdict::set_cause(Cause cause) {
    if (is_failed()) return;
    cause_ = std::move(cause);
    // Of a host that could not start its ranks nothing is known to have run.
    const bool is_known = have_all_started_ || cause_.kind != CauseKind::host_failed;
    const std::uint32_t own_count = cause_.kind == CauseKind::rank_aborted ? 1 : 0;
    terminated_count_ = is_known ? rank_count_ - ended_count_ - own_count : 0;
}

std::vector<std::string> JobVerdict::lines() const {
    std::vector<std::string> lines;
    if (!unfinalized_ranks_.empty()) {
        const std::size_t others = unfinalized_ranks_.size() - 1;
        lines.push_back(fmt::format(
            "note: rank {}{} ended without finalizing dlrt", unfinalized_ranks_[0],
            others == 0 ? "" : fmt::format(" and {} other{}", others, others == 1 ? "" : "s")
        ));
    }
    if (std::string line = describe(cause_, terminated_count_); !line.empty()) {
        lines.push_back(std::move(line));
    }
    return lines;
}

}  // namespace dlrt::launcher
