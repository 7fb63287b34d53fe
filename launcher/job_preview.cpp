// SPDX-License-Identifier: Apache-2.0
#include "launcher/job_preview.hpp"

#include "launcher/display.hpp"
#include "launcher/rank_programs.hpp"
#include "launcher/topology_text.hpp"

#include <algorithm>
#include <cerrno>
#include <string>
#include <unistd.h>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

/// To standard output, before any rank writes there.
void print_text(std::string_view text) {
    while (!text.empty()) {
        const ssize_t put = ::write(STDOUT_FILENO, text.data(), text.size());
        if (put < 0 && errno != EINTR) return;
        text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(put, 0)));
    }
}

std::string overview(const Options& options, const BuiltJob& job) {
    std::string hosts;
    std::uint32_t cpu_count = 0;
    for (const PlacedHost& host : job.placement.hosts) {
        hosts += (hosts.empty() ? "" : ", ") + host.name;
        cpu_count += host.usable_cpu_count;
    }
    return fmt::format(
        "job {}: {} rank{} on {}, {} usable cpu{}{}", job.map.job_id, job.map.size(),
        job.map.size() == 1 ? "" : "s", hosts, cpu_count, cpu_count == 1 ? "" : "s",
        options.rank_count() ? "" : " (no -np: one rank for each)"
    );
}

}  // namespace

void preview_job(
    const Options& options, const BuiltJob& job, const std::function<void(std::string_view)>& say
) {
    for (const std::string& warning : job.warnings) say("warning: " + warning);
    const std::vector<std::string> commands = program_lines(job.map, job.start);
    if (options.is_verbose) {
        say(overview(options, job));
        for (const std::string& line : commands) say(line);
    }
    if (options.is_dry_run && options.display.is_empty()) {
        for (const std::string& line : commands) print_text(line + "\n");
    }
    print_text(render_display(options, job.placement, job.topologies));
    if (!options.reports_bindings) return;
    for (const std::string& line :
         binding_lines(job.placement, job.topologies, options.memory_binding)) {
        say(line);
    }
}

}  // namespace dlrt::launcher
