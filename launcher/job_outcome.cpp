// SPDX-License-Identifier: Apache-2.0
#include "launcher/job_outcome.hpp"

#include <cctype>
#include <cstring>
#include <sys/wait.h>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

constexpr int timeout_status = 124;
constexpr int signal_status_base = 128;
constexpr int reader_gone_status = 141;  // As a shell reports SIGPIPE.
constexpr double ns_per_s = 1e9;

std::string rank_and_place(const Cause& cause) {
    return fmt::format("rank {} ({}, pid {})", cause.rank, cause.host, cause.pid);
}

std::string after(const Cause& cause) {
    return fmt::format("after {:.1f} s", static_cast<double>(cause.lifetime_ns) / ns_per_s);
}

}  // namespace

Cause make_cause(CauseKind kind, std::int64_t value, std::string text) {
    Cause cause;
    cause.kind = kind;
    cause.value = value;
    cause.text = std::move(text);
    return cause;
}

int exit_status_of(const Cause& cause) {
    const auto value = static_cast<int>(cause.value);
    switch (cause.kind) {
        case CauseKind::none:
            return 0;
        case CauseKind::rank_exited:
        case CauseKind::host_failed:
            return value;
        case CauseKind::rank_left:
            return 1;
        case CauseKind::rank_killed:
        case CauseKind::signalled:
            return signal_status_base + value;
        case CauseKind::rank_aborted:
            return (value & 0xff) != 0 ? value & 0xff : 1;
        case CauseKind::timed_out:
            return timeout_status;
        case CauseKind::reader_gone:
            return reader_gone_status;
    }
    return 1;
}

std::string describe(const Cause& cause, const Aftermath& aftermath) {
    std::string line;
    std::string_view others = "other";
    switch (cause.kind) {
        case CauseKind::none:
        case CauseKind::reader_gone:
            return "";
        case CauseKind::rank_exited:
            line = fmt::format(
                "{} exited with {} {}", rank_and_place(cause), cause.value, after(cause)
            );
            break;
        case CauseKind::rank_killed:
            line = fmt::format(
                "{} was killed by signal {} ({}{}) {}", rank_and_place(cause), cause.value,
                signal_name(static_cast<int>(cause.value)),
                cause.has_dumped_core ? ", core dumped" : "", after(cause)
            );
            if (!cause.remark.empty()) line += ", " + cause.remark;
            break;
        case CauseKind::rank_left:
            line = fmt::format(
                "{} exited with 0 {} without finalizing dlrt, but rank {} waited for it",
                rank_and_place(cause), after(cause), cause.value
            );
            break;
        case CauseKind::rank_aborted:
            line = fmt::format(
                "{} aborted the job with code {}{}{}", rank_and_place(cause), cause.value,
                cause.text.empty() ? "" : ": ", cause.text
            );
            break;
        case CauseKind::host_failed:
            line = cause.text;
            break;
        case CauseKind::timed_out:
            line = fmt::format(
                "the job took longer than its --timeout of {:g} s",
                static_cast<double>(cause.value) / 1000
            );
            others = "rank";
            break;
        case CauseKind::signalled:
            line = fmt::format(
                "{}got signal {} ({})", cause.text, cause.value,
                signal_name(static_cast<int>(cause.value))
            );
            others = "rank";
            break;
    }
    if (aftermath.failed_count > 0) {
        line += fmt::format(
            "; {} other{} failed as well", aftermath.failed_count,
            aftermath.failed_count == 1 ? "" : "s"
        );
    }
    if (aftermath.terminated_count == 0) return line;
    return fmt::format(
        "{}; {} {}{} terminated", line, aftermath.terminated_count, others,
        aftermath.terminated_count == 1 ? "" : "s"
    );
}

Cause cause_of_wait_status(int wait_status) {
    Cause cause;
    if (WIFSIGNALED(wait_status)) {
        cause.kind = CauseKind::rank_killed;
        cause.value = WTERMSIG(wait_status);
        cause.has_dumped_core = WCOREDUMP(wait_status);
    } else if (WEXITSTATUS(wait_status) != 0) {
        cause.kind = CauseKind::rank_exited;
        cause.value = WEXITSTATUS(wait_status);
    }
    return cause;
}

std::string describe_end(int wait_status) {
    if (!WIFSIGNALED(wait_status))
        return fmt::format("it exited with {}", WEXITSTATUS(wait_status));
    const int signal = WTERMSIG(wait_status);
    return fmt::format("it was killed by signal {} ({})", signal, signal_name(signal));
}

std::string signal_name(int signal) {
    const char* description = ::sigdescr_np(signal);
    if (description == nullptr) return fmt::format("signal {}", signal);
    std::string name = description;
    name[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(name[0])));
    return name;
}

}  // namespace dlrt::launcher
