// SPDX-License-Identifier: Apache-2.0
/// Chapter: groups of ranks.
#include "runtime/base/error_text.hpp"
#include "runtime/mpi/comparison.hpp"
#include "runtime/mpi/surface.hpp"

#include <mpi_functions.hpp>
#include <span>

namespace dlrt::mpi {
namespace {

int give_group(const Site& site, GroupRef made, MPI_Group* result) {
    if (made->size() == 0) {
        *result = MPI_GROUP_EMPTY;
        return MPI_SUCCESS;
    }
    const int wrong = site.give(std::move(made), result);
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

int give_group(const Site& site, const Result<GroupRef>& made, MPI_Group* result) {
    return made ? give_group(site, *made, result) : site.raise(made.error());
}

using Combination = GroupRef (*)(const Group&, const Group&);

int combine(
    const char* function, MPI_Group first, MPI_Group second, Combination combination,
    MPI_Group* result
) {
    const Site site(function);
    if (!site.ok()) return site.error();
    GroupRef a, b;
    if (const int wrong = site.use(first, a, "group1")) return site.raise(wrong);
    if (const int wrong = site.use(second, b, "group2")) return site.raise(wrong);
    if (const int wrong = site.require(result, "newgroup")) return site.raise(wrong);
    return give_group(site, combination(*a, *b), result);
}

int open_ranks(
    const Site& site, MPI_Group handle, int count, const void* ranks, const MPI_Group* result
) {
    GroupRef group;
    if (const int wrong = site.use(handle, group)) return wrong;
    if (const int wrong = site.require_not_negative(count, "n", MPI_ERR_ARG)) return wrong;
    if (count > 0) {
        if (const int wrong = site.require(ranks, "ranks")) return wrong;
    }
    return site.require(result, "newgroup");
}

using Selection = Result<GroupRef> (*)(const Group&, std::span<const std::int32_t>);

int select(
    const Site& site, MPI_Group handle, std::span<const int> ranks, Selection selection,
    MPI_Group* result
) {
    GroupRef group;
    if (const int wrong = site.use(handle, group)) return site.raise(wrong);
    return give_group(site, selection(*group, ranks), result);
}

int select_ranges(
    const char* function, MPI_Group handle, int count, int ranges[][3], Selection selection,
    MPI_Group* result
) {
    const Site site(function);
    if (!site.ok()) return site.error();
    if (const int wrong = open_ranks(site, handle, count, ranges, result)) return site.raise(wrong);
    GroupRef group;
    if (const int wrong = site.use(handle, group)) return site.raise(wrong);
    std::vector<RankRange> list;
    for (int i = 0; i < count; ++i) list.push_back({ranges[i][0], ranges[i][1], ranges[i][2]});
    const auto ranks = expand_ranges(group->size(), list);
    if (!ranks) return site.raise(ranks.error());
    return give_group(site, selection(*group, *ranks), result);
}

}  // namespace

int MPI_Group_size(MPI_Group handle, int* size) {
    const Site site("MPI_Group_size");
    if (!site.ok()) return site.error();
    GroupRef group;
    if (const int wrong = site.use(handle, group)) return site.raise(wrong);
    if (const int wrong = site.require(size, "size")) return site.raise(wrong);
    *size = group->size();
    return MPI_SUCCESS;
}

int MPI_Group_rank(MPI_Group handle, int* rank) {
    const Site site("MPI_Group_rank");
    if (!site.ok()) return site.error();
    GroupRef group;
    if (const int wrong = site.use(handle, group)) return site.raise(wrong);
    if (const int wrong = site.require(rank, "rank")) return site.raise(wrong);
    *rank = group->rank_of(site.surface().world->core->rank());
    return MPI_SUCCESS;
}

int MPI_Group_translate_ranks(
    MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[]
) {
    const Site site("MPI_Group_translate_ranks");
    if (!site.ok()) return site.error();
    GroupRef from, to;
    if (const int wrong = site.use(group1, from, "group1")) return site.raise(wrong);
    if (const int wrong = site.use(group2, to, "group2")) return site.raise(wrong);
    if (const int wrong = site.require_not_negative(n, "n", MPI_ERR_ARG)) return site.raise(wrong);
    if (n > 0 && (ranks1 == nullptr || ranks2 == nullptr)) {
        return site.raise(MPI_ERR_ARG, "a list of ranks is null");
    }
    for (int i = 0; i < n; ++i) {
        if (ranks1[i] == MPI_PROC_NULL) {
            ranks2[i] = MPI_PROC_NULL;
            continue;
        }
        if (ranks1[i] < 0 || ranks1[i] >= from->size()) {
            return site.raise(
                MPI_ERR_RANK, "rank {} is not in 0..{} of group1", ranks1[i], from->size() - 1
            );
        }
        ranks2[i] = to->rank_of(from->world_rank(ranks1[i]));
    }
    return MPI_SUCCESS;
}

int MPI_Group_compare(MPI_Group group1, MPI_Group group2, int* result) {
    const Site site("MPI_Group_compare");
    if (!site.ok()) return site.error();
    GroupRef a, b;
    if (const int wrong = site.use(group1, a, "group1")) return site.raise(wrong);
    if (const int wrong = site.use(group2, b, "group2")) return site.raise(wrong);
    if (const int wrong = site.require(result, "result")) return site.raise(wrong);
    *result = comparison_to_mpi(compare(*a, *b));
    return MPI_SUCCESS;
}

int MPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group* result) {
    return combine("MPI_Group_union", group1, group2, group_union, result);
}
int MPI_Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group* result) {
    return combine("MPI_Group_intersection", group1, group2, group_intersection, result);
}
int MPI_Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group* result) {
    return combine("MPI_Group_difference", group1, group2, group_difference, result);
}

int MPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group* result) {
    const Site site("MPI_Group_incl");
    if (!site.ok()) return site.error();
    if (const int wrong = open_ranks(site, group, n, ranks, result)) return site.raise(wrong);
    return select(site, group, {ranks, static_cast<std::size_t>(n)}, group_include, result);
}

int MPI_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group* result) {
    const Site site("MPI_Group_excl");
    if (!site.ok()) return site.error();
    if (const int wrong = open_ranks(site, group, n, ranks, result)) return site.raise(wrong);
    return select(site, group, {ranks, static_cast<std::size_t>(n)}, group_exclude, result);
}

int MPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group* result) {
    return select_ranges("MPI_Group_range_incl", group, n, ranges, group_include, result);
}
int MPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group* result) {
    return select_ranges("MPI_Group_range_excl", group, n, ranges, group_exclude, result);
}

int MPI_Group_free(MPI_Group* group) {
    const Site site("MPI_Group_free");
    if (!site.ok()) return site.error();
    GroupRef found;
    if (const int wrong = site.require(group, "group")) return site.raise(wrong);
    if (const int wrong = site.use(*group, found)) return site.raise(wrong);
    if (!is_always_there(*group)) {
        static_cast<void>(site.surface().groups.remove(to_handle(*group)));
    }
    *group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}

}  // namespace dlrt::mpi
