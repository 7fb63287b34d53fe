// SPDX-License-Identifier: Apache-2.0
/// What the user's shell gave us and ranks must get back: limit of descriptors, signal mask,
/// ignored signals. Captured first thing in main(), before the launcher changes them for itself.
#pragma once

#include "runtime/base/status.hpp"

#include <csignal>
#include <sys/resource.h>

namespace dlrt::launcher {

struct ProcessDefaults {
    rlimit descriptor_limit{};
    sigset_t signal_mask{};
    bool ignores_pipe = false;
    bool ignores_file_size = false;
    bool ignores_hangup = false;  ///< As under nohup.
};

[[nodiscard]] ProcessDefaults capture_process_defaults();

/// Between vfork and exec: only async-signal-safe calls.
void restore_process_defaults(const ProcessDefaults& defaults);

/// For a process of the launcher itself: writing to a closed pipe or beyond the limit of a file's
/// size is an error, not the end.
void ignore_write_signals();

/// Opens /dev/null on those of descriptors 0, 1, 2 that are closed, so that nothing else lands
/// there.
void fill_standard_descriptors();

/// Opens /dev/null on `descriptor`, in place of what was there.
void redirect_to_null(int descriptor);

/// Raises the soft limit of descriptors so that `needed` are to be had.
/// Errors: Errc::limit with the numbers.
Status raise_descriptor_limit(rlim_t needed);

}  // namespace dlrt::launcher
