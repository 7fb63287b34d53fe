// SPDX-License-Identifier: Apache-2.0
#include "launcher/job_builder.hpp"

#include "launcher/placement.hpp"
#include "launcher/rank_environment.hpp"
#include "runtime/base/error_text.hpp"

#include <algorithm>

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
    program.environment = program_environment(context.environment, block.environment_edits);
    program.working_directory = std::move(*folder);
    if (!block.working_directory.empty()) {
        std::erase_if(program.environment, [](const std::string& entry) {
            return entry.starts_with("PWD=");
        });
        program.environment.push_back("PWD=" + program.working_directory);
    }
    return program;
}

void warn_of_missing_variables(
    const Block& block, const CallerContext& context, std::vector<std::string>& warnings
) {
    for (const EnvironmentEdit& edit : block.environment_edits) {
        if (edit.kind != EnvironmentEdit::Kind::forward) continue;
        const bool is_there = std::ranges::any_of(context.environment, [&](std::string_view entry) {
            return entry.substr(0, entry.find('=')) == edit.name;
        });
        if (!is_there) {
            warnings.push_back(
                fmt::format("-x: {} is not set here, so it isn't passed on", edit.name)
            );
        }
    }
}

}  // namespace

Result<BuiltJob> build_job(
    const Options& options, const CallerContext& context, const HostFacts& facts
) {
    BuiltJob job;
    const std::uint32_t size = options.rank_count().value_or(facts.usable_cpu_count);
    const StdinChoice& input = options.stdin_choice;
    if (input.kind != StdinChoice::Kind::none && input.rank >= size) {
        return fail(
            Errc::argument, "--stdin: the job has no such rank; valid are 0 to {}", size - 1
        );
    }
    std::vector<std::uint32_t> block_sizes;
    for (const Block& block : options.blocks) {
        block_sizes.push_back(block.rank_count.value_or(size));
        Result<Program> program = build_program(block, context, facts.host_name);
        if (!program) return program.error();
        job.start.programs.push_back(std::move(*program));
        warn_of_missing_variables(block, context, job.warnings);
    }
    if (size > facts.usable_cpu_count) {
        job.warnings.push_back(fmt::format(
            "{} ranks share {} usable cpu{} on {}", size, facts.usable_cpu_count,
            facts.usable_cpu_count == 1 ? "" : "s", facts.host_name
        ));
    }
    const HostOffer offer{facts.host_name, facts.cpus, facts.usable_cpu_count, size};
    job.map = place_ranks(context.job_id, std::span(&offer, 1), block_sizes);
    job.start.token = context.token;
    job.start.job_map = encode_job_map(job.map);
    job.start.stdin_kind = context.stdin_kind;
    job.start.stdin_rank = input.rank;
    job.start.master_address = "127.0.0.1";
    job.start.master_port = facts.free_port;
    return job;
}

}  // namespace dlrt::launcher
