// SPDX-License-Identifier: Apache-2.0
#include "launcher/allocation.hpp"

#include "launcher/host_facts.hpp"
#include "launcher/hostfile.hpp"
#include "launcher/rank_environment.hpp"
#include "runtime/base/error_text.hpp"

#include <iterator>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

constexpr std::string_view hostfile_variable = "DLRT_HOSTFILE";

template<typename Value>
Status join_setting(std::string_view host, std::string_view key, Value& value, const Value& more) {
    if (more == Value{} || value == more) return {};
    if (value != Value{}) {
        return fail(Errc::argument, "host {}: {} is once {} and once {}", host, key, value, more);
    }
    value = more;
    return {};
}

/// Adds one more mention of a host to those that it has had before.
Status join(AllocatedHost& host, const HostMention& mention) {
    const std::uint32_t slots_before = host.slots.value_or(1);
    const std::uint32_t more = mention.slots.value_or(1);
    if (host.max_slots || mention.max_slots) {
        host.max_slots = host.max_slots.value_or(slots_before) + mention.max_slots.value_or(more);
    }
    host.slots = slots_before + more;
    const std::string name = host.name;
    if (auto status = join_setting(name, "user", host.user, mention.user); !status.ok())
        return status;
    if (auto status = join_setting(name, "port", host.port, mention.port); !status.ok())
        return status;
    return join_setting(name, "prefix", host.prefix, mention.prefix);
}

void warn_of_unused(const AllocatedHost& host, std::vector<std::string>& warnings) {
    std::string unused;
    if (!host.user.empty()) unused += fmt::format(" user={}", host.user);
    if (!host.prefix.empty()) unused += fmt::format(" prefix={}", printable(host.prefix));
    if (unused.empty()) return;
    warnings.push_back(fmt::format(
        "host {}:{} is not used; ranks on the host that dlrun runs on are started by dlrun itself",
        host.name, unused
    ));
}

Result<std::vector<HostMention>> read_mentions(
    const HostChoice& choice, std::span<const std::string> environment
) {
    if (!choice.files.empty() && !choice.host_lists.empty()) {
        return fail(Errc::argument, "--host and --hostfile are both given; valid is one of them");
    }
    std::vector<std::string> files = choice.files;
    std::string_view usual_file = find_variable(environment, hostfile_variable);
    if (usual_file.empty()) usual_file = foreign_hostfile(environment);
    if (files.empty() && choice.host_lists.empty() && !usual_file.empty()) {
        files.emplace_back(usual_file);
    }
    std::vector<HostMention> mentions;
    const auto add = [&](Result<std::vector<HostMention>> more) -> Status {
        if (!more) return more.error();
        if (more->size() > host_mention_count_max - mentions.size()) {
            return fail(Errc::argument, "more than {} hosts are named", host_mention_count_max);
        }
        std::ranges::move(*more, std::back_inserter(mentions));
        return {};
    };
    for (const std::string& list : choice.host_lists) {
        if (const Status status = add(parse_host_list(list)); !status.ok()) return status;
    }
    for (const std::string& file : files) {
        if (const Status status = add(read_hostfile(file)); !status.ok()) return status;
    }
    return mentions;
}

std::vector<HostMention> simulated_mentions(std::uint32_t host_count, std::uint32_t slots) {
    std::vector<HostMention> mentions(host_count);
    for (std::uint32_t i = 0; i < host_count; ++i) {
        mentions[i].name = fmt::format("sim{:04}", i + 1);
        mentions[i].slots = slots;
    }
    return mentions;
}

}  // namespace

Allocation allocation_of(std::string own_name) {
    AllocatedHost host;
    host.name = std::move(own_name);
    host.is_own = true;
    Allocation allocation;
    allocation.hosts.push_back(std::move(host));
    return allocation;
}

Result<Allocation> allocate(std::span<const HostMention> mentions, const OwnHost& own_host) {
    Allocation allocation;
    std::unordered_map<std::string, std::uint32_t> index_by_name;
    const std::string own_key = comparable_host_name(own_host.name());
    for (const HostMention& mention : mentions) {
        std::string key = comparable_host_name(mention.name);
        const bool is_own = own_host.is_called(mention.name);
        if (is_own) key = own_key;
        const auto next = static_cast<std::uint32_t>(allocation.hosts.size());
        const auto [entry, is_new] = index_by_name.try_emplace(std::move(key), next);
        allocation.mentions.push_back(entry->second);
        if (is_new) {
            allocation.hosts.push_back(
                {is_own ? own_host.name() : mention.name, mention.slots, mention.max_slots,
                 mention.user, mention.port, mention.prefix, is_own}
            );
            continue;
        }
        const Status status = join(allocation.hosts[entry->second], mention);
        if (!status.ok()) return status;
    }
    for (const AllocatedHost& host : allocation.hosts) {
        if (host.is_own) warn_of_unused(host, allocation.warnings);
    }
    return allocation;
}

Result<Allocation> find_allocation(
    const Options& options, std::span<const std::string> environment
) {
    if (options.simulated_hosts > 0) {
        return allocate(
            simulated_mentions(options.simulated_hosts, options.simulated_slots), find_own_host()
        );
    }
    Result<std::vector<HostMention>> mentions = read_mentions(options.hosts, environment);
    if (!mentions) return mentions.error();
    ResourceManager manager = ResourceManager::none;
    if (mentions->empty()) {
        Result<ManagedHosts> managed = find_managed_hosts(environment);
        if (!managed) return managed.error();
        manager = managed->manager;
        *mentions = std::move(managed->mentions);
    }
    if (mentions->empty()) return allocation_of(local_host_name());
    Result<Allocation> allocation = allocate(*mentions, find_own_host());
    if (allocation) allocation->manager = manager;
    return allocation;
}

}  // namespace dlrt::launcher
