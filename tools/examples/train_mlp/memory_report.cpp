// SPDX-License-Identifier: Apache-2.0
#include "tools/examples/train_mlp/memory_report.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace train {

namespace {

std::size_t sum_of(const Sizes& sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
}

/// Numbers for one sample at most, of those that forward keeps and backward computes anew.
std::size_t activation_numbers(const Shape& shape, std::size_t keep_every) {
    const std::size_t layers = shape.layers();
    const std::size_t last_group = (layers - 1) / keep_every * keep_every;
    std::size_t most = 0, kept = 0;
    for (std::size_t i = 0; i < layers; ++i) {
        // Forward: what is kept of layers before, this layer's input and its output.
        most = std::max(most, kept + shape.width(i) + shape.width(i + 1));
        if (i % keep_every == 0 || i >= last_group) kept += shape.width(i);
        if (i % keep_every != 0) continue;
        // Backward: the inputs of groups before, and all of this group.
        std::size_t group = 0;
        for (std::size_t before = 0; before < i; before += keep_every) group += shape.width(before);
        for (std::size_t j = i; j < std::min(i + keep_every, layers); ++j) group += shape.width(j);
        most = std::max(most, group);
    }
    return most;
}

std::size_t activation_gradient_numbers(const Shape& shape) {
    std::size_t most = shape.width(1);
    // The first layer's input has no gradient that anybody needs.
    for (std::size_t i = 1; i < shape.layers(); ++i) {
        most = std::max(most, shape.width(i) + shape.width(i + 1));
    }
    return most;
}

constexpr std::array<const char*, use_names.size()> colours{
    "#4e79a7", "#f28e2b", "#b07aa1", "#59a14f", "#e15759"};
constexpr double plot_width = 720, plot_height = 300, left = 80, top = 50, legend_height = 60;

class Picture {
  public:
    explicit Picture(const std::vector<MemoryMeter::Sample>& samples) : samples_(samples) {
        for (const auto& sample : samples) most_ = std::max(most_, sum_of(sample.sizes_bytes));
    }

    std::string draw() {
        text_ = fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
            "font-family=\"sans-serif\" font-size=\"12\">\n"
            "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n"
            "<text x=\"{2}\" y=\"18\" font-size=\"14\">Memory over one training step</text>\n",
            left + plot_width + 60, top + plot_height + legend_height, left
        );
        for (std::size_t use = 0; use < use_names.size(); ++use) draw_use(use);
        draw_phases();
        draw_axis();
        draw_legend();
        return text_ + "</svg>\n";
    }

  private:
    [[nodiscard]] double x_of(std::size_t change) const {
        return left + plot_width * static_cast<double>(change) /
                          static_cast<double>(std::max<std::size_t>(samples_.size(), 1));
    }
    [[nodiscard]] double y_of(std::size_t bytes) const {
        const double part = static_cast<double>(bytes) /
                            static_cast<double>(std::max<std::size_t>(most_, 1));
        return top + plot_height * (1 - part);
    }

    /// The band between the sums without and with this use; a size holds until the next change.
    void draw_use(std::size_t use) {
        std::string upper, lower;
        for (std::size_t i = 0; i < samples_.size(); ++i) {
            const Sizes& sizes = samples_[i].sizes_bytes;
            const auto first = sizes.begin();
            const auto below = std::accumulate(
                first, first + static_cast<std::ptrdiff_t>(use), std::size_t{0}
            );
            const double low = y_of(below), high = y_of(below + sizes[use]);
            upper += fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} ", x_of(i), high, x_of(i + 1), high);
            lower = fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} ", x_of(i + 1), low, x_of(i), low) +
                    lower;
        }
        text_ += fmt::format(
            "<polygon fill=\"{}\" points=\"{}{}\"/>\n", colours[use], upper, lower
        );
    }

    void draw_phases() {
        for (std::size_t i = 0; i < samples_.size(); ++i) {
            if (i > 0 && samples_[i].phase == samples_[i - 1].phase) continue;
            text_ += fmt::format(
                "<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\" stroke=\"#555\" "
                "stroke-dasharray=\"3 3\"/>\n<text x=\"{3:.1f}\" y=\"{4}\">{5}</text>\n",
                x_of(i), top - 14, top + plot_height, x_of(i) + 3, top - 5, samples_[i].phase
            );
        }
    }

    void draw_axis() {
        for (int quarter = 0; quarter <= 4; ++quarter) {
            const std::size_t bytes = most_ * static_cast<std::size_t>(quarter) / 4;
            text_ += fmt::format(
                "<line x1=\"{0}\" y1=\"{1:.1f}\" x2=\"{2}\" y2=\"{1:.1f}\" stroke=\"#000\" "
                "stroke-opacity=\"0.2\"/>\n<text x=\"{3}\" y=\"{4:.1f}\" "
                "text-anchor=\"end\">{5:.1f} KiB</text>\n",
                left, y_of(bytes), left + plot_width, left - 6, y_of(bytes) + 4,
                static_cast<double>(bytes) / 1024
            );
        }
    }

    void draw_legend() {
        const double y = top + plot_height + 30;
        for (std::size_t use = 0; use < use_names.size(); ++use) {
            const double x = left + 140 * static_cast<double>(use);
            text_ += fmt::format(
                "<rect x=\"{}\" y=\"{}\" width=\"12\" height=\"12\" fill=\"{}\"/>\n"
                "<text x=\"{}\" y=\"{}\">{}</text>\n",
                x, y, colours[use], x + 17, y + 10, use_names[use]
            );
        }
    }

    const std::vector<MemoryMeter::Sample>& samples_;
    std::size_t most_ = 0;
    std::string text_;
};

}  // namespace

Sizes predicted_bytes(const MemoryPlan& plan) {
    const std::size_t parameters = plan.shape.parameters();
    const std::size_t copy_bytes = plan.wide_bytes != plan.element_bytes ? plan.wide_bytes : 0;
    const std::size_t sample_bytes = plan.samples * plan.element_bytes;
    return {
        parameters * (plan.element_bytes + copy_bytes),
        parameters * plan.element_bytes,
        parameters * plan.wide_bytes * plan.optimizer_states,
        sample_bytes * activation_numbers(plan.shape, plan.keep_every),
        sample_bytes * activation_gradient_numbers(plan.shape),
    };
}

std::string memory_table(const Sizes& predicted, const Sizes& measured) {
    std::string table = fmt::format(
        "{:<22}{:>16}{:>16}\n", "memory of a rank", "predicted bytes", "measured bytes"
    );
    const auto add = [&](std::string_view name, std::size_t first, std::size_t second) {
        table += fmt::format("{:<22}{:>16}{:>16}\n", name, first, second);
    };
    for (std::size_t use = 0; use < use_names.size(); ++use) {
        add(use_names[use], predicted[use], measured[use]);
    }
    add("sum of the highest", sum_of(predicted), sum_of(measured));
    return table;
}

std::string memory_picture(const std::vector<MemoryMeter::Sample>& samples) {
    return Picture(samples).draw();
}

}  // namespace train
