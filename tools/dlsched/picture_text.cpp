// SPDX-License-Identifier: Apache-2.0
/// The forms that other programs draw, and the words that all forms share.
#include "collectives/algorithms.hpp"
#include "tools/dlsched/picture.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dlrt::sched {

using coll::BufferId;
using coll::Place;
using coll::Schedule;
using coll::Step;
using coll::StepKind;

std::string title_of(std::span<const Schedule> schedules) {
    const Schedule& first = schedules.front();
    return fmt::format(
        "{} {} on {} rank{}{}", name_of(first.collective), first.algorithm, first.shape.size,
        first.shape.size == 1 ? "" : "s",
        coll::find_algorithm(first.collective, first.algorithm)->has_root
            ? fmt::format(", root {}", first.shape.root)
            : ""
    );
}

std::string slice_text(const Place& place, std::uint32_t length) {
    if (place.buffer == BufferId::none) return "signal";
    if (length == 1) return fmt::format("{}[{}]", name_of(place.buffer), place.chunk);
    return fmt::format("{}[{}..{}]", name_of(place.buffer), place.chunk, place.chunk + length - 1);
}

std::string step_text(const Step& step) {
    const std::string source = slice_text(step.source, step.length);
    const std::string target = slice_text(step.target, step.length);
    switch (step.kind) {
        case StepKind::send:
            return fmt::format("send {} to {}", source, step.peer);
        case StepKind::recv:
            return fmt::format("recv {} from {}", target, step.peer);
        case StepKind::copy:
            return fmt::format("copy {} to {}", source, target);
        case StepKind::reduce:
            return fmt::format(
                "reduce {} op {} to {}", source, slice_text(step.right, step.length), target
            );
    }
    return "";
}

std::string dot_graph(std::span<const Schedule> schedules, const Timeline& timeline) {
    std::string text = fmt::format(
        "digraph schedule {{\n  label=\"{}\";\n  node [shape=box, fontsize=10];\n",
        title_of(schedules)
    );
    for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
        const Schedule& schedule = schedules[rank];
        text += fmt::format("  subgraph cluster_{0} {{\n    label=\"rank {0}\";\n", rank);
        for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
            text += fmt::format(
                "    r{}s{} [label=\"{}: {}\"];\n", rank, i, i, step_text(schedule.steps[i])
            );
        }
        for (const coll::Edge& edge : edges_of(schedule)) {
            text += fmt::format("    r{0}s{1} -> r{0}s{2};\n", rank, edge.from, edge.to);
        }
        text += "  }\n";
    }
    for (const Message& message : timeline.messages) {
        text += fmt::format(
            "  r{}s{} -> r{}s{} [style=bold, color=blue, constraint=false];\n", message.source,
            message.send_step, message.target, message.recv_step
        );
    }
    return text + "}\n";
}

std::string trace_events(std::span<const Schedule> schedules, const Timeline& timeline) {
    constexpr double us_per_unit = 1000;
    nlohmann::ordered_json events = nlohmann::ordered_json::array();
    for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
        for (std::size_t i = 0; i < schedules[rank].steps.size(); ++i) {
            const Interval time = timeline.steps[rank][i];
            events.push_back(
                {{"name", step_text(schedules[rank].steps[i])},
                 {"cat", name_of(schedules[rank].steps[i].kind)},
                 {"ph", "X"},
                 {"ts", time.begin * us_per_unit},
                 {"dur", (time.end - time.begin) * us_per_unit},
                 {"pid", 0},
                 {"tid", rank},
                 {"args", {{"step", i}}}}
            );
        }
    }
    const nlohmann::ordered_json all = {
        {"traceEvents", std::move(events)}, {"otherData", {{"title", title_of(schedules)}}}};
    return all.dump(1) + "\n";
}

}  // namespace dlrt::sched
