// SPDX-License-Identifier: Apache-2.0
#include "launcher/topology_svg.hpp"

#include "launcher/topology_tree.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

using Kind = TopologyNode::Kind;

constexpr double gap = 6;
constexpr double line_height = 16;
constexpr double letter_width = 6.6;
constexpr double thread_width = 34;
constexpr double thread_height = 34;
constexpr std::array<std::string_view, 12> rank_colours{"#9ecae9", "#ffcc80", "#a5d6a7", "#ef9a9a",
                                                        "#d1b3e0", "#d7c0ae", "#f8bbd9", "#cfd8dc",
                                                        "#e6ee9c", "#80deea", "#ffab91", "#b0bec5"};

std::string escaped(std::string_view text) {
    std::string safe;
    for (const char letter : text) {
        switch (letter) {
            case '&':
                safe += "&amp;";
                break;
            case '<':
                safe += "&lt;";
                break;
            case '>':
                safe += "&gt;";
                break;
            case '"':
                safe += "&quot;";
                break;
            default:
                // What XML has no way to say.
                safe += static_cast<unsigned char>(letter) < ' ' ? '?' : letter;
        }
    }
    return safe;
}

std::string_view fill_of(Kind kind) {
    switch (kind) {
        case Kind::package:
            return "#f3f4f6";
        case Kind::numa:
            return "#e3ecd9";
        case Kind::l3:
        case Kind::l2:
            return "#ffffff";
        case Kind::core:
            return "#e5e7eb";
        case Kind::host:
            break;
    }
    return "#fcfcfc";
}

struct Size {
    double width = 0;
    double height = 0;
};

/// A node with its size and the places of its children, relative to itself.
struct Box {
    const TopologyNode* node = nullptr;
    Size size;
    std::vector<Box> children;
    std::vector<Size> offsets;
};

class SvgHost {
  public:
    SvgHost(const HostTopology& topology, RanksByCpu by_cpu, std::string title)
        : topology_(topology), by_cpu_(std::move(by_cpu)), title_(std::move(title)) {
        tree_ = build_topology_tree(topology_);
        root_ = lay_out(tree_);
    }
    [[nodiscard]] Size size() const { return root_.size; }
    [[nodiscard]] std::string draw(double x, double y) {
        text_.clear();
        draw_box(root_, x, y);
        return std::move(text_);
    }

  private:
    std::string label_text(const TopologyNode& node) const {
        if (node.kind == Kind::host) return title_;
        if (node.kind != Kind::core || node.core_kind == 0) return label_of(node);
        return label_of(node) + " fast";
    }

    Box lay_out(const TopologyNode& node) const {
        Box box;
        box.node = &node;
        double width = letter_width * static_cast<double>(label_text(node).size()) + 2 * gap;
        double height = line_height + gap;
        if (node.kind == Kind::core) {
            const auto count = static_cast<double>(node.cpus.size());
            width = std::max(width, count * (thread_width + 2) + 2 * gap);
            box.size = {width, height + thread_height + gap};
            return box;
        }
        for (const TopologyNode& child : node.children) box.children.push_back(lay_out(child));
        const Size inside = place_children(box, height);
        width = std::max(width, inside.width);
        height = std::max(height, inside.height);
        for (const std::size_t device : node.devices) {
            const std::string label = label_of(topology_.devices[device]);
            width = std::max(width, letter_width * static_cast<double>(label.size()) + 4 * gap);
            height += line_height + 2 * gap;
        }
        box.size = {width, height};
        return box;
    }

    /// In rows, about twice as wide as high.
    static Size place_children(Box& box, double top) {
        const auto count = static_cast<double>(box.children.size());
        const auto columns = static_cast<std::size_t>(std::ceil(std::sqrt(count * 1.5)));
        double x = gap;
        double y = top;
        double row_height = 0;
        double width = 0;
        for (std::size_t i = 0; i < box.children.size(); ++i) {
            if (i != 0 && i % columns == 0) {
                x = gap;
                y += row_height + gap;
                row_height = 0;
            }
            box.offsets.push_back({x, y});
            x += box.children[i].size.width + gap;
            row_height = std::max(row_height, box.children[i].size.height);
            width = std::max(width, x);
        }
        return {width, box.children.empty() ? top : y + row_height + gap};
    }

