// SPDX-License-Identifier: Apache-2.0
/// Drawings of an operation: a space-time diagram with what everybody holds after each round (SVG),
/// the steps and their order (DOT), and a trace for a viewer of trace events (JSON). Pure.
#pragma once

#include "collectives/schedule.hpp"
#include "tools/dlsched/timeline.hpp"

#include <span>
#include <string>

namespace dlrt::sched {

[[nodiscard]] std::string svg_picture(
    std::span<const coll::Schedule> schedules, const Timeline& timeline
);
/// Input of Graphviz: a box per rank, a node per step, an arrow per edge and per message.
[[nodiscard]] std::string dot_graph(
    std::span<const coll::Schedule> schedules, const Timeline& timeline
);
/// The Trace Event Format; a time unit is a millisecond, a rank is a thread.
[[nodiscard]] std::string trace_events(
    std::span<const coll::Schedule> schedules, const Timeline& timeline
);

/// "allreduce ring on 8 ranks", with the root where there is one.
[[nodiscard]] std::string title_of(std::span<const coll::Schedule> schedules);
/// "output[3..4]"
[[nodiscard]] std::string slice_text(const coll::Place& place, std::uint32_t length);
/// What a step does, in a line.
[[nodiscard]] std::string step_text(const coll::Step& step);

}  // namespace dlrt::sched
