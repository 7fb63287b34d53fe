// SPDX-License-Identifier: Apache-2.0
#include "launcher/head.hpp"

#include "launcher/caller_context.hpp"
#include "launcher/hosts_to_ask.hpp"
#include "launcher/job_head.hpp"
#include "launcher/job_outcome.hpp"
#include "launcher/job_report.hpp"
#include "launcher/local_daemon.hpp"
#include "runtime/base/error_text.hpp"

#include <optional>
#include <string>
#include <sys/prctl.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

constexpr int launcher_fault_status = 125;

/// What went wrong last, before there is a job.
int refuse(std::optional<JobReport> report) {
    print_own_line(last_error_text());
    if (report) {
        const Cause cause = make_cause(
            CauseKind::host_failed, launcher_fault_status, std::string(last_error_text())
        );
        if (!report->write(cause).ok()) print_own_line(last_error_text());
    }
    return launcher_fault_status;
}

}  // namespace

void print_own_line(std::string_view line) {
    std::string text = "dlrun: ";
    for (const char letter : line) {
        // What a user's word holds must not make two lines of one.
        if (static_cast<unsigned char>(letter) < ' ' || letter == '\x7f') {
            text += fmt::format("\\x{:02x}", static_cast<unsigned char>(letter));
        } else {
            text += letter;
        }
    }
    text += '\n';
    static_cast<void>(::write(STDERR_FILENO, text.data(), text.size()));
}

int run_head(const Options& options, const ProcessDefaults& defaults, std::string_view version) {
    ignore_write_signals();
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    Result<std::optional<JobReport>> report = JobReport::open(options);
    if (!report) return refuse({});
    Result<CallerContext> context = find_caller_context(options);
    if (!context) return refuse(std::move(*report));
    // A command's stream, its end and its words, and one to spare while it starts.
    constexpr rlim_t descriptors_per_host = 4;
    constexpr rlim_t descriptors_besides = 64;
    const std::size_t host_count = context->allocation.hosts.size();
    const rlim_t needed = host_count * descriptors_per_host + descriptors_besides;
    if (host_count > 1 && !raise_descriptor_limit(needed).ok()) return refuse(std::move(*report));
    const Result<RemoteWay> way = remote_way(options, *context, version, defaults);
    if (!way) return refuse(std::move(*report));
    std::optional<LocalDaemon> local;
    if (is_own_host_asked(options, context->allocation)) {
        Result<LocalDaemon> daemon = fork_local_daemon(defaults);
        if (!daemon) return refuse(std::move(*report));
        local = std::move(*daemon);
    }
    return Head(options, std::move(*context), defaults, std::move(*report), *way)
        .run(std::move(local));
}

}  // namespace dlrt::launcher
