// SPDX-License-Identifier: Apache-2.0
#include "launcher/placer.hpp"

#include "launcher/binding.hpp"
#include "launcher/cpu_tree.hpp"
#include "launcher/mapping.hpp"
#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

class Placer {
  public:
    Placer(
        const Options& options, const Allocation& allocation,
        std::span<const std::optional<HostOffer>> offers
    );

    Result<Placement> place();

  private:
    Status find_hosts();
    Status find_objects();
    void add_ranks(std::span<const MappedRank> mapped);
    void number_local_ranks();
    Status bind();
    Status bind_host(std::uint32_t host_index, std::span<PlacedRank* const> ranks);
    void warn();

    bool maps_to_objects() const {
        const MappingChoice& mapping = options_.mapping;
        return mapping.kind == MappingChoice::Kind::object ||
               (mapping.kind == MappingChoice::Kind::ppr && mapping.level);
    }

    const Options& options_;
    const Allocation& allocation_;
    std::span<const std::optional<HostOffer>> offers_;
    BindingRequest binding_request_;
    std::vector<BindableHost> bindable_;  ///< By host of the allocation, later of the placement.
    std::vector<MappableHost> mappable_;  ///< By host of the allocation.
    Placement result_;
};

Placer::Placer(
    const Options& options, const Allocation& allocation,
    std::span<const std::optional<HostOffer>> offers
)
    : options_(options),
      allocation_(allocation),
      offers_(offers),
      binding_request_{options.binding, options.mapping.cpus_per_rank, options.oversubscription} {
}

Status Placer::find_hosts() {
    for (std::size_t i = 0; i < allocation_.hosts.size(); ++i) {
        const AllocatedHost& host = allocation_.hosts[i];
        const std::optional<HostOffer>& offer = offers_[i];
        if (!offer && !host.slots) {
            return fail(
                Errc::argument,
                "host {}: the number of its cpus is not known without asking it; valid is slots=N",
                host.name
            );
        }
        BindableHost& bindable = bindable_.emplace_back();
        bindable.name = host.name;
        bindable.unbound_reason = "its cpus are not known without asking it";
        if (offer) {
            bindable.topology = offer->topology;
            bindable.cpus = offer->cpus;
            bindable.busy_cpu_count = offer->busy_cpu_count;
            bindable.unbound_reason = offer->unbound_reason;
        }
        MappableHost& mappable = mappable_.emplace_back();
        mappable.name = host.name;
        mappable.has_explicit_slots = host.slots.has_value();
        mappable.max_slots = host.max_slots;
        mappable.slots = host.slots
                             ? *host.slots
                             : slots_of_cpus(binding_request_, bindable, offer->usable_cpu_count);
        mappable.slots = std::min(mappable.slots, host.max_slots.value_or(UINT32_MAX));
    }
    return maps_to_objects() ? find_objects() : Status{};
}

Status Placer::find_objects() {
    const TopologyLevel level = *options_.mapping.level;
    for (std::size_t i = 0; i < mappable_.size(); ++i) {
        const BindableHost& host = bindable_[i];
        mappable_[i].objects = usable_objects(host.topology.objects(level), host.cpus);
        if (mappable_[i].objects.empty()) {
            return fail(
                Errc::argument, "--map-by: host {}: its objects of the kind '{}' are not known",
                host.name, level_name(level)
            );
        }
    }
    return {};
}

void Placer::add_ranks(std::span<const MappedRank> mapped) {
    std::size_t block = 0;
    std::uint32_t left = options_.blocks[0].rank_count.value_or(UINT32_MAX);
    for (const MappedRank& rank : mapped) {
        while (left == 0 && block + 1 < options_.blocks.size()) {
            left = options_.blocks[++block].rank_count.value_or(UINT32_MAX);
        }
        --left;
        PlacedRank& placed = result_.ranks.emplace_back();
        placed.host_index = rank.host_index;
        placed.block_index = static_cast<std::uint32_t>(block);
        placed.slot = rank.slot;
        if (rank.object) placed.object = MappedObject{*options_.mapping.level, *rank.object};
    }
}

