// SPDX-License-Identifier: Apache-2.0
/// Everything that the ranks of one host need, made before the first of them is started: programs
/// found, folders checked, descriptors opened, segment and map created. What is wrong shows here,
/// while nothing runs yet. The keeper, forked afterwards, only executes the plan.
#pragma once

#include "launcher/frame.hpp"
#include "launcher/memory_binding.hpp"
#include "launcher/output_files.hpp"
#include "launcher/process_defaults.hpp"
#include "runtime/base/fd.hpp"
#include "runtime/wireup/host_segment.hpp"
#include "runtime/wireup/job_map.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <variant>
#include <vector>

namespace dlrt::launcher {

/// A program, ready to be executed.
struct PreparedProgram {
    std::string path;
    std::string name;  ///< As the user wrote it.
    std::string working_directory;
    std::vector<std::string> arguments;
    std::vector<std::string> environment;
};

/// What the keeper starts one rank with. It closes the descriptors once the rank has them.
struct RankPlan {
    std::uint32_t rank = 0;
    std::size_t program_index = 0;
    std::vector<std::string> identity;  ///< NAME=value beside the program's environment.
    std::vector<std::uint32_t> cpus;
    MemoryPolicy memory;
    Fd stdin_source;  ///< Not open: /dev/null, or descriptor 0 when takes_own_stdin.
    bool takes_own_stdin = false;
    Fd output;
    Fd error_output;  ///< Not open: standard error is the same as standard output.
    Fd control;
    int doorbell = -1;  ///< Owned by the daemon, inherited by the keeper.
};

struct LaunchPlan {
    ProcessDefaults defaults;
    std::vector<PreparedProgram> programs;
    std::vector<RankPlan> ranks;  ///< By local rank.
    Fd null_device;
    int job_map = -1;
    int segment = -1;
    int first_descriptor = 100;
    bool outlives_failures = false;  ///< The other ranks go on when one fails.
    std::uint64_t heartbeat_ms = 0;
    bool is_head_elsewhere = false;  ///< On another host, where it can't end what is stopped here.
    Fd start_gate;  ///< For tests: a FIFO; the last rank is started once something stands in it.
    int cpu_listener = -1;  ///< Owned by the daemon: see CpuClaim. The keeper becomes its holder.
};

/// The daemon's side of one rank.
struct RankEnds {
    std::uint32_t rank = 0;
    std::size_t program_index = 0;  ///< Of LaunchPlan::programs.
    Fd output;
    Fd error_output;  ///< Not open where both streams are one pipe.
    Fd control;
    Fd doorbell;
    Fd stdin_target;  ///< Open only where input is forwarded.
    ino_t output_pipe = 0;
    ino_t error_pipe = 0;
};

struct PreparedJob {
    JobMap map;
    std::uint32_t host_index = 0;
    std::string token;
    std::string daemon_socket_name;
    Fd map_file;
    HostSegment segment;
    std::vector<RankEnds> ends;  ///< By local rank.
    LaunchPlan plan;
    OutputRule output = {};
    OutputFiles output_files = {};
    bool lends_cpus = false;  ///< See StartJob.
};

/// Of the job on this user's host, without the leading zero byte. Several hosts of a job may be one
/// machine.
[[nodiscard]] std::string daemon_socket_name(std::string_view job_id, std::uint32_t host_index);
[[nodiscard]] std::string status_socket_name(std::string_view job_id, std::uint32_t host_index);

[[nodiscard]] std::variant<PreparedJob, HostFailed> prepare_job(
    StartJob job, const ProcessDefaults& defaults
);

}  // namespace dlrt::launcher
