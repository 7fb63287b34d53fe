// SPDX-License-Identifier: Apache-2.0
/// The clock of dlsched, what it says everybody holds, and its drawings. Times are worked out by
/// hand on the machine of timeline.hpp: a message of one chunk takes 2, a reduction of one 0.25.
#include "collectives/algorithms.hpp"
#include "tests/collectives/all_ranks.hpp"
#include "tools/dlsched/ownership.hpp"
#include "tools/dlsched/picture.hpp"

#include <algorithm>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace dlrt::sched {
namespace {

using coll::Schedule;
using Schedules = std::vector<Schedule>;

Schedules operation(coll::Collective collective, std::string_view name, std::int32_t size) {
    return coll::all_ranks(
        *coll::find_algorithm(collective, name), size, 0, coll::Placements::none
    );
}

std::vector<std::tuple<int, int, double, double>> messages_of(const Timeline& timeline) {
    std::vector<std::tuple<int, int, double, double>> found;
    for (const Message& message : timeline.messages) {
        found.emplace_back(message.source, message.target, message.time.begin, message.time.end);
    }
    return found;
}

using Messages = std::vector<std::tuple<int, int, double, double>>;
using Shares = std::vector<std::vector<double>>;

std::size_t count_of(const std::string& text, std::string_view part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        ++count;
    }
    return count;
}

}  // namespace

TEST_CASE("timeline: a port sends one message after another, receivers pass on", "[dlsched]") {
    const Schedules bcast = operation(coll::Collective::bcast, "binomial", 4);
    const Timeline timeline = simulate(bcast, {});
    CHECK(messages_of(timeline) == Messages{{0, 2, 0, 2}, {0, 1, 2, 4}, {2, 3, 2, 4}});
    CHECK(timeline.end == 4);
}

TEST_CASE("timeline: a port receives one message after another", "[dlsched]") {
    const Schedules gather = operation(coll::Collective::gather, "linear", 3);
    CHECK(messages_of(simulate(gather, {})) == Messages{{1, 0, 0, 2}, {2, 0, 2, 4}});
}

TEST_CASE("timeline: the core reduces what has come before it is sent on", "[dlsched]") {
    const Schedules ring = operation(coll::Collective::allreduce, "ring", 2);
    const Timeline timeline = simulate(ring, {});
    CHECK(
        messages_of(timeline) ==
        Messages{{0, 1, 0, 2}, {1, 0, 0, 2}, {0, 1, 2.25, 4.25}, {1, 0, 2.25, 4.25}}
    );
    CHECK(timeline.end == 4.25);
}

TEST_CASE(
    "timeline: signals take the latency, and nothing is slower for more chunks", "[dlsched]"
) {
    const Schedules barrier = operation(coll::Collective::barrier, "dissemination", 8);
    CHECK(simulate(barrier, {.latency = 5, .per_chunk = 100}).end == 15);
    const Schedules alone = operation(coll::Collective::bcast, "binomial", 1);
    CHECK(simulate(alone, {}).end == 0);
}

TEST_CASE("ownership: a broadcast doubles the holders every round", "[dlsched]") {
    const Schedules bcast = operation(coll::Collective::bcast, "binomial", 4);
    const Ownership ownership = find_ownership(bcast, simulate(bcast, {}));
    REQUIRE(ownership.piece_count == 1);
    REQUIRE(ownership.snapshots.size() == 3);
    CHECK(ownership.snapshots[0].shares == Shares{{1}, {0}, {0}, {0}});
    CHECK(ownership.snapshots[1].shares == Shares{{1}, {0}, {1}, {0}});
    CHECK(ownership.snapshots[2].shares == Shares{{1}, {1}, {1}, {1}});
}

TEST_CASE("ownership: of a reduction a rank holds the share of the operands", "[dlsched]") {
    const Schedules ring = operation(coll::Collective::allreduce, "ring", 2);
    const Ownership ownership = find_ownership(ring, simulate(ring, {}));
    REQUIRE(ownership.piece_count == 2);
    REQUIRE(ownership.snapshots.size() == 3);
    CHECK(ownership.snapshots[0].shares == Shares{{0.5, 0.5}, {0.5, 0.5}});
    CHECK(ownership.snapshots[1].shares == Shares{{0.5, 1}, {1, 0.5}});
    CHECK(ownership.snapshots[2].shares == Shares{{1, 1}, {1, 1}});
}

TEST_CASE("ownership: blocks are pieces of their own; a barrier has none", "[dlsched]") {
    const Schedules gather = operation(coll::Collective::gather, "linear", 3);
    const Ownership ownership = find_ownership(gather, simulate(gather, {}));
    REQUIRE(ownership.piece_count == 3);
    CHECK(ownership.snapshots.front().shares == Shares{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}});
    CHECK(ownership.snapshots.back().shares[0] == std::vector<double>{1, 1, 1});
    const Schedules barrier = operation(coll::Collective::barrier, "tree", 5);
    CHECK(find_ownership(barrier, simulate(barrier, {})).piece_count == 0);
}

TEST_CASE("pictures: every algorithm can be drawn in every form", "[dlsched]") {
    for (const coll::Algorithm& algorithm : coll::algorithms()) {
        for (const std::int32_t size : {1, 2, 5}) {
            const Schedules all = coll::all_ranks(algorithm, size, 0, coll::Placements::none);
            const Timeline timeline = simulate(all, {});
            std::size_t step_count = 0;
            std::size_t edge_count = 0;
            for (const Schedule& schedule : all) {
                step_count += schedule.steps.size();
                edge_count += edges_of(schedule).size();
            }
            const std::string svg = svg_picture(all, timeline);
            CHECK(count_of(svg, "marker-end") == timeline.messages.size());
            CHECK(count_of(svg, title_of(all)) == 1);
            const std::string dot = dot_graph(all, timeline);
            CHECK(count_of(dot, " -> ") == edge_count + timeline.messages.size());
            const auto trace = nlohmann::json::parse(trace_events(all, timeline));
            CHECK(trace["traceEvents"].size() == step_count);
        }
    }
}

TEST_CASE("pictures: words for a step", "[dlsched]") {
    const Schedules ring = operation(coll::Collective::allreduce, "ring", 2);
    CHECK(title_of(ring) == "allreduce ring on 2 ranks");
    CHECK(
        title_of(operation(coll::Collective::bcast, "binomial", 3)) ==
        "bcast binomial on 3 ranks, root 0"
    );
    CHECK(step_text(ring[0].steps[0]) == "recv output[1] from 1");
    CHECK(step_text(ring[0].steps[1]) == "send input[0] to 1");
    CHECK(step_text(ring[0].steps[2]) == "reduce output[1] op input[1] to output[1]");
    CHECK(slice_text({coll::BufferId::scratch, 3}, 2) == "scratch[3..4]");
    CHECK(slice_text({}, 0) == "signal");
}

}  // namespace dlrt::sched
