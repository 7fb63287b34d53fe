// SPDX-License-Identifier: Apache-2.0
/// Time runs down, ranks stand side by side: arrows are messages, boxes are reductions and copies.
/// Below, a table for each round: a row per rank, a column per piece, darker where more is held.
#include "tools/dlsched/ownership.hpp"
#include "tools/dlsched/picture.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace dlrt::sched {
namespace {

using coll::Schedule;
using coll::Step;
using coll::StepKind;

constexpr double margin = 24;
constexpr double title_height = 34;
constexpr double rank_width = 72;
constexpr double unit_height = 26;
constexpr double box_width = 14;
constexpr double label_width = 76;
constexpr std::uint32_t pieces_shown_max = 64;

class Drawing {
  public:
    Drawing(std::span<const Schedule> schedules, const Timeline& timeline)
        : schedules_(schedules), timeline_(timeline) {
        width_ = 2 * margin + rank_width * static_cast<double>(schedules.size());
    }

    std::string draw() {
        draw_title();
        draw_lanes();
        draw_local_steps();
        draw_messages();
        bottom_ = y_of(timeline_.end) + margin;
        draw_ownership();
        return fmt::format(
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
                   "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" font-size=\"11\">\n"
                   "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" "
                   "markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 "
                   "z\" "
                   "fill=\"#1f5fa8\"/></marker></defs>\n"
                   "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
                   width_, bottom_ + margin
               ) +
               body_ + "</svg>\n";
    }

  private:
    [[nodiscard]] double x_of(std::size_t rank) const {
        return margin + rank_width * (static_cast<double>(rank) + 0.5);
    }
    [[nodiscard]] static double y_of(double time) {
        return margin + title_height + unit_height * time;
    }

    void draw_title() {
        body_ += fmt::format(
            "<text x=\"{:.0f}\" y=\"20\" font-size=\"14\">{}</text>\n", margin, title_of(schedules_)
        );
    }

    void draw_lanes() {
        for (std::size_t rank = 0; rank < schedules_.size(); ++rank) {
            body_ += fmt::format(
                "<text x=\"{0:.1f}\" y=\"{1:.1f}\" text-anchor=\"middle\">{3}</text>\n"
                "<line x1=\"{0:.1f}\" y1=\"{4:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" "
                "stroke=\"#bbb\"/>\n",
                x_of(rank), y_of(0) - 8, y_of(timeline_.end), rank, y_of(0)
            );
        }
    }

    void draw_local_steps() {
        for (std::size_t rank = 0; rank < schedules_.size(); ++rank) {
            for (std::size_t i = 0; i < schedules_[rank].steps.size(); ++i) {
                const Step& step = schedules_[rank].steps[i];
                if (step.kind != StepKind::reduce && step.kind != StepKind::copy) continue;
                const Interval time = timeline_.steps[rank][i];
                body_ += fmt::format(
                    "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
                    "fill=\"{}\"><title>rank {} step {}: {}</title></rect>\n",
                    x_of(rank) - box_width / 2, y_of(time.begin), box_width,
                    std::max(unit_height * (time.end - time.begin), 2.0),
                    step.kind == StepKind::reduce ? "#c65d21" : "#7a7a7a", rank, i, step_text(step)
                );
            }
        }
    }

    void draw_messages() {
        for (const Message& message : timeline_.messages) {
            const auto source = static_cast<std::size_t>(message.source);
            const auto target = static_cast<std::size_t>(message.target);
            const Step& send = schedules_[source].steps[message.send_step];
            body_ += fmt::format(
                "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" "
                "stroke=\"#1f5fa8\"{} marker-end=\"url(#tip)\"><title>rank {} step {}: {}</title>"
                "</line>\n",
                x_of(source), y_of(message.time.begin), x_of(target), y_of(message.time.end),
                send.length == 0 ? " stroke-dasharray=\"3 2\"" : "", source, message.send_step,
                step_text(send)
            );
        }
    }

    void draw_ownership() {
        const Ownership ownership = find_ownership(schedules_, timeline_);
        if (ownership.piece_count == 0 || ownership.piece_count > pieces_shown_max) return;
        const double cell = std::clamp(240.0 / ownership.piece_count, 4.0, 14.0);
        const double table_width = std::max(cell * ownership.piece_count, label_width) + margin;
        const double table_height = cell * static_cast<double>(schedules_.size()) + 34;
        const double room = std::max(width_ - 2 * margin, table_width);
        const auto per_row = static_cast<std::size_t>(std::max(1.0, std::floor(room / table_width))
        );
        width_ = std::max(width_, 2 * margin + table_width * static_cast<double>(per_row));
        double y = bottom_ + 14;
        for (std::size_t i = 0; i < ownership.snapshots.size(); ++i) {
            if (i != 0 && i % per_row == 0) y += table_height;
            const double x = margin + table_width * static_cast<double>(i % per_row);
            draw_table(ownership.snapshots[i], i, x, y, cell);
        }
        bottom_ = y + table_height;
    }

    void draw_table(const Snapshot& snapshot, std::size_t round, double x, double y, double cell) {
        body_ += fmt::format(
            "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x, y,
            round == 0 ? std::string("before") : fmt::format("after round {}", round)
        );
        for (std::size_t rank = 0; rank < snapshot.shares.size(); ++rank) {
            const std::vector<double>& shares = snapshot.shares[rank];
            for (std::size_t piece = 0; piece < shares.size(); ++piece) {
                body_ += fmt::format(
                    "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
                    "fill=\"#1f5fa8\" fill-opacity=\"{:.2f}\" stroke=\"#ddd\" "
                    "stroke-width=\"0.5\"><title>rank {}, piece {}: {:.0f} %</title></rect>\n",
                    x + cell * static_cast<double>(piece), y + 6 + cell * static_cast<double>(rank),
                    cell, cell, shares[piece], rank, piece, 100 * shares[piece]
                );
            }
        }
    }

    std::span<const Schedule> schedules_;
    const Timeline& timeline_;
    std::string body_;
    double width_ = 0;
    double bottom_ = 0;
};

}  // namespace

std::string svg_picture(std::span<const Schedule> schedules, const Timeline& timeline) {
    return Drawing(schedules, timeline).draw();
}

}  // namespace dlrt::sched
