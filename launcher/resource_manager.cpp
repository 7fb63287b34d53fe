// SPDX-License-Identifier: Apache-2.0
#include "launcher/resource_manager.hpp"

#include "launcher/hostfile.hpp"
#include "launcher/rank_environment.hpp"
#include "runtime/base/error_text.hpp"

#include <array>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <utility>

namespace dlrt::launcher {
namespace {

constexpr std::array<std::string_view, 3> hostfile_variables = {
    "OMPI_MCA_orte_default_hostfile", "HYDRA_HOST_FILE", "I_MPI_HYDRA_HOST_FILE"};
constexpr std::array<std::string_view, 2> agent_variables = {
    "OMPI_MCA_plm_rsh_agent", "OMPI_MCA_orte_rsh_agent"};

/// Which words of a line name hosts.
enum class Pairs : std::uint8_t { first, all };

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream stream(text);
    return {std::istream_iterator<std::string>(stream), {}};
}

/// One host; its name must be one.
Status add(
    std::string_view variable, const std::string& name, std::string_view slots,
    std::vector<HostMention>& mentions
) {
    const auto count = parse_count(slots, host_slots_max);
    const std::size_t before = mentions.size();
    if (!count || add_hosts(name, mentions) || mentions.size() != before + 1) {
        return fail(
            Errc::argument, "{}: '{} {}' is no host and its number of slots", variable,
            printable(name), printable(slots)
        );
    }
    mentions.back().slots = *count;
    return {};
}

/// "h1 2 h2 4", or lines that begin so.
Result<std::vector<HostMention>> hosts_of_pairs(
    std::string_view variable, const std::string& text, Pairs pairs
) {
    std::vector<HostMention> mentions;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const std::vector<std::string> words = words_of(line);
        for (std::size_t i = 0; i < words.size(); i += 2) {
            std::string_view slots;
            if (i + 1 < words.size()) slots = words[i + 1];
            const Status status = add(variable, words[i], slots, mentions);
            if (!status.ok()) return status;
            if (pairs == Pairs::first) break;
        }
    }
    return mentions;
}

Result<std::vector<HostMention>> hosts_of_grid_engine(const std::string& name) {
    std::ifstream file(name, std::ios::binary);
    if (!file) return fail(Errc::system, "PE_HOSTFILE: cannot open '{}'", printable(name));
    const std::string text(std::istreambuf_iterator<char>(file), {});
    return hosts_of_pairs("PE_HOSTFILE", text, Pairs::first);
}

Result<std::vector<HostMention>> hosts_of_slurm(std::span<const std::string> environment) {
    Result<std::vector<HostMention>> hosts = parse_host_list(
        find_variable(environment, "SLURM_JOB_NODELIST")
    );
    if (!hosts) return hosts;
    std::string_view text = find_variable(environment, "SLURM_TASKS_PER_NODE");
    if (text.empty()) text = find_variable(environment, "SLURM_JOB_CPUS_PER_NODE");
    const Result<std::vector<std::uint32_t>> counts = parse_slurm_counts(text);
    if (!counts) return counts.error();
    if (counts->size() != hosts->size()) {
        return fail(
            Errc::argument,
            "SLURM_TASKS_PER_NODE: '{}' counts for {} hosts, but SLURM_JOB_NODELIST names {}",
            printable(text), counts->size(), hosts->size()
        );
    }
    for (std::size_t i = 0; i < hosts->size(); ++i) (*hosts)[i].slots = (*counts)[i];
    return hosts;
}

Result<ManagedHosts> managed_by(
    ResourceManager manager, Result<std::vector<HostMention>> mentions
) {
    if (!mentions) return mentions.error();
    return ManagedHosts{manager, std::move(*mentions)};
}

}  // namespace

Result<ManagedHosts> find_managed_hosts(std::span<const std::string> environment) {
    const auto value_of = [&](std::string_view name) {
        return std::string(find_variable(environment, name));
    };
    if (!value_of("SLURM_JOB_NODELIST").empty()) {
        return managed_by(ResourceManager::slurm, hosts_of_slurm(environment));
    }
    // Of these a host stands there once for each slot.
    for (const std::string_view variable : {"PBS_NODEFILE", "LSB_DJOB_HOSTFILE"}) {
        const std::string file = value_of(variable);
        if (!file.empty()) return managed_by(ResourceManager::other, read_hostfile(file));
    }
    if (const std::string pairs = value_of("LSB_MCPU_HOSTS"); !pairs.empty()) {
        return managed_by(
            ResourceManager::other, hosts_of_pairs("LSB_MCPU_HOSTS", pairs, Pairs::all)
        );
    }
    if (const std::string file = value_of("PE_HOSTFILE"); !file.empty()) {
        return managed_by(ResourceManager::other, hosts_of_grid_engine(file));
    }
    return ManagedHosts();
}

std::string_view foreign_hostfile(std::span<const std::string> environment) {
    for (const std::string_view variable : hostfile_variables) {
        const std::string_view file = find_variable(environment, variable);
        if (!file.empty()) return file;
    }
    return {};
}

std::string foreign_agent(std::span<const std::string> environment) {
    for (const std::string_view variable : agent_variables) {
        const std::string_view agent = find_variable(environment, variable);
        if (!agent.empty()) return std::string(agent) + " {host}";
    }
    return {};
}

Result<std::vector<std::uint32_t>> parse_slurm_counts(std::string_view text) {
    std::vector<std::uint32_t> counts;
    std::istringstream parts{std::string(text)};
    for (std::string part; std::getline(parts, part, ',');) {
        const std::size_t at = part.find("(x");
        const auto count = parse_count(part.substr(0, at), host_slots_max);
        std::optional<std::uint32_t> times = 1;
        if (at != std::string::npos) {
            const bool is_closed = part.ends_with(')');
            times = is_closed
                        ? parse_count(
                              part.substr(at + 2, part.size() - at - 3), host_mention_count_max
                          )
                        : std::nullopt;
        }
        if (!count || !times || *times + counts.size() > host_mention_count_max) {
            return fail(
                Errc::argument, "SLURM_TASKS_PER_NODE: '{}' is not valid; valid is N(xTIMES),…",
                printable(text)
            );
        }
        counts.insert(counts.end(), *times, *count);
    }
    return counts;
}

}  // namespace dlrt::launcher