    void rectangle(double x, double y, Size size, std::string_view fill) {
        text_ += fmt::format(
            "<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" rx=\"3\" "
            "fill=\"{}\" stroke=\"#6b7280\"/>\n",
            x, y, size.width, size.height, fill
        );
    }
    void words(double x, double y, std::string_view style, std::string_view text) {
        text_ += fmt::format(
            "<text x=\"{:.0f}\" y=\"{:.0f}\"{}>{}</text>\n", x, y, style, escaped(text)
        );
    }

    void draw_box(const Box& box, double x, double y) {
        const TopologyNode& node = *box.node;
        rectangle(x, y, box.size, fill_of(node.kind));
        words(
            x + gap, y + line_height - 2, node.kind == Kind::core ? "" : " font-weight=\"bold\"",
            label_text(node)
        );
        if (node.kind == Kind::core) return draw_threads(node, x + gap, y + line_height + gap);
        for (std::size_t i = 0; i < box.children.size(); ++i) {
            draw_box(box.children[i], x + box.offsets[i].width, y + box.offsets[i].height);
        }
        double below = y + box.size.height;
        for (auto device = node.devices.rbegin(); device != node.devices.rend(); ++device) {
            below -= line_height + 2 * gap;
            const Size size{box.size.width - 2 * gap, line_height + gap};
            rectangle(x + gap, below, size, "#fef3c7");
            words(x + 2 * gap, below + line_height, "", label_of(topology_.devices[*device]));
        }
    }

    void draw_threads(const TopologyNode& core, double x, double y) {
        for (const std::uint32_t cpu : core.cpus) {
            const auto found = by_cpu_.find(cpu);
            const bool is_free = found == by_cpu_.end();
            const std::string_view
                fill = is_free ? "#ffffff"
                               : rank_colours[found->second.front() % rank_colours.size()];
            text_ += "<g>";
            std::string title = fmt::format("cpu {}", cpu);
            if (!is_free) title += ": " + rank_words(found->second);
            text_ += fmt::format("<title>{}</title>", title);
            rectangle(x, y, {thread_width, thread_height}, fill);
            words(x + 3, y + 11, " font-size=\"9\" fill=\"#6b7280\"", fmt::format("{}", cpu));
            if (!is_free) {
                std::string mark = fmt::format("{}", found->second.front());
                if (found->second.size() > 1) mark += "+";
                const std::string_view style = " text-anchor=\"middle\" font-weight=\"bold\"";
                words(x + thread_width / 2, y + 27, style, mark);
            }
            text_ += "</g>\n";
            x += thread_width + 2;
        }
    }

    const HostTopology& topology_;
    RanksByCpu by_cpu_;
    std::string title_;
    TopologyNode tree_;
    Box root_;
    std::string text_;
};

std::string unbound_words(const Placement& placement, std::uint32_t host_index) {
    std::vector<std::uint32_t> unbound;
    for (std::uint32_t rank = 0; rank < placement.size(); ++rank) {
        const PlacedRank& placed = placement.ranks[rank];
        if (placed.host_index == host_index && placed.cpus.empty()) unbound.push_back(rank);
    }
    if (unbound.empty()) return "";
    std::string words = rank_words(unbound) + " not bound";
    const std::string& reason = placement.hosts[host_index].unbound_reason;
    if (!reason.empty()) words += fmt::format(" ({})", reason);
    return words;
}

}  // namespace

std::string draw_topology_svg(
    const Placement& placement, const std::vector<HostTopology>& topologies, RankMarks marks
) {
    std::string body;
    double width = 0;
    double y = gap;
    for (std::uint32_t i = 0; i < placement.hosts.size(); ++i) {
        const bool has_marks = marks == RankMarks::drawn;
        std::string title = summary_of(placement.hosts[i].name, topologies[i]);
        if (has_marks) {
            const std::string unbound = unbound_words(placement, i);
            if (!unbound.empty()) title += "; " + unbound;
        }
        SvgHost host(
            topologies[i], has_marks ? ranks_by_cpu(placement, i) : RanksByCpu{}, std::move(title)
        );
        body += host.draw(gap, y);
        width = std::max(width, host.size().width);
        y += host.size().height + gap;
    }
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"DejaVu Sans, Arial, sans-serif\" "
        "font-size=\"11\" fill=\"#111827\">\n{2}</svg>\n",
        width + 2 * gap, y, body
    );
}

}  // namespace dlrt::launcher
