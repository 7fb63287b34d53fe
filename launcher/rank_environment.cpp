// SPDX-License-Identifier: Apache-2.0
#include "launcher/rank_environment.hpp"

#include "runtime/wireup/message.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

constexpr std::string_view own_names[] = {
    environment::job_id,        environment::rank,        environment::size,
    environment::local_rank,    environment::local_size,  environment::host_index,
    environment::host_count,    environment::descriptors, environment::token,
    environment::daemon_socket, "DLRT_OVERSUBSCRIBED",
};
constexpr std::string_view torch_rank_names[] = {
    "RANK",
    "LOCAL_RANK",
    "WORLD_SIZE",
    "LOCAL_WORLD_SIZE",
};
constexpr std::string_view torch_master_names[] = {"MASTER_ADDR", "MASTER_PORT"};
constexpr std::string_view foreign_prefixes[] = {
    "PMI_", "PMIX_", "OMPI_", "HYDRA_", "HYDI_", "MPI_LOCAL", "MPIR_", "PRTE_", "SSH_",
};

std::string_view name_of(std::string_view assignment) {
    return assignment.substr(0, assignment.find('='));
}

template<std::size_t Count>
bool is_one_of(std::string_view name, const std::string_view (&names)[Count]) {
    return std::ranges::find(names, name) != std::end(names);
}

bool is_foreign(std::string_view name) {
    return std::ranges::any_of(foreign_prefixes, [&](std::string_view prefix) {
        return name.starts_with(prefix);
    });
}

void remove(std::vector<std::string>& environment, std::string_view name) {
    std::erase_if(environment, [&](const std::string& entry) { return name_of(entry) == name; });
}

}  // namespace

bool is_reserved_variable(std::string_view name) {
    return is_one_of(name, own_names) || is_one_of(name, torch_rank_names);
}

std::string_view find_variable(std::span<const std::string> environment, std::string_view name) {
    for (const std::string_view entry : environment) {
        if (entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name)) {
            return entry.substr(name.size() + 1);
        }
    }
    return {};
}

std::vector<std::string> program_environment(
    std::span<const std::string> caller, std::span<const EnvironmentEdit> edits
) {
    const bool is_nested = !find_variable(caller, environment::job_id).empty();
    std::vector<std::string> result;
    for (const std::string& entry : caller) {
        const std::string_view name = name_of(entry);
        if (is_reserved_variable(name) || is_foreign(name)) continue;
        if (is_nested && is_one_of(name, torch_master_names)) continue;
        result.push_back(entry);
    }
    for (const EnvironmentEdit& edit : edits) {
        if (edit.kind == EnvironmentEdit::Kind::forward) {
            const auto is_it = [&](const std::string& entry) {
                return name_of(entry) == edit.name;
            };
            const auto found = std::ranges::find_if(caller, is_it);
            if (found == caller.end()) continue;
            remove(result, edit.name);
            result.push_back(*found);
            continue;
        }
        remove(result, edit.name);
        if (edit.kind == EnvironmentEdit::Kind::assign) {
            result.push_back(fmt::format("{}={}", edit.name, edit.value));
        }
    }
    return result;
}

std::vector<std::string> identity_environment(const RankIdentity& identity) {
    const auto& fds = identity.descriptors;
    std::vector<std::string> result = {
        fmt::format("{}={}", environment::job_id, identity.job_id),
        fmt::format("{}={}", environment::rank, identity.rank),
        fmt::format("{}={}", environment::size, identity.size),
        fmt::format("{}={}", environment::local_rank, identity.local_rank),
        fmt::format("{}={}", environment::local_size, identity.local_size),
        fmt::format("{}={}", environment::host_index, identity.host_index),
        fmt::format("{}={}", environment::host_count, identity.host_count),
        fmt::format("{}={},{},{},{}", environment::descriptors, fds[0], fds[1], fds[2], fds[3]),
        fmt::format("{}={}", environment::token, identity.token),
        fmt::format("{}={}", environment::daemon_socket, identity.daemon_socket),
        fmt::format("RANK={}", identity.rank),
        fmt::format("LOCAL_RANK={}", identity.local_rank),
        fmt::format("WORLD_SIZE={}", identity.size),
        fmt::format("LOCAL_WORLD_SIZE={}", identity.local_size),
    };
    if (identity.is_oversubscribed) result.emplace_back("DLRT_OVERSUBSCRIBED=1");
    return result;
}

}  // namespace dlrt::launcher
