// SPDX-License-Identifier: Apache-2.0
#include "launcher/mapping.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/wireup/host_segment.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

using Kind = MappingChoice::Kind;
constexpr std::uint64_t no_limit = UINT64_MAX;
constexpr std::size_t table_rows_max = 16;

std::string_view plural(std::uint64_t count) {
    return count == 1 ? "" : "s";
}

/// "2 slots are", "1 slot is".
std::string slots_are(std::uint64_t count) {
    return fmt::format("{} slot{} {}", count, plural(count), count == 1 ? "is" : "are");
}

class Mapper {
  public:
    Mapper(const MappingRequest& request, std::span<const MappableHost> hosts)
        : request_(request), hosts_(hosts), counts_(hosts.size()) {}

    Result<std::vector<MappedRank>> map();

  private:
    Status find_fixed_counts();
    Status find_size();
    Status check_slots() const;
    Status check_sizes() const;
    enum class Bound : std::uint8_t { slots, max_slots };
    Status refuse(Bound bound, std::string_view hint) const;
    std::string table() const;
    void choose_hosts();
    void add_round(std::span<const std::uint64_t> limits);
    void add_rank(std::uint32_t host);
    void put_in_order();

    bool goes_by_host() const { return request_.choice.kind == Kind::host; }
    bool is_done() const { return ranks_.size() == size_; }
    std::uint64_t bound_of(std::uint32_t host, Bound bound) const {
        if (bound == Bound::slots) return hosts_[host].slots;
        return hosts_[host].max_slots ? *hosts_[host].max_slots : no_limit;
    }

    const MappingRequest& request_;
    std::span<const MappableHost> hosts_;
    /// How many ranks each host shall have at most, where the request says so; else empty.
    std::vector<std::uint64_t> fixed_counts_;
    std::uint64_t size_ = 0;
    std::vector<std::uint32_t> counts_;  ///< Ranks by host, so far.
    std::vector<MappedRank> ranks_;
};

Status Mapper::find_fixed_counts() {
    const MappingChoice& choice = request_.choice;
    const bool counts_by_object = choice.kind == Kind::ppr && choice.level;
    const bool counts_by_host = choice.kind == Kind::ppr && !choice.level;
    if (choice.kind == Kind::sequential && request_.ranks_per_host) {
        return fail(Errc::argument, "--ppn: does not go with --map-by seq, which counts lines");
    }
    if (counts_by_object && request_.ranks_per_host) {
        return fail(
            Errc::argument, "--ppn: does not go with --map-by ppr:{}:{}; valid is one of them",
            choice.per_object, level_name(*choice.level)
        );
    }
    if (counts_by_host &&
        request_.ranks_per_host.value_or(choice.per_object) != choice.per_object) {
        return fail(
            Errc::argument, "--ppn {}: --map-by ppr says {} for each host",
            *request_.ranks_per_host, choice.per_object
        );
    }
    if (!counts_by_object && !counts_by_host && !request_.ranks_per_host) return {};
    for (const MappableHost& host : hosts_) {
        const std::uint64_t per_host = request_.ranks_per_host.value_or(choice.per_object);
        fixed_counts_.push_back(
            counts_by_object ? std::uint64_t{choice.per_object} * host.objects.size() : per_host
        );
    }
    return {};
}

/// REQUIRES: the fixed counts are known.
Status Mapper::find_size() {
    std::uint64_t offered = 0;
    std::string_view option = "--ppn";
    if (request_.choice.kind == Kind::sequential) {
        offered = request_.mentions.size();
        option = "--map-by seq";
        if (offered == 0) {
            return fail(
                Errc::argument, "--map-by seq: needs the hosts; valid are --host, --hostfile"
            );
        }
    } else if (!fixed_counts_.empty()) {
        offered = std::accumulate(fixed_counts_.begin(), fixed_counts_.end(), std::uint64_t{0});
        if (request_.choice.kind == Kind::ppr) option = "--map-by ppr";
    } else {
        for (const MappableHost& host : hosts_) offered += host.slots;
        size_ = request_.rank_count.value_or(std::min<std::uint64_t>(offered, UINT32_MAX));
        return {};
    }
    size_ = request_.rank_count.value_or(std::min<std::uint64_t>(offered, UINT32_MAX));
    if (size_ <= offered) return {};
    return fail(
        Errc::argument, "-np {}: {} makes only {} rank{} on {} host{}", size_, option, offered,
        plural(offered), hosts_.size(), plural(hosts_.size())
    );
}

void Mapper::add_rank(std::uint32_t host) {
    const MappingChoice& choice = request_.choice;
    MappedRank rank{host, counts_[host]++, {}};
    const std::vector<std::uint32_t>& objects = hosts_[host].objects;
    if (choice.kind == Kind::object) rank.object = objects[rank.slot % objects.size()];
    if (choice.kind == Kind::ppr && choice.level) {
        rank.object = objects[rank.slot / choice.per_object];
    }
    ranks_.push_back(rank);
}

/// Up to the limits: a host after the other, or one rank for each host in turn.
void Mapper::add_round(std::span<const std::uint64_t> limits) {
    bool is_full = false;
    while (!is_full && !is_done()) {
        is_full = true;
        for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
            while (!is_done() && counts_[host] < limits[host]) {
                add_rank(host);
                if (!goes_by_host()) continue;
                is_full = false;
                break;
            }
        }
    }
}