/// Leaves hosts without ranks out, so that the others' numbers have no gap.
void Placer::number_local_ranks() {
    std::vector<std::uint32_t> counts(mappable_.size(), 0);
    for (PlacedRank& rank : result_.ranks) rank.local_rank = counts[rank.host_index]++;
    std::vector<std::uint32_t> new_index(mappable_.size(), 0);
    std::vector<BindableHost> kept;
    for (std::size_t i = 0; i < mappable_.size(); ++i) {
        const MappableHost& host = mappable_[i];
        PlacedHost placed;
        placed.name = host.name;
        placed.slots = host.slots;
        placed.has_explicit_slots = host.has_explicit_slots;
        placed.max_slots = host.max_slots;
        placed.usable_cpu_count = offers_[i] ? offers_[i]->usable_cpu_count : host.slots;
        placed.cpus = bindable_[i].cpus;
        placed.rank_count = counts[i];
        if (counts[i] == 0) {
            result_.idle_hosts.push_back(std::move(placed));
            continue;
        }
        new_index[i] = static_cast<std::uint32_t>(result_.hosts.size());
        result_.hosts.push_back(std::move(placed));
        kept.push_back(std::move(bindable_[i]));
    }
    bindable_ = std::move(kept);
    for (PlacedRank& rank : result_.ranks) rank.host_index = new_index[rank.host_index];
}

Status Placer::bind() {
    std::vector<std::vector<PlacedRank*>> ranks_by_host(result_.hosts.size());
    for (PlacedRank& rank : result_.ranks) ranks_by_host[rank.host_index].push_back(&rank);
    for (std::uint32_t host = 0; host < result_.hosts.size(); ++host) {
        if (Status status = bind_host(host, ranks_by_host[host]); !status.ok()) return status;
    }
    return {};
}

Status Placer::bind_host(std::uint32_t host_index, std::span<PlacedRank* const> ranks) {
    std::vector<std::optional<MappedObject>> objects;
    for (const PlacedRank* rank : ranks) objects.push_back(rank->object);
    Result<Binding> binding = bind_ranks(binding_request_, bindable_[host_index], objects);
    if (!binding) return binding.error();
    PlacedHost& host = result_.hosts[host_index];
    host.unbound_reason = std::move(binding->unbound_reason);
    if (!host.unbound_reason.empty()) host.cpus.clear();
    for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i]->cpus = std::move(binding->cpus[i]);
    return {};
}

void Placer::warn() {
    result_.warnings = allocation_.warnings;
    if (options_.oversubscription == Oversubscription::allowed) return;
    for (const PlacedHost& host : result_.hosts) {
        if (host.rank_count <= host.usable_cpu_count) continue;
        result_.warnings.push_back(fmt::format(
            "{} ranks share {} usable cpu{} on {}", host.rank_count, host.usable_cpu_count,
            host.usable_cpu_count == 1 ? "" : "s", host.name
        ));
    }
}

Result<Placement> Placer::place() {
    if (Status status = find_hosts(); !status.ok()) return status;
    MappingRequest request;
    request.rank_count = options_.rank_count();
    request.ranks_per_host = options_.ranks_per_host;
    request.choice = options_.mapping;
    request.ranking = options_.ranking;
    request.oversubscription = options_.oversubscription;
    request.mentions = allocation_.mentions;
    const Result<std::vector<MappedRank>> mapped = map_ranks(request, mappable_);
    if (!mapped) return mapped.error();
    add_ranks(*mapped);
    number_local_ranks();
    if (Status status = bind(); !status.ok()) return status;
    warn();
    return std::move(result_);
}

}  // namespace

Result<Placement> place_ranks(
    const Options& options, const Allocation& allocation,
    std::span<const std::optional<HostOffer>> offers
) {
    return Placer(options, allocation, offers).place();
}

}  // namespace dlrt::launcher
