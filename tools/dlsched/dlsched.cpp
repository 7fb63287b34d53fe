// SPDX-License-Identifier: Apache-2.0
/// dlsched: what collective operations consist of. Lists the algorithms, prints the steps of a
/// rank, proves all ranks together, predicts what they cost, draws them.
#include "collectives/algorithms.hpp"
#include "collectives/contract.hpp"
#include "collectives/cost.hpp"
#include "collectives/groups.hpp"
#include "collectives/print.hpp"
#include "collectives/selection.hpp"
#include "collectives/verify.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/base/size_range.hpp"
#include "tools/dlsched/cost_table.hpp"
#include "tools/dlsched/picture.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace {

using namespace dlrt;
using coll::Algorithm;
using coll::Schedule;

constexpr std::int32_t size_max = 1'000'000;
/// A picture of more is of no use.
constexpr std::int32_t drawn_size_max = 4096;
/// Steps and chunks of all ranks together that fit into some GiB.
constexpr std::uint64_t parts_max = 50'000'000;

struct Request {
    std::string collective;
    std::string algorithm;
    std::string sizes = "8";
    std::int32_t rank = -1;
    std::int32_t root = 0;
    bool has_root = false;
    bool is_in_place = false;
    std::string file;
    std::string format;
    std::vector<std::string> bytes{"8", "1k", "16k", "256k", "4m"};
    std::string machine_file;
    std::string groups;
    /// Made of `groups`, by number of ranks.
    std::shared_ptr<std::map<std::int32_t, coll::Groups>>
        known_groups = std::make_shared<std::map<std::int32_t, coll::Groups>>();
};

[[noreturn]] void refuse(const std::string& line) {
    fmt::print(stderr, "dlsched: {}\n", line);
    std::exit(2);
}

std::vector<const Algorithm*> algorithms_of(std::string_view collective) {
    std::vector<const Algorithm*> found;
    for (const Algorithm& algorithm : coll::algorithms()) {
        if (collective == "all" || name_of(algorithm.collective) == collective) {
            found.push_back(&algorithm);
        }
    }
    if (!found.empty()) return found;
    std::vector<std::string_view> known;
    for (const Algorithm& algorithm : coll::algorithms()) {
        const std::string_view name = name_of(algorithm.collective);
        if (std::ranges::find(known, name) == known.end()) known.push_back(name);
    }
    refuse(fmt::format("there is no collective '{}'; valid: {}", collective, fmt::join(known, ", "))
    );
}

std::vector<const Algorithm*> chosen_algorithms(const Request& request) {
    const std::vector<const Algorithm*> candidates = algorithms_of(request.collective);
    if (request.algorithm.empty() || request.algorithm == "all") return candidates;
    std::vector<const Algorithm*> found;
    std::vector<std::string_view> known;
    for (const Algorithm* candidate : candidates) {
        if (candidate->name == request.algorithm) found.push_back(candidate);
        known.push_back(candidate->name);
    }
    if (!found.empty()) return found;
    refuse(fmt::format(
        "{} has no algorithm '{}'; valid: {}", request.collective, request.algorithm,
        fmt::join(known, ", ")
    ));
}

const Algorithm& one_algorithm(const Request& request) {
    const std::vector<const Algorithm*> found = chosen_algorithms(request);
    if (found.size() == 1) return *found.front();
    std::vector<std::string_view> known;
    for (const Algorithm* candidate : found) known.push_back(candidate->name);
    refuse(fmt::format(
        "name one algorithm of {}; valid: {}", request.collective, fmt::join(known, ", ")
    ));
}

std::int32_t parse_size(std::string_view text) {
    std::int32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > size_max) {
        refuse(fmt::format("-p: '{}' is no number of ranks; valid: 1 to {}", text, size_max));
    }
    return value;
}

std::pair<std::int32_t, std::int32_t> parse_sizes(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return {parse_size(text), parse_size(text)};
    const std::int32_t from = parse_size(text.substr(0, colon));
    const std::int32_t to = parse_size(text.substr(colon + 1));
    if (from > to) refuse(fmt::format("-p: '{}' is no range; valid: 1:16", text));
    return {from, to};
}

