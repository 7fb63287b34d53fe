// SPDX-License-Identifier: Apache-2.0
/// Groups: local set operations behind handles.
#include "runtime/api/surface.hpp"

#include <span>

namespace dlrt::api {
namespace {

using PairOperation = GroupRef (*)(const Group&, const Group&);

dlrt_err combine(
    const char* function, PairOperation operation, dlrt_group a, dlrt_group b, dlrt_group* result
) {
    const Site site(function);
    if (!site.is_ready()) return site.error();
    GroupRef left, right;
    if (const Status bad = site.require(result, "result"); !bad.ok()) return to_c(bad);
    if (const Status bad = site.use(a, left); !bad.ok()) return to_c(bad);
    if (const Status bad = site.use(b, right); !bad.ok()) return to_c(bad);
    return to_c(site.give(operation(*left, *right), result));
}

/// What the four forms that choose by rank begin with.
Status open_choice(
    const Site& site, dlrt_group handle, std::int32_t count, const void* ranks,
    const dlrt_group* result, GroupRef& group
) {
    if (const Status bad = site.require(result, "result"); !bad.ok()) return bad;
    if (const Status bad = site.use(handle, group); !bad.ok()) return bad;
    if (count < 0) return site.fail(Errc::count, "count {} is negative", count);
    return count > 0 ? site.require(ranks, "the array of ranks") : Status{};
}

using Choice = Result<GroupRef> (*)(const Group&, std::span<const std::int32_t>);

dlrt_err choose(
    const char* function, Choice choice, dlrt_group handle, std::span<const std::int32_t> ranks,
    std::int32_t count, dlrt_group* result
) {
    const Site site(function);
    if (!site.is_ready()) return site.error();
    GroupRef group;
    const Status bad = open_choice(site, handle, count, ranks.data(), result, group);
    if (!bad.ok()) return to_c(bad);
    if (count > group->size()) {
        return to_c(site.fail(
            Errc::count, "{} ranks are more than the {} of the group", count, group->size()
        ));
    }
    Result<GroupRef> chosen = choice(*group, ranks);
    if (!chosen) return to_c(site.pass(chosen.error()));
    return to_c(site.give(*std::move(chosen), result));
}

std::span<const std::int32_t> ranks_of(const std::int32_t* ranks, std::int32_t count) {
    return {ranks, count > 0 && ranks != nullptr ? static_cast<std::size_t>(count) : 0};
}

dlrt_err choose_ranges(
    const char* function, Choice choice, dlrt_group handle, std::int32_t count,
    const std::int32_t (*ranges)[3], dlrt_group* result
) {
    const Site site(function);
    if (!site.is_ready()) return site.error();
    GroupRef group;
    const Status bad = open_choice(site, handle, count, ranges, result, group);
    if (!bad.ok()) return to_c(bad);
    std::vector<RankRange> triplets;
    for (std::int32_t i = 0; i < count; ++i) {
        triplets.push_back({ranges[i][0], ranges[i][1], ranges[i][2]});
    }
    const Result<std::vector<std::int32_t>> ranks = expand_ranges(group->size(), triplets);
    if (!ranks) return to_c(site.pass(ranks.error()));
    Result<GroupRef> chosen = choice(*group, *ranks);
    if (!chosen) return to_c(site.pass(chosen.error()));
    return to_c(site.give(*std::move(chosen), result));
}

}  // namespace
}  // namespace dlrt::api

using namespace dlrt;
using namespace dlrt::api;

dlrt_err dlrt_comm_group(dlrt_comm comm, dlrt_group* group) {
    const Site site("dlrt_comm_group");
    if (!site.is_ready()) return site.error();
    Use<Communicator> use;
    if (const Status bad = site.require(group, "group"); !bad.ok()) return to_c(bad);
    if (const Status bad = site.use(comm, use); !bad.ok()) return to_c(bad);
    return to_c(site.give(use.pointer->group(), group));
}

dlrt_err dlrt_group_size(dlrt_group group, int32_t* size) {
    const Site site("dlrt_group_size");
    if (!site.is_ready()) return site.error();
    GroupRef members;
    if (const Status bad = site.require(size, "size"); !bad.ok()) return to_c(bad);
    if (const Status bad = site.use(group, members); !bad.ok()) return to_c(bad);
    *size = members->size();
    return DLRT_OK;
}

