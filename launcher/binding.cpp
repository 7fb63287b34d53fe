// SPDX-License-Identifier: Apache-2.0
#include "launcher/binding.hpp"

#include "launcher/mapping.hpp"
#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

using Kind = BindingChoice::Kind;
using Members = std::vector<std::size_t>;  // Local ranks.

/// Ranks that were mapped to the same place, which they divide among themselves.
struct Group {
    std::optional<MappedObject> object;  ///< Nothing: the whole host.
    CpuList cpus;
    Members members;
};

std::string counted(std::size_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string name_of(const std::optional<MappedObject>& object, std::string_view host) {
    if (!object) return fmt::format("host {}", host);
    return fmt::format("{} {} of host {}", level_name(object->level), object->index, host);
}

class Binder {
  public:
    Binder(
        const BindingRequest& request, const BindableHost& host,
        std::span<const std::optional<MappedObject>> objects
    );

    Result<Binding> bind();

  private:
    Result<Binding> bind_shares();
    Result<Binding> bind_fixed_shares();
    Result<Binding> bind_objects();
    /// Says what can't be met; nothing when all is well.
    std::string bind_group_to_objects(
        const Group& group, std::span<const std::uint32_t> usable,
        std::map<std::uint32_t, std::size_t>& loads
    );
    Result<Binding> give_up(std::string reason) const;

    Binding unbound(std::string reason) const;
    std::string option() const;
    /// Says where cpus are missing that the user may count on.
    std::string busy_note() const;
    bool may_share() const { return request_.oversubscription == Oversubscription::allowed; }
    bool is_a_wish() const { return !request_.choice.is_explicit && !request_.cpus_per_rank; }

    const BindingRequest& request_;
    const BindableHost& host_;
    CpuTree tree_;
    std::size_t rank_count_;
    std::vector<Group> groups_;
    Binding result_;
};

Binder::Binder(
    const BindingRequest& request, const BindableHost& host,
    std::span<const std::optional<MappedObject>> objects
)
    : request_(request), host_(host), tree_(host.topology, host.cpus), rank_count_(objects.size()) {
    std::map<std::optional<std::uint32_t>, std::size_t> group_by_object;
    for (std::size_t rank = 0; rank < objects.size(); ++rank) {
        const std::optional<MappedObject>& object = objects[rank];
        const auto key = object ? std::optional(object->index) : std::nullopt;
        const auto [entry, is_new] = group_by_object.try_emplace(key, groups_.size());
        if (is_new) {
            CpuList cpus = host.cpus;
            if (object) {
                const auto level = host.topology.objects(object->level);
                cpus = common_cpus(host.cpus, level[object->index].cpus);
            }
            groups_.push_back({object, std::move(cpus), {}});
        }
        groups_[entry->second].members.push_back(rank);
    }
    result_.cpus.resize(rank_count_);
}

std::string Binder::option() const {
    if (request_.cpus_per_rank) return fmt::format("--cpus-per-rank {}", *request_.cpus_per_rank);
    if (request_.choice.kind == Kind::share) return "--bind-to share";
    return fmt::format("--bind-to {}", level_name(request_.choice.level));
}

std::string Binder::busy_note() const {
    if (host_.busy_cpu_count == 0) return {};
    return fmt::format(" ({} held by other jobs)", counted(host_.busy_cpu_count, "cpu"));
}

Binding Binder::unbound(std::string reason) const {
    return {std::vector<CpuList>(rank_count_), std::move(reason)};
}

/// Nobody is bound, or it is an error, as the user wants it.
Result<Binding> Binder::give_up(std::string reason) const {
    if (is_a_wish() || may_share()) return unbound(std::move(reason));
    return fail(
        Errc::argument, "{}: {}; valid are fewer ranks, --bind-to none or --oversubscribe",
        option(), reason
    );
}

Result<Binding> Binder::bind_shares() {
    for (const Group& group : groups_) {
        const std::size_t count = group.members.size();
        const std::vector<CpuList> shares = tree_.within(group.cpus).even_shares(count);
        if (shares.empty()) {
            return give_up(fmt::format(
                "{} share{} {} of {}{}", counted(count, "rank"), count == 1 ? "s" : "",
                counted(group.cpus.size(), "cpu"), name_of(group.object, host_.name), busy_note()
            ));
        }
        for (std::size_t i = 0; i < count; ++i) result_.cpus[group.members[i]] = shares[i];
    }
    return std::move(result_);
}

Result<Binding> Binder::bind_fixed_shares() {
    const bool counts_cores = request_.choice.kind == Kind::object &&
                              request_.choice.level == TopologyLevel::core;
    const ShareUnit unit = counts_cores ? ShareUnit::core : ShareUnit::cpu;
    const std::string_view noun = counts_cores ? "core" : "cpu";
    for (const Group& group : groups_) {
        const std::size_t count = group.members.size();
        const CpuTree tree = tree_.within(group.cpus);
        const auto shares = tree.fixed_shares(count, *request_.cpus_per_rank, unit);
        if (!shares) {
            const std::size_t present = counts_cores ? tree.core_count() : tree.cpu_count();
            return give_up(fmt::format(
                "{} want{} {} each, but there {} {} on {}{}", counted(count, "rank"),
                count == 1 ? "s" : "", counted(*request_.cpus_per_rank, noun),
                present == 1 ? "is" : "are", counted(present, noun),
                name_of(group.object, host_.name), busy_note()
            ));
        }
        for (std::size_t i = 0; i < count; ++i) result_.cpus[group.members[i]] = (*shares)[i];
    }
    return std::move(result_);
}

/// Neighbours among the ranks get neighbouring objects: one each, or evenly by their cpus.
std::string Binder::bind_group_to_objects(
    const Group& group, std::span<const std::uint32_t> usable,
    std::map<std::uint32_t, std::size_t>& loads
) {
    const TopologyLevel level = request_.choice.level;
    const auto objects = host_.topology.objects(level);
    std::vector<std::uint32_t> candidates;
    std::vector<std::size_t> sizes;
    for (const std::uint32_t number : usable) {
        const std::size_t size = common_cpus(group.cpus, objects[number].cpus).size();
        if (size == 0) continue;
        candidates.push_back(number);
        sizes.push_back(size);
    }
    if (candidates.empty()) {
        return fmt::format(
            "no {} of {} is known", level_name(level), name_of(group.object, host_.name)
        );
    }
    std::vector<std::size_t> counts(candidates.size(), 0);
    if (group.members.size() <= candidates.size())
        std::fill_n(counts.begin(), group.members.size(), 1);
    else
        counts = ranks_by_group(sizes, group.members.size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (counts[i] == 0) continue;
        const CpuList cpus = common_cpus(host_.cpus, objects[candidates[i]].cpus);
        std::size_t& load = loads[candidates[i]];
        load += counts[i];
        if (load > cpus.size() && !may_share()) {
            return fmt::format(
                "{} would share {} of {}{}", counted(load, "rank"), counted(cpus.size(), "cpu"),
                name_of(MappedObject{level, candidates[i]}, host_.name), busy_note()
            );
        }
        for (std::size_t k = 0; k < counts[i]; ++k) result_.cpus[group.members[next++]] = cpus;
    }
    return {};
}

Result<Binding> Binder::bind_objects() {
    const auto objects = host_.topology.objects(request_.choice.level);
    const std::vector<std::uint32_t> usable = usable_objects(objects, host_.cpus);
    std::map<std::uint32_t, std::size_t> loads;
    for (const Group& group : groups_) {
        std::string problem = bind_group_to_objects(group, usable, loads);
        if (!problem.empty()) return give_up(std::move(problem));
    }
    return std::move(result_);
}

Result<Binding> Binder::bind() {
    const BindingChoice& choice = request_.choice;
    if (choice.kind == Kind::none) return unbound("--bind-to none");
    const bool is_by_object = choice.kind == Kind::object;
    if (is_by_object && request_.cpus_per_rank && choice.level < TopologyLevel::core) {
        return fail(
            Errc::argument,
            "--cpus-per-rank: does not go with --bind-to {}; valid are core, hwthread, share, none",
            level_name(choice.level)
        );
    }
    if (host_.cpus.empty()) {
        if (is_a_wish() || may_share()) return unbound(host_.unbound_reason);
        return fail(
            Errc::argument, "{}: host {}: {}; valid is --bind-to none", option(), host_.name,
            host_.unbound_reason
        );
    }
    if (request_.cpus_per_rank) return bind_fixed_shares();
    return is_by_object ? bind_objects() : bind_shares();
}

}  // namespace

Result<Binding> bind_ranks(
    const BindingRequest& request, const BindableHost& host,
    std::span<const std::optional<MappedObject>> objects
) {
    return Binder(request, host, objects).bind();
}

std::uint32_t slots_of_cpus(
    const BindingRequest& request, const BindableHost& host, std::uint32_t usable_cpu_count
) {
    if (!request.cpus_per_rank) return std::max(usable_cpu_count, 1u);
    std::uint32_t units = usable_cpu_count;
    const bool counts_cores = request.choice.kind == Kind::object &&
                              request.choice.level == TopologyLevel::core;
    if (counts_cores && !host.cpus.empty()) {
        const CpuTree tree(host.topology, host.cpus);
        units = std::min(units, static_cast<std::uint32_t>(tree.core_count()));
    }
    return std::max(units / *request.cpus_per_rank, 1u);
}

}  // namespace dlrt::launcher
