// SPDX-License-Identifier: Apache-2.0
/// A data set to learn: the ten digits in 8 x 8 pixels, moved by up to a pixel and with noise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace train {

inline constexpr std::size_t digit_pixels = 64;
inline constexpr std::size_t digit_classes = 10;

/// The same for a seed on every rank.
class Digits {
  public:
    Digits(std::size_t count, std::uint64_t seed);

    [[nodiscard]] std::size_t size() const { return labels_.size(); }
    [[nodiscard]] int label(std::size_t sample) const { return labels_[sample]; }
    [[nodiscard]] std::span<const float> pixels(std::size_t sample) const {
        return std::span(pixels_).subspan(sample * digit_pixels, digit_pixels);
    }

  private:
    std::vector<int> labels_;
    std::vector<float> pixels_;
};

/// The numbers from 0 to count - 1 in random order.
std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed);

}  // namespace train
