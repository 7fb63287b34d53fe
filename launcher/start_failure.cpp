// SPDX-License-Identifier: Apache-2.0
#include "launcher/start_failure.hpp"

#include "launcher/rank_process.hpp"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace dlrt::launcher {

HostFailed start_failure(const PreparedJob& job, const KeeperReport& report) {
    const std::uint32_t rank = job.ends[report.local_rank].rank;
    const PreparedProgram& program = job.plan.programs[job.ends[report.local_rank].program_index];
    int exit_status = 125;
    std::string what = fmt::format("rank {} could not be started", rank);
    switch (static_cast<StartStage>(report.stage)) {
        case StartStage::exec:
            // The file is there: what is absent is what its first line or its header names.
            exit_status = report.value == ENOENT ? 127 : 126;
            what = fmt::format("program '{}' cannot be executed", program.name);
            if (report.value == ENOENT) what += " (its interpreter is missing)";
            break;
        case StartStage::working_directory:
            what = fmt::format("cannot use the working directory '{}'", program.working_directory);
            break;
        case StartStage::binding:
            what += " on its cpus";
            break;
        case StartStage::memory:
            what += " with its memory bound (valid without: --bind-memory first-touch)";
            break;
        case StartStage::fork:
        case StartStage::descriptors:
            break;
    }
    const std::string& host = job.map.hosts[job.host_index].name;
    return {exit_status, fmt::format("host {}: {}: {}", host, what, std::strerror(report.value))};
}

}  // namespace dlrt::launcher
