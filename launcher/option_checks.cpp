// SPDX-License-Identifier: Apache-2.0
#include "launcher/option_checks.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/wireup/host_segment.hpp"

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

Status check_status_query(const ParseState& state) {
    const Options& options = state.options;
    const bool is_alone = options.blocks.size() == 1 && options.blocks[0].arguments.empty() &&
                          state.given_in_job.size() == 1 && state.given_in_block.empty();
    if (is_alone && state.app_file.empty()) return {};
    return fail(Errc::argument, "--status: shows a running job; it can't start one as well");
}

Status check_sizes(const ParseState& state) {
    const Options& options = state.options;
    std::uint64_t total = 0;
    for (const Block& block : options.blocks) {
        if (!block.rank_count && options.blocks.size() > 1) {
            return fail(
                Errc::argument, "-np: is missing for '{}'; with several programs each needs it",
                block.arguments[0]
            );
        }
        total += block.rank_count.value_or(0);
    }
    if (total > local_rank_count_max) {
        return fail(
            Errc::argument, "-np: {} ranks altogether are too many; valid are 1 to {}", total,
            local_rank_count_max
        );
    }
    return {};
}

Status check_hosts(const ParseState& state) {
    const HostChoice& hosts = state.options.hosts;
    if (!hosts.host_lists.empty() && !hosts.files.empty()) {
        return fail(
            Errc::argument, "{}: contradicts {}; valid is one of them",
            state.spelling_of("hostfile"), state.spelling_of("host")
        );
    }
    if (state.options.simulated_hosts == 0) return {};
    for (const std::string_view other : {"host", "hostfile", "launcher-cmd"}) {
        if (state.spelling_of(other).empty()) continue;
        return fail(
            Errc::argument, "{}: contradicts {}, whose hosts are all this one",
            state.spelling_of(other), state.spelling_of("sim-nodes")
        );
    }
    return {};
}

Status check_streams(const ParseState& state) {
    const OutputChoice& output = state.options.output;
    if (output.is_teed && output.file_pattern.empty()) {
        return fail(Errc::argument, "--tee: needs --output, which says what files there are");
    }
    return {};
}

Status check_times(const ParseState& state) {
    const Options& options = state.options;
    if (!options.warning_signal) return {};
    if (!options.timeout_ms) {
        return fail(Errc::argument, "--signal: needs --timeout, before which it is sent");
    }
    if (options.warning_signal->before_ms >= *options.timeout_ms) {
        return fail(
            Errc::argument, "--signal: {:g} s before a --timeout of {:g} s lie before the start",
            static_cast<double>(options.warning_signal->before_ms) / 1000,
            static_cast<double>(*options.timeout_ms) / 1000
        );
    }
    return {};
}

Status check_look(const ParseState& state) {
    const Options& options = state.options;
    if (options.is_dry_run && !options.report_file.empty()) {
        return fail(Errc::argument, "--report: nothing runs with --dry-run, so that it could tell");
    }
    return {};
}

}  // namespace

Status check_options(const ParseState& state) {
    if (state.options.action == Options::Action::show_status) return check_status_query(state);
    if (state.options.action != Options::Action::run) return {};
    for (const auto check : {check_sizes, check_hosts, check_streams, check_times, check_look}) {
        if (const Status status = check(state); !status.ok()) return status;
    }
    return {};
}

}  // namespace dlrt::launcher
