// SPDX-License-Identifier: Apache-2.0
/// Random numbers that are the same everywhere for a seed, which those of the standard library's
/// distributions aren't. The generator is splitmix64.
#pragma once

#include <cstddef>
#include <cstdint>

namespace train {

class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t bits() {
        state_ += 0x9e3779b97f4a7c15U;
        std::uint64_t mixed = state_;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
        return mixed ^ (mixed >> 31);
    }
    /// From 0 up to, but without, 1.
    double fraction() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
    /// From 0 to count - 1.
    std::size_t below(std::size_t count) { return static_cast<std::size_t>(bits() % count); }
    /// Mean 0, deviation 1, in shape near to a normal distribution.
    double noise() {
        double sum = 0;
        for (int i = 0; i < 12; ++i) sum += fraction();
        return sum - 6;
    }

  private:
    std::uint64_t state_;
};

}  // namespace train