/// REQUIRES: the size fits within all limits.
void Mapper::choose_hosts() {
    if (request_.choice.kind == Kind::sequential) {
        for (std::uint64_t i = 0; i < size_; ++i) add_rank(request_.mentions[i]);
        return;
    }
    if (!fixed_counts_.empty()) return add_round(fixed_counts_);
    std::vector<std::uint64_t> limits(hosts_.size(), 0);
    while (!is_done()) {
        for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
            limits[host] = std::min(
                limits[host] + hosts_[host].slots, bound_of(host, Bound::max_slots)
            );
        }
        add_round(limits);
    }
}

std::string Mapper::table() const {
    std::size_t width = 4;
    const std::size_t row_count = std::min(hosts_.size(), table_rows_max);
    for (std::size_t i = 0; i < row_count; ++i) width = std::max(width, hosts_[i].name.size());
    const bool has_counts = !ranks_.empty();
    std::string text = fmt::format(
        "\n  {:<{}}  slots  max_slots{}", "host", width, has_counts ? "  ranks" : ""
    );
    for (std::size_t i = 0; i < row_count; ++i) {
        const MappableHost& host = hosts_[i];
        text += fmt::format(
            "\n  {:<{}}  {:>5}  {:>9}", host.name, width, host.slots,
            host.max_slots ? fmt::format("{}", *host.max_slots) : "-"
        );
        if (has_counts) text += fmt::format("  {:>5}", counts_[i]);
    }
    if (row_count < hosts_.size()) {
        text += fmt::format("\n  and {} more hosts", hosts_.size() - row_count);
    }
    return text;
}

/// Names the host where it is one host that has too few, though all together have enough.
Status Mapper::refuse(Bound bound, std::string_view hint) const {
    std::uint64_t wanted = size_;
    std::uint64_t present = 0;
    std::string place;
    for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
        present += std::min<std::uint64_t>(bound_of(host, bound), job_rank_count_max);
    }
    for (std::uint32_t host = 0; wanted <= present && host < hosts_.size(); ++host) {
        if (counts_[host] <= bound_of(host, bound)) continue;
        wanted = counts_[host];
        present = bound_of(host, bound);
        place = fmt::format(" on host {}", hosts_[host].name);
    }
    return fail(
        Errc::argument, "{} rank{} wanted{}, but only {} {}{}{}", wanted,
        wanted == 1 ? " is" : "s are", place, slots_are(present),
        bound == Bound::slots ? "there" : "within max_slots", hint, table()
    );
}

/// Of the counts that were found as if there were no rule.
Status Mapper::check_slots() const {
    const auto is_beyond = [this](Bound bound) {
        for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
            if (counts_[host] > bound_of(host, bound)) return true;
        }
        return false;
    };
    if (is_beyond(Bound::max_slots)) return refuse(Bound::max_slots, "");
    if (!is_beyond(Bound::slots)) return {};
    switch (request_.oversubscription) {
        case Oversubscription::allowed:
            return {};
        case Oversubscription::refused:
            return refuse(Bound::slots, ", and --no-oversubscribe is given");
        case Oversubscription::by_rule:
            break;
    }
    if (hosts_.size() == 1 && !hosts_[0].has_explicit_slots) return {};
    return refuse(Bound::slots, "; --oversubscribe starts them all the same");
}

Status Mapper::check_sizes() const {
    if (size_ > job_rank_count_max) {
        return fail(
            Errc::argument, "{} ranks are too many; valid are 1 to {}", size_, job_rank_count_max
        );
    }
    for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
        if (counts_[host] <= local_rank_count_max) continue;
        return fail(
            Errc::argument, "host {}: {} ranks are too many for one host; valid are 1 to {}",
            hosts_[host].name, counts_[host], local_rank_count_max
        );
    }
    return {};
}

void Mapper::put_in_order() {
    const bool has_own_order = goes_by_host() || request_.choice.kind == Kind::sequential;
    if (!request_.ranking && has_own_order) return;
    const bool is_by_host = request_.ranking == Ranking::by_host;
    std::ranges::sort(ranks_, {}, [&](const MappedRank& rank) {
        return is_by_host ? std::tuple(rank.slot, rank.host_index)
                          : std::tuple(rank.host_index, rank.slot);
    });
}

Result<std::vector<MappedRank>> Mapper::map() {
    if (request_.ranking && request_.choice.kind == Kind::sequential) {
        return fail(
            Errc::argument, "--rank-by: does not go with --map-by seq, which is an order itself"
        );
    }
    if (Status status = find_fixed_counts(); !status.ok()) return status;
    if (Status status = find_size(); !status.ok()) return status;
    if (Status status = check_sizes(); !status.ok()) return status;
    std::uint64_t possible = 0;
    for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
        possible += std::min<std::uint64_t>(bound_of(host, Bound::max_slots), job_rank_count_max);
    }
    const bool has_fixed_hosts = !fixed_counts_.empty() || request_.choice.kind == Kind::sequential;
    if (size_ > possible && !has_fixed_hosts) return refuse(Bound::max_slots, "");
    choose_hosts();
    if (Status status = check_slots(); !status.ok()) return status;
    if (Status status = check_sizes(); !status.ok()) return status;
    put_in_order();
    return std::move(ranks_);
}

}  // namespace

Result<std::vector<MappedRank>> map_ranks(
    const MappingRequest& request, std::span<const MappableHost> hosts
) {
    return Mapper(request, hosts).map();
}

std::string_view level_name(TopologyLevel level) {
    switch (level) {
        case TopologyLevel::package:
            return "package";
        case TopologyLevel::numa:
            return "numa";
        case TopologyLevel::l3:
            return "l3";
        case TopologyLevel::core:
            return "core";
        case TopologyLevel::hwthread:
            break;
    }
    return "hwthread";
}

}  // namespace dlrt::launcher