dlrt_err dlrt_group_rank(dlrt_group group, int32_t* rank) {
    const Site site("dlrt_group_rank");
    if (!site.is_ready()) return site.error();
    GroupRef members;
    if (const Status bad = site.require(rank, "rank"); !bad.ok()) return to_c(bad);
    if (const Status bad = site.use(group, members); !bad.ok()) return to_c(bad);
    *rank = members->rank_of(site.surface().world->rank());
    return DLRT_OK;
}

dlrt_err dlrt_group_translate(
    dlrt_group from, int32_t count, const int32_t* ranks, dlrt_group to, int32_t* translated
) {
    const Site site("dlrt_group_translate");
    if (!site.is_ready()) return site.error();
    GroupRef source, target;
    if (const Status bad = site.use(from, source); !bad.ok()) return to_c(bad);
    if (const Status bad = site.use(to, target); !bad.ok()) return to_c(bad);
    if (count < 0) return to_c(site.fail(Errc::count, "count {} is negative", count));
    if (count == 0) return DLRT_OK;
    if (const Status bad = site.require(ranks, "ranks"); !bad.ok()) return to_c(bad);
    if (const Status bad = site.require(translated, "translated"); !bad.ok()) return to_c(bad);
    for (std::int32_t i = 0; i < count; ++i) {
        const bool is_member = ranks[i] >= 0 && ranks[i] < source->size();
        if (is_member || ranks[i] == DLRT_PROC_NULL) continue;
        return to_c(
            site.fail(Errc::rank, "rank {} is not in a group of {} ranks", ranks[i], source->size())
        );
    }
    for (std::int32_t i = 0; i < count; ++i) {
        const bool is_nobody = ranks[i] == DLRT_PROC_NULL;
        translated[i] = is_nobody ? DLRT_PROC_NULL : target->rank_of(source->world_rank(ranks[i]));
    }
    return DLRT_OK;
}

dlrt_err dlrt_group_compare(dlrt_group a, dlrt_group b, dlrt_comparison* result) {
    const Site site("dlrt_group_compare");
    if (!site.is_ready()) return site.error();
    GroupRef left, right;
    if (const Status bad = site.require(result, "result"); !bad.ok()) return to_c(bad);
    if (const Status bad = site.use(a, left); !bad.ok()) return to_c(bad);
    if (const Status bad = site.use(b, right); !bad.ok()) return to_c(bad);
    *result = static_cast<dlrt_comparison>(compare(*left, *right));
    return DLRT_OK;
}

dlrt_err dlrt_group_union(dlrt_group a, dlrt_group b, dlrt_group* result) {
    return combine("dlrt_group_union", group_union, a, b, result);
}

dlrt_err dlrt_group_intersection(dlrt_group a, dlrt_group b, dlrt_group* result) {
    return combine("dlrt_group_intersection", group_intersection, a, b, result);
}

dlrt_err dlrt_group_difference(dlrt_group a, dlrt_group b, dlrt_group* result) {
    return combine("dlrt_group_difference", group_difference, a, b, result);
}

dlrt_err dlrt_group_incl(
    dlrt_group group, int32_t count, const int32_t* ranks, dlrt_group* result
) {
    return choose("dlrt_group_incl", group_include, group, ranks_of(ranks, count), count, result);
}

dlrt_err dlrt_group_excl(
    dlrt_group group, int32_t count, const int32_t* ranks, dlrt_group* result
) {
    return choose("dlrt_group_excl", group_exclude, group, ranks_of(ranks, count), count, result);
}

dlrt_err dlrt_group_range_incl(
    dlrt_group group, int32_t count, const int32_t (*ranges)[3], dlrt_group* result
) {
    return choose_ranges("dlrt_group_range_incl", group_include, group, count, ranges, result);
}

dlrt_err dlrt_group_range_excl(
    dlrt_group group, int32_t count, const int32_t (*ranges)[3], dlrt_group* result
) {
    return choose_ranges("dlrt_group_range_excl", group_exclude, group, count, ranges, result);
}

dlrt_err dlrt_group_free(dlrt_group* group) {
    const Site site("dlrt_group_free");
    if (!site.is_ready()) return site.error();
    GroupRef members;
    if (const Status bad = site.require(group, "group"); !bad.ok()) return to_c(bad);
    if (const Status bad = site.use(*group, members); !bad.ok()) return to_c(bad);
    // The empty group is no entry of the table: freeing it only clears the handle, as in MPI.
    site.surface().groups.remove(to_handle(*group));
    *group = DLRT_GROUP_NULL;
    return DLRT_OK;
}
