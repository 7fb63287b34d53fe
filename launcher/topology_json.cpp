// SPDX-License-Identifier: Apache-2.0
#include "launcher/topology_json.hpp"

#include "launcher/mapping.hpp"

#include <span>

#include <nlohmann/json.hpp>

namespace dlrt::launcher {
namespace {

using Json = nlohmann::ordered_json;

Json level_of(std::span<const TopologyObject> objects) {
    Json level = Json::array();
    for (const TopologyObject& object : objects) {
        Json one = {{"os_index", object.os_index}, {"cpus", object.cpus}};
        if (object.size_bytes != 0) one["size_bytes"] = object.size_bytes;
        if (object.kind != 0) one["kind"] = object.kind;
        level.push_back(std::move(one));
    }
    return level;
}

const char* word_of(TopologyDevice::Kind kind) {
    if (kind == TopologyDevice::Kind::gpu) return "gpu";
    return kind == TopologyDevice::Kind::network ? "network" : "other";
}

Json topology_of(const HostTopology& topology) {
    Json json = {
        {"cpu_model", topology.cpu_model},
        {"packages", level_of(topology.packages)},
        {"numas", level_of(topology.numas)},
        {"l3s", level_of(topology.l3s)},
        {"l2s", level_of(topology.l2s)},
        {"cores", level_of(topology.cores)},
        {"hwthreads", level_of(topology.hwthreads)}};
    json["devices"] = Json::array();
    for (const TopologyDevice& device : topology.devices) {
        json["devices"].push_back(
            {{"kind", word_of(device.kind)},
             {"name", device.name},
             {"detail", device.detail},
             {"near_cpus", device.near_cpus}}
        );
    }
    return json;
}

Json binding_of(const Placement& placement, std::uint32_t host_index) {
    Json binding = Json::array();
    for (std::uint32_t rank = 0; rank < placement.size(); ++rank) {
        const PlacedRank& placed = placement.ranks[rank];
        if (placed.host_index != host_index) continue;
        Json one = {{"rank", rank}, {"local_rank", placed.local_rank}, {"cpus", placed.cpus}};
        if (placed.cpus.empty()) one["unbound"] = placement.hosts[host_index].unbound_reason;
        binding.push_back(std::move(one));
    }
    return binding;
}

Json allocation_of(const PlacedHost& host) {
    Json json = {
        {"slots", host.slots},
        {"has_explicit_slots", host.has_explicit_slots},
        {"usable_cpu_count", host.usable_cpu_count},
        {"rank_count", host.rank_count}};
    if (host.max_slots) json["max_slots"] = *host.max_slots;
    return json;
}

Json map_of(const Placement& placement) {
    Json map = Json::array();
    for (std::uint32_t number = 0; number < placement.size(); ++number) {
        const PlacedRank& rank = placement.ranks[number];
        Json one = {
            {"rank", number},
            {"host", placement.hosts[rank.host_index].name},
            {"slot", rank.slot},
            {"block", rank.block_index}};
        if (rank.object) {
            one["object"] = {
                {"level", level_name(rank.object->level)}, {"index", rank.object->index}};
        }
        map.push_back(std::move(one));
    }
    return map;
}

}  // namespace

std::string draw_topology_json(
    const Placement& placement, const std::vector<HostTopology>& topologies, const Display& display
) {
    Json hosts = Json::array();
    for (std::uint32_t i = 0; i < placement.hosts.size(); ++i) {
        Json host = {{"name", placement.hosts[i].name}};
        if (display.allocation) host["allocation"] = allocation_of(placement.hosts[i]);
        if (display.topology) host["topology"] = topology_of(topologies[i]);
        if (display.binding) host["binding"] = binding_of(placement, i);
        hosts.push_back(std::move(host));
    }
    Json document = {{"hosts", std::move(hosts)}};
    if (display.map) document["map"] = map_of(placement);
    // Names of hosts and devices come from outside: what is no UTF-8 is replaced.
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace dlrt::launcher
