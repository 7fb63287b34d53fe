// SPDX-License-Identifier: Apache-2.0
/// Tests the verifier on what it must reject: from the schedules of every algorithm each step and
/// each edge is taken away in turn. Without a step the operation must be wrong; without an edge it
/// must be wrong unless the others imply that edge. The [full] case takes them all.
#include "collectives/groups.hpp"
#include "collectives/verify.hpp"
#include "tests/collectives/all_ranks.hpp"

#include <set>

#include <catch2/catch.hpp>

namespace dlrt::coll {
namespace {

Schedule without_step(const Schedule& schedule, std::uint32_t removed) {
    Schedule result = schedule;
    std::vector<Edge> edges;
    for (Edge edge : edges_of(schedule)) {
        if (edge.from == removed || edge.to == removed) continue;
        edge.from -= edge.from > removed ? 1 : 0;
        edge.to -= edge.to > removed ? 1 : 0;
        edges.push_back(edge);
    }
    result.steps.erase(result.steps.begin() + removed);
    set_edges(result, edges);
    return result;
}

Schedule without_edge(const Schedule& schedule, const Edge& removed) {
    Schedule result = schedule;
    std::vector<Edge> edges = edges_of(schedule);
    std::erase(edges, removed);
    set_edges(result, edges);
    return result;
}

// Independent of the verifier's own search: grows the set of steps after `edge.from`.
bool is_implied(const Schedule& without, const Edge& edge) {
    std::set<std::uint32_t> after{edge.from};
    for (const Edge& known : edges_of(without)) {
        if (after.contains(known.from)) after.insert(known.to);
    }
    return after.contains(edge.to);
}

// Long schedules repeat themselves chunk by chunk, so that a sample of them says nearly as much.
enum class Pieces : std::uint8_t { all, sample };

// By both proofs where that takes no long time.
bool is_wrong(const std::vector<Schedule>& schedules, Pieces pieces) {
    const bool has_fault = find_fault(schedules).has_value();
    if (pieces == Pieces::all || schedules.size() < 4)
        CHECK(find_fault(schedules, Proof::random).has_value() == has_fault);
    return has_fault;
}

void remove_each_piece(std::vector<Schedule> schedules, Pieces pieces) {
    REQUIRE_FALSE(is_wrong(schedules, pieces));
    for (Schedule& victim : schedules) {
        const Schedule whole = victim;
        const bool is_sample = pieces == Pieces::sample && whole.steps.size() > 40;
        const std::uint32_t stride = is_sample ? 7 : 1;
        for (std::uint32_t step = 0; step < whole.steps.size(); step += stride) {
            victim = without_step(whole, step);
            INFO(
                name_of(whole.collective)
                << ' ' << whole.algorithm << " p " << schedules.size() << " rank "
                << whole.shape.rank << " without step " << step
            );
            CHECK(is_wrong(schedules, pieces));
        }
        const std::vector<Edge> edges = edges_of(whole);
        for (std::size_t i = 0; i < edges.size(); i += stride) {
            const Edge& edge = edges[i];
            victim = without_edge(whole, edge);
            INFO(
                name_of(whole.collective)
                << ' ' << whole.algorithm << " p " << schedules.size() << " rank "
                << whole.shape.rank << " without edge " << edge.from << '>' << edge.to
            );
            CHECK(is_wrong(schedules, pieces) != is_implied(victim, edge));
        }
        victim = whole;
    }
}

void remove_from_each(
    const Algorithm& algorithm, std::int32_t size, std::set<std::int32_t> roots, Pieces pieces,
    const Groups* groups = nullptr
) {
    if (!algorithm.has_root) roots = {0};
    for (std::int32_t root : roots) {
        for (Placements placements : placements_of(algorithm.collective))
            remove_each_piece(all_ranks(algorithm, size, root, placements, groups), pieces);
    }
}

void remove_from_each_grouped(
    std::int32_t size, std::string_view groups_text, const std::set<std::int32_t>& roots,
    Pieces pieces
) {
    const Groups groups = *Groups::parse(groups_text, size);
    for (const Algorithm& algorithm : algorithms()) {
        const bool is_grouped = algorithm.groups_need != GroupsNeed::none;
        if (is_grouped && is_applicable(algorithm, &groups))
            remove_from_each(algorithm, size, roots, pieces, &groups);
    }
}

std::set<std::int32_t> all_roots(std::int32_t size) {
    std::set<std::int32_t> roots;
    for (std::int32_t root = 0; root < size; ++root) roots.insert(root);
    return roots;
}

}  // namespace

TEST_CASE(
    "mutation: the loss of any step, or of an edge that says something, is seen", "[collectives]"
) {
    for (const Algorithm& algorithm : algorithms()) {
        for (std::int32_t size = 2; size <= 5; ++size)
            remove_from_each(algorithm, size, {0, size / 2, size - 1}, Pieces::sample);
    }
}

TEST_CASE("mutation: the loss is seen for 2 to 9 ranks and every root", "[collectives][.][full]") {
    for (const Algorithm& algorithm : algorithms()) {
        for (std::int32_t size = 2; size <= 9; ++size) {
            remove_from_each(algorithm, size, all_roots(size), Pieces::all);
        }
    }
}

TEST_CASE("mutation: the loss is seen where ranks are in groups", "[collectives]") {
    remove_from_each_grouped(4, "2", {0, 3}, Pieces::sample);
    remove_from_each_grouped(5, "2", {2}, Pieces::sample);
    remove_from_each_grouped(5, "cyclic:2", {3}, Pieces::sample);
    remove_from_each_grouped(6, "1+3+2", {2}, Pieces::sample);
}

TEST_CASE(
    "mutation: the loss is seen for 2 to 9 ranks in groups and every root", "[collectives][.][full]"
) {
    for (std::int32_t size = 2; size <= 9; ++size) {
        for (const char* groups : {"2", "3", "cyclic:2", "cyclic:3"})
            remove_from_each_grouped(size, groups, all_roots(size), Pieces::all);
    }
    remove_from_each_grouped(8, "1+4+3", all_roots(8), Pieces::all);
    remove_from_each_grouped(9, "0,4,8/1-3/5-7", all_roots(9), Pieces::all);
}

}  // namespace dlrt::coll