/// Null when nothing was said.
const coll::Groups* groups_for(const Request& request, std::int32_t size) {
    if (request.groups.empty()) return nullptr;
    const auto known = request.known_groups->find(size);
    if (known != request.known_groups->end()) return &known->second;
    auto groups = coll::Groups::parse(request.groups, size);
    if (!groups) refuse(fmt::format("--groups: {}", last_error_text()));
    return &request.known_groups->emplace(size, std::move(*groups)).first->second;
}

/// Without groups, or in such as forbid it, a hierarchical algorithm is no algorithm.
bool is_possible(const Algorithm& algorithm, std::int32_t size, const Request& request) {
    if (algorithm.groups_need == coll::GroupsNeed::none) return true;
    const coll::Groups* const groups = groups_for(request, size);
    return groups != nullptr && can_be_built(algorithm, groups);
}

[[noreturn]] void refuse_groups(const Algorithm& algorithm) {
    refuse(fmt::format(
        "--groups: {} {} {}; valid: 4, 2x4, 3+1+4, cyclic:3 or 0-2,5/3,4 (ranks by group)",
        name_of(algorithm.collective), algorithm.name, groups_restriction(algorithm)
    ));
}

Schedule one_rank(
    const Algorithm& algorithm, std::int32_t size, std::int32_t rank, const Request& how
) {
    const bool has_choice = !algorithm.has_root || rank == how.root;
    const auto placement = how.is_in_place && has_choice ? coll::Placement::in_place
                                                         : coll::Placement::separate;
    return algorithm.build({size, rank, how.root, placement, groups_for(how, size)});
}

std::uint64_t parts_of(const Schedule& schedule) {
    return schedule.steps.size() + buffer_chunks(schedule, coll::BufferId::input) +
           buffer_chunks(schedule, coll::BufferId::output) + schedule.scratch_chunks;
}

std::vector<Schedule> all_ranks(const Algorithm& algorithm, std::int32_t size, const Request& how) {
    auto refuse_many = [&](std::uint64_t parts) {
        if (parts <= parts_max) return;
        refuse(fmt::format(
            "-p: {} {} has too many steps and chunks on {} ranks; those with few rounds and one "
            "vector go farther",
            name_of(algorithm.collective), algorithm.name, size
        ));
    };
    std::uint64_t least = parts_max;
    for (const std::int32_t rank : {0, size / 2, size - 1})
        least = std::min(least, parts_of(one_rank(algorithm, size, rank, how)));
    refuse_many(least * static_cast<std::uint64_t>(size));
    std::vector<Schedule> schedules;
    std::uint64_t parts = 0;
    for (std::int32_t rank = 0; rank < size; ++rank) {
        schedules.push_back(one_rank(algorithm, size, rank, how));
        refuse_many(parts += parts_of(schedules.back()));
    }
    return schedules;
}

void check_root(const Request& request, const Algorithm& algorithm, std::int32_t size) {
    if (request.root < 0 || request.root >= size) {
        refuse(fmt::format("--root: {} is no rank of {}", request.root, size));
    }
    if (request.root != 0 && !algorithm.has_root) {
        refuse(fmt::format("--root: {} has no root", name_of(algorithm.collective)));
    }
}

std::int32_t single_size(const Request& request, const Algorithm& algorithm) {
    const auto [from, to] = parse_sizes(request.sizes);
    if (from != to) refuse("-p: one number of ranks is wanted, not a range");
    check_root(request, algorithm, from);
    if (!is_possible(algorithm, from, request)) refuse_groups(algorithm);
    return from;
}

void list(const Request& request) {
    for (const Algorithm* algorithm : algorithms_of(request.collective)) {
        const bool must_commute = algorithm->operand_order == coll::OperandOrder::any;
        fmt::print(
            "{:<15} {:<22} {}\n", name_of(algorithm->collective), algorithm->name,
            must_commute ? "reductions must commute" : groups_restriction(*algorithm)
        );
    }
}

void print(const Request& request) {
    const Algorithm& algorithm = one_algorithm(request);
    const std::int32_t size = single_size(request, algorithm);
    if (request.rank < -1 || request.rank >= size) {
        refuse(fmt::format("--rank: {} is no rank of {}", request.rank, size));
    }
    if (request.rank >= 0) {
        std::fputs(coll::print(one_rank(algorithm, size, request.rank, request)).c_str(), stdout);
        return;
    }
    for (const Schedule& schedule : all_ranks(algorithm, size, request))
        std::fputs(coll::print(schedule).c_str(), stdout);
}

