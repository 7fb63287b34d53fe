// SPDX-License-Identifier: Apache-2.0
/// Formats the header line and the steps.
#include "collectives/print.hpp"

#include "collectives/contract.hpp"

#include <fmt/format.h>

namespace dlrt::coll {
namespace {

std::string slice_text(const Place& place, const Step& step) {
    if (place.buffer == BufferId::none) return "signal";
    std::string text = step.length == 1 ? fmt::format("{}[{}]", name_of(place.buffer), place.chunk)
                                        : fmt::format(
                                              "{}[{}..{}]", name_of(place.buffer), place.chunk,
                                              place.chunk + step.length - 1
                                          );
    if (place.buffer == BufferId::scratch && step.like > 0)
        text += fmt::format(" like {}", step.like);
    return text;
}

std::string step_text(const Step& step) {
    std::string text;
    switch (step.kind) {
        case StepKind::send:
            text = fmt::format("{} to {}", slice_text(step.source, step), step.peer);
            break;
        case StepKind::recv:
            text = fmt::format("{} from {}", slice_text(step.target, step), step.peer);
            break;
        case StepKind::copy:
            text = fmt::format(
                "{} to {}", slice_text(step.source, step), slice_text(step.target, step)
            );
            break;
        case StepKind::reduce:
            text = fmt::format(
                "{} op {} to {}", slice_text(step.source, step), slice_text(step.right, step),
                slice_text(step.target, step)
            );
            break;
    }
    if (step.lane != 0) text += fmt::format(" lane {}", step.lane);
    return text;
}

}  // namespace

std::string print(const Schedule& schedule) {
    std::string text = fmt::format(
        "{} {}, rank {} of {}{}{}: {} chunks ({}), {} in scratch{}\n", name_of(schedule.collective),
        schedule.algorithm, schedule.shape.rank, schedule.shape.size,
        has_root(schedule.collective) ? fmt::format(", root {}", schedule.shape.root) : "",
        schedule.shape.placement == Placement::in_place ? ", in place" : "", schedule.chunk_count,
        schedule.chunk_rule == ChunkRule::split ? "split" : "block", schedule.scratch_chunks,
        schedule.window > 0 ? fmt::format(", window {}", schedule.window) : ""
    );
    std::vector<std::string> after(schedule.steps.size());
    for (const Edge& edge : edges_of(schedule)) {
        after[edge.to] += fmt::format("{}{}", after[edge.to].empty() ? "  after " : " ", edge.from);
    }
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
        const Step& step = schedule.steps[i];
        text += fmt::format(
            "  {:3}  {:6}  {}{}\n", i, name_of(step.kind), step_text(step), after[i]
        );
    }
    return text;
}

}  // namespace dlrt::coll
