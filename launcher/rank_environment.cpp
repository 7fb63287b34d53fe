// SPDX-License-Identifier: Apache-2.0
#include "launcher/rank_environment.hpp"

#include "runtime/wireup/message.hpp"

#include <algorithm>
#include <fnmatch.h>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

/// As torchrun sets them; a group is what one agent of its starts, here a host.
constexpr std::string_view torch_rank_names[] = {
    "RANK", "LOCAL_RANK", "GROUP_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_WORLD_SIZE",
};
constexpr std::string_view torch_master_names[] = {"MASTER_ADDR", "MASTER_PORT"};
constexpr std::string_view session_names[] = {
    "DISPLAY", "HOSTNAME", "PWD", "TMPDIR", "DLRT_HOSTFILE",
};
constexpr std::string_view foreign_prefixes[] = {
    "PMI_",  "PMIX_", "OMPI_", "HYDRA_", "HYDI_",         "MPI_LOCAL",  "MPIR_",
    "PRTE_", "SSH_",  "XDG_",  "DBUS_",  "TORCHELASTIC_", "DLRT_TEST_",
};

std::string_view name_of(std::string_view assignment) {
    return assignment.substr(0, assignment.find('='));
}

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
}

bool is_foreign(std::string_view name) {
    // Folders of the user, as HOME is: XDG_CONFIG_HOME and its like.
    if (name.starts_with("XDG_") && name.ends_with("_HOME")) return false;
    return std::ranges::any_of(foreign_prefixes, [&](std::string_view prefix) {
        return name.starts_with(prefix);
    });
}

bool matches(const std::string& entry, const std::string& glob) {
    return ::fnmatch(glob.c_str(), std::string(name_of(entry)).c_str(), 0) == 0;
}

std::vector<std::string> base_environment(
    std::span<const std::string> caller, EnvironmentBase base
) {
    const bool is_nested = !find_variable(caller, environment::job_id).empty();
    std::vector<std::string> result;
    if (base == EnvironmentBase::none) return result;
    for (const std::string& entry : caller) {
        const std::string_view name = name_of(entry);
        if (is_reserved_variable(name)) continue;
        const bool is_usual = !is_foreign(name) && !is_one_of(name, session_names) &&
                              !(is_nested && is_one_of(name, torch_master_names));
        if (is_usual || base == EnvironmentBase::all) result.push_back(entry);
    }
    return result;
}

void apply_edit(
    std::vector<std::string>& result, std::span<const std::string> caller,
    const EnvironmentEdit& edit
) {
    if (edit.kind == EnvironmentEdit::Kind::assign) {
        return set_variable(result, edit.name, edit.value);
    }
    if (edit.kind == EnvironmentEdit::Kind::forward && !has_match(caller, edit.name)) return;
    std::erase_if(result, [&](const std::string& entry) { return matches(entry, edit.name); });
    if (edit.kind == EnvironmentEdit::Kind::unset) return;
    for (const std::string& entry : caller) {
        if (matches(entry, edit.name) && !is_reserved_variable(name_of(entry))) {
            result.push_back(entry);
        }
    }
}

void add_first_folder(
    std::vector<std::string>& environment, std::string_view name, const std::string& folder
) {
    const std::string_view rest = find_variable(environment, name);
    const std::string value = rest.empty() ? folder : fmt::format("{}:{}", folder, rest);
    set_variable(environment, name, value);
}

}  // namespace

bool is_reserved_variable(std::string_view name) {
    return is_one_of(name, environment::all) || is_one_of(name, torch_rank_names);
}

std::string_view find_variable(std::span<const std::string> environment, std::string_view name) {
    for (const std::string_view entry : environment) {
        if (entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name)) {
            return entry.substr(name.size() + 1);
        }
    }
    return {};
}

bool has_match(std::span<const std::string> environment, const std::string& glob) {
    return std::ranges::any_of(environment, [&](const std::string& entry) {
        return matches(entry, glob);
    });
}

void set_variable(
    std::vector<std::string>& environment, std::string_view name, std::string_view value
) {
    std::string assignment = fmt::format("{}={}", name, value);
    std::erase_if(environment, [&](const std::string& entry) { return name_of(entry) == name; });
    environment.push_back(std::move(assignment));
}

std::vector<std::string> program_environment(
    std::span<const std::string> caller, EnvironmentBase base,
    std::span<const EnvironmentEdit> edits
) {
    std::vector<std::string> result = base_environment(caller, base);
    for (const EnvironmentEdit& edit : edits) apply_edit(result, caller, edit);
    return result;
}

void add_prefix(std::vector<std::string>& environment, std::string_view folder) {
    std::string programs = fmt::format("{}/bin", folder);
    // An empty PATH means the usual folders, which must not vanish behind the new one.
    if (find_variable(environment, "PATH").empty()) programs += ":/usr/local/bin:/usr/bin:/bin";
    add_first_folder(environment, "PATH", programs);
    add_first_folder(environment, "LD_LIBRARY_PATH", fmt::format("{}/lib", folder));
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
        fmt::format("GROUP_RANK={}", identity.host_index),
        fmt::format("WORLD_SIZE={}", identity.size),
        fmt::format("LOCAL_WORLD_SIZE={}", identity.local_size),
        fmt::format("GROUP_WORLD_SIZE={}", identity.host_count),
    };
    if (identity.is_oversubscribed) {
        result.push_back(fmt::format("{}=1", environment::oversubscribed));
    }
    return result;
}

}  // namespace dlrt::launcher