std::string proofs_text(std::size_t exact_count, std::size_t random_count) {
    const std::size_t count = exact_count + random_count;
    std::string how = "exactly";
    if (exact_count == 0) {
        how = "with random values";
    } else if (random_count > 0) {
        how = fmt::format("exactly, but {} with random values", random_count);
    }
    return fmt::format("{} operation{} proved {}", count, count == 1 ? "" : "s", how);
}

/// False when something was wrong, which is then told.
bool verify_one(const Algorithm& algorithm, const Request& request) {
    const auto [from, to] = parse_sizes(request.sizes);
    std::size_t exact_count = 0, random_count = 0;
    bool is_right = true;
    for (std::int32_t size = from; size <= to; ++size) {
        if (!is_possible(algorithm, size, request)) continue;
        coll::RootProver prover;
        const bool has_roots = algorithm.has_root && !request.has_root;
        const std::int32_t first = request.has_root ? request.root : 0;
        for (std::int32_t root = first; root <= (has_roots ? size - 1 : first); ++root) {
            Request how = request;
            how.root = root;
            std::vector<Schedule> schedules = all_ranks(algorithm, size, how);
            const coll::Proof proof = coll::affordable_proof(schedules);
            ++(proof == coll::Proof::exact ? exact_count : random_count);
            const auto fault = prover.find_fault(schedules, proof);
            if (!fault) continue;
            fmt::print(
                "{} {}: wrong on {} ranks, root {}: {}\n", name_of(algorithm.collective),
                algorithm.name, size, root, fault->text
            );
            is_right = false;
        }
    }
    if (!is_right) return false;
    if (exact_count + random_count == 0) return true;
    fmt::print(
        "{} {}: right on {}{} ranks ({})\n", name_of(algorithm.collective), algorithm.name, from,
        from == to ? "" : fmt::format(" to {}", to), proofs_text(exact_count, random_count)
    );
    return true;
}

/// Returns the exit status.
int verify(const Request& request) {
    const std::vector<const Algorithm*> chosen = chosen_algorithms(request);
    const std::int32_t from = parse_sizes(request.sizes).first;
    for (const Algorithm* algorithm : chosen) {
        if (request.has_root) check_root(request, *algorithm, from);
        if (chosen.size() == 1 && !is_possible(*algorithm, from, request))
            refuse_groups(*algorithm);
    }
    int status = 0;
    for (const Algorithm* algorithm : chosen) {
        if (!verify_one(*algorithm, request)) status = 1;
    }
    return status;
}

std::string format_of(const Request& request) {
    std::string format = request.format;
    const std::size_t dot = request.file.rfind('.');
    if (format.empty() && dot != std::string::npos) format = request.file.substr(dot + 1);
    if (format.empty()) format = "svg";
    if (format == "svg" || format == "dot" || format == "json") return format;
    refuse(fmt::format("'{}' is no form of a drawing; valid: svg, dot, json", format));
}

int draw(const Request& request) {
    const Algorithm& algorithm = one_algorithm(request);
    const std::string format = format_of(request);
    const std::int32_t size = single_size(request, algorithm);
    if (size > drawn_size_max) {
        refuse(
            fmt::format("-p: {} ranks are too many to draw; valid: 1 to {}", size, drawn_size_max)
        );
    }
    const std::vector<Schedule> schedules = all_ranks(algorithm, size, request);
    const sched::Timeline timeline = sched::simulate(schedules, {});
    std::string text;
    if (format == "svg") text = sched::svg_picture(schedules, timeline);
    if (format == "dot") text = sched::dot_graph(schedules, timeline);
    if (format == "json") text = sched::trace_events(schedules, timeline);
    if (request.file.empty()) {
        return std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0;
    }
    std::ofstream file(request.file);
    file << text << std::flush;
    if (file) return 0;
    fmt::print(stderr, "dlsched: '{}' cannot be written\n", request.file);
    return 1;
}

coll::Machine machine_of(const Request& request) {
    if (request.machine_file.empty()) return {};
    std::ifstream file(request.machine_file);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    if (!file) refuse(fmt::format("--machine: '{}' cannot be read", request.machine_file));
    const auto machine = sched::parse_machine(text);
    if (!machine)
        refuse(fmt::format("--machine: '{}': {}", request.machine_file, last_error_text()));
    return *machine;
}

