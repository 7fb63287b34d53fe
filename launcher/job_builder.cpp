// SPDX-License-Identifier: Apache-2.0
#include "launcher/job_builder.hpp"

#include "launcher/host_facts.hpp"
#include "launcher/output_rule.hpp"
#include "launcher/own_host.hpp"
#include "launcher/placer.hpp"
#include "launcher/rank_environment.hpp"
#include "launcher/rank_programs.hpp"
#include "launcher/setting_check.hpp"
#include "launcher/topology_need.hpp"
#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

Result<std::string> absolute_folder(
    const Block& block, const CallerContext& context, std::string_view host_name
) {
    if (block.working_directory.starts_with('/')) return block.working_directory;
    if (context.working_directory.empty()) {
        return fail(
            Errc::argument, "host {}: the current folder has been deleted; valid is --wdir FOLDER",
            host_name
        );
    }
    if (block.working_directory.empty()) return context.working_directory;
    return fmt::format("{}/{}", context.working_directory, block.working_directory);
}

Result<Program> build_program(
    const Block& block, const CallerContext& context, std::string_view host_name
) {
    Result<std::string> folder = absolute_folder(block, context, host_name);
    if (!folder) return folder.error();
    Program program;
    program.arguments = block.arguments;
    program.environment = program_environment(
        context.environment, block.environment_base, block.environment_edits
    );
    if (!block.prefix.empty()) {
        const bool is_absolute = block.prefix.starts_with('/');
        add_prefix(
            program.environment, is_absolute
                                     ? block.prefix
                                     : fmt::format("{}/{}", context.working_directory, block.prefix)
        );
    }
    program.working_directory = std::move(*folder);
    if (block.environment_base != EnvironmentBase::none) {
        // The caller's own word for the current folder may go through links, as the user knows it.
        const std::string_view known = find_variable(context.environment, "PWD");
        const bool is_known = block.working_directory.empty() && !known.empty();
        const std::string folder_name(is_known ? known : program.working_directory);
        set_variable(program.environment, "PWD", folder_name);
    }
    return program;
}

void warn_of_missing_variables(
    const Block& block, const CallerContext& context, std::vector<std::string>& warnings
) {
    for (const EnvironmentEdit& edit : block.environment_edits) {
        if (edit.kind != EnvironmentEdit::Kind::forward) continue;
        if (has_match(context.environment, edit.name)) continue;
        warnings.push_back(fmt::format("-x: {} is not set here, so it isn't passed on", edit.name));
    }
}

/// Ranks that options name beside those that run wrapped programs.
Status check_named_ranks(const Options& options, std::uint32_t size) {
    const StdinChoice& input = options.stdin_choice;
    if (input.kind != StdinChoice::Kind::none && input.rank >= size) {
        return fail(
            Errc::argument, "--stdin: the job has no such rank; valid are 0 to {}", size - 1
        );
    }
    const std::optional<RankSet>& shown = options.output.shown_ranks;
    if (shown && shown->last() >= size) {
        return fail(
            Errc::argument, "--show: the job has no rank {}; valid are 0 to {}", shown->last(),
            size - 1
        );
    }
    return {};
}

/// What the daemon of this host found, as the placement wants it.
HostOffer offer_of(const HostFacts& facts, const Options& options) {
    HostOffer offer;
    offer.topology = facts.topology;
    offer.usable_cpu_count = facts.usable_cpu_count;
    std::ranges::copy_if(facts.cpus, std::back_inserter(offer.cpus), [&](std::uint32_t cpu) {
        return std::ranges::find(facts.busy_cpus, cpu) == facts.busy_cpus.end();
    });
    offer.busy_cpu_count = static_cast<std::uint32_t>(facts.cpus.size() - offer.cpus.size());
    if (options.simulated_hosts > 0) {
        offer.unbound_reason = "simulated hosts share this machine's cpus";
    } else if (facts.cpus.empty()) {
        offer.unbound_reason = fmt::format(
            "a quota of {} cpu{} leaves it to the kernel which ones are used",
            facts.usable_cpu_count, facts.usable_cpu_count == 1 ? "" : "s"
        );
    } else if (offer.cpus.empty()) {
        offer.unbound_reason = "other jobs hold all of its cpus";
    }
    return offer;
}

Result<Placement> place(
    const Options& options, const Allocation& allocation,
    std::span<const std::optional<HostFacts>> facts
) {
    std::vector<std::optional<HostOffer>> offers(allocation.hosts.size());
    for (std::size_t i = 0; i < offers.size(); ++i) {
        if (facts[i]) offers[i] = offer_of(*facts[i], options);
    }
    return place_ranks(options, allocation, offers);
}

