// SPDX-License-Identifier: Apache-2.0
/// Why a job ended, what dlrun says about it, and its exit status. Pure; the first cause in time
/// wins.
#pragma once

#include <cstdint>
#include <string>

namespace dlrt::launcher {

enum class CauseKind : std::uint8_t {
    none,          ///< Every rank ended with 0.
    rank_exited,   ///< `value` is its exit status, not 0.
    rank_killed,   ///< `value` is the signal.
    rank_left,     ///< It exited with 0 without finalizing, and the rank `value` waited for it.
    rank_aborted,  ///< `value` is the code that it gave, `text` its message.
    host_failed,   ///< `value` is the exit status, `text` says all.
    timed_out,     ///< `value` is the limit in ms.
    signalled,     ///< dlrun got the signal `value`, or who `text` names: "the keeper on h ".
    reader_gone,   ///< Whoever read dlrun's output closed it.
};

struct Cause {
    CauseKind kind = CauseKind::none;
    std::int64_t value = 0;
    std::string text;
    // Of the rank, where there is one:
    std::uint32_t rank = 0;
    std::string host;
    std::int32_t pid = 0;
    std::uint64_t lifetime_ns = 0;
    bool has_dumped_core = false;
    std::string remark;  ///< Why it may have ended so: "likely because memory ran out".
};

/// One that is no rank's.
[[nodiscard]] Cause make_cause(CauseKind kind, std::int64_t value, std::string text = {});

[[nodiscard]] int exit_status_of(const Cause& cause);

/// What became of the other ranks.
struct Aftermath {
    std::uint32_t failed_count = 0;      ///< Failed by themselves, after the first.
    std::uint32_t terminated_count = 0;  ///< Were ended by dlrun because of the cause.
};

/// One line without "dlrun: "; empty where nothing needs to be said.
[[nodiscard]] std::string describe(const Cause& cause, const Aftermath& aftermath);

/// The cause that a rank's end is, by what waitpid() reported; kind none for exit status 0.
[[nodiscard]] Cause cause_of_wait_status(int wait_status);

/// "it was killed by signal 9 (killed)", "it exited with 3": of a process of the launcher.
[[nodiscard]] std::string describe_end(int wait_status);

/// "segmentation fault"
[[nodiscard]] std::string signal_name(int signal);

}  // namespace dlrt::launcher