void cost(const Request& request) {
    sched::CostTable table;
    const std::vector<const Algorithm*> candidates = algorithms_of(request.collective);
    if (request.collective == "all") refuse("name one collective; dlsched list has them");
    table.ranks = single_size(request, *candidates.front());
    for (const std::string& text : request.bytes) {
        const auto bytes = dlrt::parse_size(text);
        if (!bytes) refuse(fmt::format("--bytes: '{}' is no size; valid: 1k,64k,1m", text));
        table.sizes_bytes.push_back(*bytes);
        table.chosen.push_back(
            &coll::choose_algorithm({candidates.front()->collective, table.ranks, *bytes})
        );
    }
    const coll::Machine machine = machine_of(request);
    for (const Algorithm* algorithm : candidates) {
        if (!is_possible(*algorithm, table.ranks, request)) continue;
        const std::vector<Schedule> schedules = all_ranks(*algorithm, table.ranks, request);
        sched::CostTable::Row row{algorithm, {}};
        for (const std::uint64_t bytes : table.sizes_bytes)
            row.times_ns.push_back(coll::predict_ns(schedules, bytes, machine));
        table.rows.push_back(std::move(row));
    }
    std::fputs(sched::cost_text(table).c_str(), stdout);
}

void add_cost_options(CLI::App& command, Request& request) {
    command.add_option("collective", request.collective, "such as allreduce")->required();
    command.add_option("-p,--ranks", request.sizes, "number of ranks")->default_val("8");
    command
        .add_option(
            "--bytes", request.bytes,
            "of the vector, or of the blocks of all ranks together, such as 1k,64k,1m"
        )
        ->delimiter(',');
    command.add_option(
        "--machine", request.machine_file,
        "JSON with any of latency_ns, overhead_ns, gap_ns_per_byte, reduce_ns_per_byte, "
        "copy_ns_per_byte, switch_ns, cores, and between hosts between_latency_ns, "
        "between_overhead_ns, between_gap_ns_per_byte (default: hosts with two cores)"
    );
}

void add_groups_option(CLI::App& command, Request& request) {
    command.add_option(
        "--groups", request.groups,
        "which ranks share a host, for hierarchical algorithms: 4 (neighbours by fours), 2x4, "
        "3+1+4, cyclic:3 (rank r in group r mod 3), 0-2,5/3,4 (ranks by group)"
    );
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("What collective operations consist of.", "dlsched");
    app.require_subcommand(1);
    Request request;

    CLI::App* const listing = app.add_subcommand("list", "the algorithms");
    CLI::App* const printing = app.add_subcommand("print", "the steps of each rank");
    CLI::App* const proving = app.add_subcommand("verify", "proves all ranks and roots together");
    CLI::App* const drawing = app.add_subcommand("draw", "a picture of all ranks over time");
    CLI::App* const pricing = app.add_subcommand("cost", "predicted times of all algorithms");
    add_cost_options(*pricing, request);
    listing->add_option("collective", request.collective, "such as allreduce (default: all)")
        ->default_val("all");
    for (CLI::App* command : {printing, proving, drawing}) {
        command->add_option("collective", request.collective, "such as allreduce")->required();
        command->add_option("algorithm", request.algorithm, "such as ring");
        command
            ->add_option(
                "-p,--ranks", request.sizes,
                command == proving ? "number of ranks, or a range such as 1:16" : "number of ranks"
            )
            ->default_val("8");
        command->add_flag("--in-place", request.is_in_place, "input where the output comes");
    }
    for (CLI::App* command : {printing, proving, drawing}) {
        command->add_option(
            "--root", request.root,
            command == proving ? "only this one (default: each rank in turn)"
                               : "of those that have one (default: 0)"
        );
    }
    for (CLI::App* command : {printing, proving, drawing, pricing})
        add_groups_option(*command, request);
    printing->add_option("--rank", request.rank, "only this one");
    drawing->add_option("-o,--output", request.file, "default: standard output");
    drawing->add_option("--format", request.format, "svg, dot or json (trace events)");

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) return app.exit(error);
        fmt::print(stderr, "dlsched: {}; see dlsched --help\n", error.what());
        return 2;
    }
    request.has_root = proving->count("--root") > 0;
    if (listing->parsed()) list(request);
    if (printing->parsed()) print(request);
    if (pricing->parsed()) cost(request);
    if (proving->parsed()) return verify(request);
    return drawing->parsed() ? draw(request) : 0;
}
