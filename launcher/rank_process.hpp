// SPDX-License-Identifier: Apache-2.0
/// Turns the calling process's child into a rank.
///
/// By vfork: as quick as posix_spawn, which can set neither the parent-death signal nor limits nor
/// cpus. The caller must be single-threaded, and its death kills the rank.
#pragma once

#include "launcher/memory_binding.hpp"
#include "launcher/process_defaults.hpp"

#include <array>
#include <cstdint>
#include <sched.h>
#include <sys/types.h>

namespace dlrt::launcher {

inline constexpr std::size_t rank_descriptor_count = 4;

/// Pointers are borrowed for the call.
struct RankStart {
    const char* path = nullptr;
    char* const* arguments = nullptr;
    char* const* shell_arguments = nullptr;  ///< For a script without "#!": /bin/sh, path, the
                                             ///< rest.
    char* const* environment = nullptr;
    const char* working_directory = nullptr;
    std::array<int, 3> standard_descriptors{};
    std::array<int, rank_descriptor_count> passed_descriptors{};
    int first_target = 100;  ///< Passed descriptors get these numbers. REQUIRES: none of the above.
    const cpu_set_t* cpus = nullptr;  ///< Null: not bound.
    std::size_t cpus_size_bytes = 0;
    const MemoryPolicy* memory = nullptr;
    const ProcessDefaults* defaults = nullptr;
};

enum class StartStage : std::uint32_t {
    fork = 0,
    descriptors,
    binding,
    memory,
    working_directory,
    exec,
};

struct StartResult {
    pid_t pid = -1;  ///< -1: did not start.
    int error = 0;   ///< errno
    StartStage stage = StartStage::fork;
};

/// Returns once the program has been executed, or has failed to be.
[[nodiscard]] StartResult start_rank(const RankStart& start);

}  // namespace dlrt::launcher
