// SPDX-License-Identifier: Apache-2.0
#include "tools/examples/train_mlp/digits.hpp"

#include "tools/examples/train_mlp/random.hpp"

#include <array>
#include <numeric>
#include <string_view>
#include <utility>

namespace train {

namespace {

constexpr std::size_t side = 8;
constexpr double noise_deviation = 0.3;

/// Row by row; there is room for a move by one pixel on every side.
constexpr std::array<std::string_view, digit_classes> glyphs{
    "........"
    "..####.."
    ".##..##."
    ".##..##."
    ".##..##."
    ".##..##."
    "..####.."
    "........",
    "........"
    "...##..."
    "..###..."
    "...##..."
    "...##..."
    "...##..."
    "..####.."
    "........",
    "........"
    "..####.."
    ".#...##."
    "....##.."
    "...##..."
    "..##...."
    ".######."
    "........",
    "........"
    ".#####.."
    ".....##."
    "...###.."
    ".....##."
    ".....##."
    ".#####.."
    "........",
    "........"
    "....##.."
    "...###.."
    "..#.##.."
    ".######."
    "....##.."
    "....##.."
    "........",
    "........"
    ".######."
    ".##....."
    ".#####.."
    ".....##."
    ".##..##."
    "..####.."
    "........",
    "........"
    "...###.."
    "..##...."
    ".#####.."
    ".##..##."
    ".##..##."
    "..####.."
    "........",
    "........"
    ".######."
    ".....#.."
    "....##.."
    "...##..."
    "...##..."
    "...##..."
    "........",
    "........"
    "..####.."
    ".##..##."
    "..####.."
    ".##..##."
    ".##..##."
    "..####.."
    "........",
    "........"
    "..####.."
    ".##..##."
    ".##..##."
    "..#####."
    "....##.."
    "..###..."
    "........",
};

}  // namespace

Digits::Digits(std::size_t count, std::uint64_t seed) {
    Random random(seed);
    for (std::size_t sample = 0; sample < count; ++sample) {
        const std::size_t label = random.below(digit_classes);
        labels_.push_back(static_cast<int>(label));
        // Rows and columns of the glyph are taken modulo its side: by up to one back or forth.
        const std::size_t down = side - 1 + random.below(3), right = side - 1 + random.below(3);
        for (std::size_t i = 0; i < digit_pixels; ++i) {
            const std::size_t row = (i / side + down) % side, column = (i % side + right) % side;
            const double ink = glyphs[label][row * side + column] == '#' ? 1 : 0;
            pixels_.push_back(static_cast<float>(ink + noise_deviation * random.noise()));
        }
    }
}

std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    Random random(seed);
    for (std::size_t left = count; left > 1; --left) {
        std::swap(order[left - 1], order[random.below(left)]);
    }
    return order;
}

}  // namespace train
