// SPDX-License-Identifier: Apache-2.0
#include "launcher/display.hpp"

#include "launcher/mapping.hpp"
#include "launcher/topology_json.hpp"
#include "launcher/topology_svg.hpp"
#include "launcher/topology_text.hpp"

#include <cstdint>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

void add_allocation(std::string& text, const PlacedHost& host) {
    text += fmt::format(
        "host {}: {} slot{}{}", host.name, host.slots, host.slots == 1 ? "" : "s",
        host.has_explicit_slots ? "" : " (one for each usable cpu)"
    );
    if (host.max_slots) text += fmt::format(", {} at most", *host.max_slots);
    text += fmt::format(", {} rank{}\n", host.rank_count, host.rank_count == 1 ? "" : "s");
}

void add_map(std::string& text, const Options& options, const Placement& placement) {
    for (std::uint32_t number = 0; number < placement.size(); ++number) {
        const PlacedRank& rank = placement.ranks[number];
        text += fmt::format(
            "rank {}: host {}, slot {}", number, placement.hosts[rank.host_index].name, rank.slot
        );
        if (rank.object) {
            text += fmt::format(", {} {}", level_name(rank.object->level), rank.object->index);
        }
        const std::vector<std::string>& words = options.blocks[rank.block_index].arguments;
        text += fmt::format(": {}\n", words.empty() ? "?" : words[0]);
    }
}

std::string render_text(
    const Options& options, const Display& display, const Placement& placement,
    const std::vector<HostTopology>& topologies
) {
    std::string text;
    if (display.allocation) {
        for (const PlacedHost& host : placement.hosts) add_allocation(text, host);
        for (const PlacedHost& host : placement.idle_hosts) add_allocation(text, host);
    }
    if (display.map) add_map(text, options, placement);
    const RankMarks marks = display.binding ? RankMarks::drawn : RankMarks::none;
    for (std::uint32_t i = 0; display.topology && i < placement.hosts.size(); ++i) {
        text += draw_topology_text(topologies[i], placement, i, marks);
    }
    if (!display.binding) return text;
    const std::vector<std::string> lines = binding_lines(
        placement, topologies, options.memory_binding
    );
    for (std::size_t rank = 0; rank < lines.size(); ++rank) {
        // The tree shows those that are bound.
        if (display.topology && !placement.ranks[rank].cpus.empty()) continue;
        text += lines[rank] + "\n";
    }
    return text;
}

}  // namespace

std::string render_display(
    const Options& options, const Placement& placement, const std::vector<HostTopology>& topologies
) {
    Display display = options.display;
    if (display.is_empty() && options.is_dry_run) display.map = display.binding = true;
    if (display.is_empty()) return "";
    switch (display.format) {
        case Display::Format::svg:
            return draw_topology_svg(
                placement, topologies, display.binding ? RankMarks::drawn : RankMarks::none
            );
        case Display::Format::json:
            return draw_topology_json(placement, topologies, display);
        case Display::Format::text:
            break;
    }
    return render_text(options, display, placement, topologies);
}

}  // namespace dlrt::launcher