/// Which of the allocation each host of the placement is.
std::vector<std::uint32_t> places_of(const Placement& placement, const Allocation& allocation) {
    std::vector<std::uint32_t> places;
    for (const PlacedHost& host : placement.hosts) {
        const auto found = std::ranges::find(allocation.hosts, host.name, &AllocatedHost::name);
        places.push_back(static_cast<std::uint32_t>(found - allocation.hosts.begin()));
    }
    return places;
}

/// Where programs that want to meet find rank 0's host. The name in a list may be only ssh's.
std::string master_address(
    const Allocation& allocation, const std::vector<std::uint32_t>& places,
    std::span<const std::optional<HostFacts>> facts
) {
    const AllocatedHost& first = allocation.hosts[places[0]];
    if (places.size() == 1 && first.is_own) return "127.0.0.1";
    const auto is_global = [](const std::string& address) {
        return !address.empty() && address.find('%') == std::string::npos;
    };
    if (!first.is_own) {
        const std::optional<HostFacts>& there = facts[places[0]];
        return there && is_global(there->address) ? there->address : first.name;
    }
    // As the others see this host; who came in by another one saw that.
    const OwnHost own_host = find_own_host();
    for (const std::uint32_t place : places) {
        if (!facts[place] || !is_global(facts[place]->caller_address)) continue;
        if (own_host.is_called(facts[place]->caller_address)) return facts[place]->caller_address;
    }
    return first.name;
}

/// A rank can be given dlrun's own input only where dlrun runs.
StdinKind stdin_kind_of(const Options& options, const CallerContext& context, const BuiltJob& job) {
    if (context.stdin_kind != StdinKind::descriptor) return context.stdin_kind;
    const std::uint32_t host = job.map.ranks[options.stdin_choice.rank].host_index;
    return context.allocation.hosts[job.places[host]].is_own ? StdinKind::descriptor
                                                             : StdinKind::forwarded;
}

}  // namespace

Result<BuiltJob> build_job(
    const Options& options, const CallerContext& context,
    std::span<const std::optional<HostFacts>> facts
) {
    const Allocation& allocation = context.allocation;
    Result<Placement> placement = place(options, allocation, facts);
    if (!placement) return placement.error();
    BuiltJob job;
    job.placement = std::move(*placement);
    job.places = places_of(job.placement, allocation);
    for (const std::uint32_t place : job.places) {
        job.topologies.push_back(facts[place] ? facts[place]->topology : HostTopology());
    }
    job.map = job.placement.job_map(context.job_id);
    if (const Status status = check_named_ranks(options, job.map.size()); !status.ok())
        return status;
    Result<OutputRule> output = make_output_rule(
        options.output,
        {context.working_directory, static_cast<std::uint32_t>(job.map.hosts.size()),
         context.is_stdin_terminal}
    );
    if (!output) return output.error();
    job.start.output = std::move(*output);
    std::vector<Program> programs;
    for (const Block& block : options.blocks) {
        Result<Program> program = build_program(block, context, local_host_name());
        if (!program) return program.error();
        warn_of_missing_variables(block, context, job.warnings);
        const Status status = check_settings(program->environment, job.warnings);
        if (!status.ok()) return status;
        programs.push_back(std::move(*program));
    }
    const std::vector<std::string>& more = job.placement.warnings;
    job.warnings.insert(job.warnings.end(), more.begin(), more.end());
    Result<RankPrograms> wrapped = wrap_programs(options.blocks, programs, job.map);
    if (!wrapped) return wrapped.error();
    job.start.programs = std::move(wrapped->programs);
    job.start.program_of_rank = std::move(wrapped->program_of_rank);
    job.start.token = context.token;
    job.start.job_map = encode_job_map(job.map);
    job.start.stdin_kind = stdin_kind_of(options, context, job);
    job.start.stdin_rank = options.stdin_choice.rank;
    job.start.master_address = master_address(allocation, job.places, facts);
    job.start.master_port = facts[job.places[0]] ? facts[job.places[0]]->free_port : 0;
    job.start.outlives_failures = options.on_failure != OnFailure::kill;
    job.start.heartbeat_ms = context.heartbeat_ms;
    job.start.start_gate = context.start_gate;
    job.start.memory_binding = options.memory_binding;
    job.start.lends_cpus = lends_cpus(options);
    job.start.waits_for_others = job.places.size() > 1;
    job.start.are_hosts_simulated = options.simulated_hosts > 0;
    return job;
}

}  // namespace dlrt::launcher
