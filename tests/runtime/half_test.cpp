// SPDX-License-Identifier: Apache-2.0
/// The conversions against values worked out from the definition of the formats in double.
#include "runtime/half.hpp"

#include "runtime/half_convert.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

namespace dlrt {

namespace {

/// The value of a format with that many bits of exponent and fraction.
double value_of(std::uint16_t bits, int exponent_bits, int fraction_bits) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = (bits >> fraction_bits) & ((1 << exponent_bits) - 1);
    const int fraction = bits & ((1 << fraction_bits) - 1);
    const double sign = (bits & 0x8000) != 0 ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1) {
        return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                             : sign * std::numeric_limits<double>::infinity();
    }
    if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
    return sign * std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

/// Rounds by looking for the nearest of all finite values; the next one up beyond the largest
/// counts as infinity.
class NearestEven {
  public:
    NearestEven(int exponent_bits, int fraction_bits) {
        const int infinity = ((1 << exponent_bits) - 1) << fraction_bits;
        for (int bits = 0; bits < infinity; ++bits) {
            values_.push_back(
                value_of(static_cast<std::uint16_t>(bits), exponent_bits, fraction_bits)
            );
        }
        values_.push_back(2 * values_.back() - values_[values_.size() - 2]);
    }
    std::uint16_t bits_of(double value) const {
        const double magnitude = std::fabs(value);
        const auto above = std::lower_bound(values_.begin(), values_.end(), magnitude);
        auto found = static_cast<std::size_t>(above - values_.begin());
        if (above == values_.end()) {
            found = values_.size() - 1;
        } else if (*above != magnitude) {
            const double to_upper = *above - magnitude, to_lower = magnitude - *(above - 1);
            const bool takes_lower = to_lower < to_upper ||
                                     (to_lower == to_upper && found % 2 != 0);
            if (takes_lower) --found;
        }
        return static_cast<std::uint16_t>(found | (std::signbit(value) ? 0x8000U : 0U));
    }

  private:
    std::vector<double> values_;  ///< By bits.
};

bool is_nan_bits(std::uint16_t bits, int fraction_bits) {
    const int infinity = 0x7fff & ~((1 << fraction_bits) - 1);
    return (bits & 0x7fff) > infinity;
}

/// Every float whose upper bits take all values and whose lower ones those around a tie.
template<typename Check>
void for_many_floats(const Check& check) {
    for (std::uint32_t upper = 0; upper < (1U << 20); ++upper) {
        for (std::uint32_t lower : {0x000U, 0x001U, 0x7ffU, 0x800U, 0x801U, 0xfffU}) {
            check(std::bit_cast<float>((upper << 12) | lower));
        }
    }
    std::mt19937 random(1);
    for (int i = 0; i < 1'000'000; ++i)
        check(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
}

}  // namespace

TEST_CASE("half: all 65,536 patterns of float16 widen to their value", "[half]") {
    int wrong = 0;
    for (int i = 0; i <= 0xffff; ++i) {
        const auto bits = static_cast<std::uint16_t>(i);
        const float wide = widen(Float16{bits});
        const double value = value_of(bits, 5, 10);
        const bool is_same = std::isnan(value)
                                 ? std::isnan(wide)
                                 : wide == value && std::signbit(wide) == std::signbit(value);
        // Back again: the same pattern, a NaN made quiet.
        const std::uint16_t back = narrowed<Float16>(wide).bits;
        const auto expected = static_cast<std::uint16_t>(std::isnan(value) ? bits | 0x200 : bits);
        if (!is_same || back != expected) ++wrong;
    }
    CHECK(wrong == 0);
}

TEST_CASE("half: all 65,536 patterns of bfloat16 widen to their value", "[half]") {
    int wrong = 0;
    for (int i = 0; i <= 0xffff; ++i) {
        const auto bits = static_cast<std::uint16_t>(i);
        const float wide = widen(BFloat16{bits});
        const double value = value_of(bits, 8, 7);
        const bool is_same = std::isnan(value)
                                 ? std::isnan(wide)
                                 : wide == value && std::signbit(wide) == std::signbit(value);
        const std::uint16_t back = narrowed<BFloat16>(wide).bits;
        const auto expected = static_cast<std::uint16_t>(std::isnan(value) ? bits | 0x40 : bits);
        if (!is_same || back != expected) ++wrong;
    }
    CHECK(wrong == 0);
}

TEST_CASE("half: floats narrow to the nearest float16, ties to even", "[half]") {
    const NearestEven reference(5, 10);
    int wrong = 0;
    for_many_floats([&](float wide) {
        const std::uint16_t bits = narrowed<Float16>(wide).bits;
        const bool is_right = std::isnan(wide) ? is_nan_bits(bits, 10)
                                               : bits == reference.bits_of(wide);
        if (!is_right) ++wrong;
    });
    CHECK(wrong == 0);
}

TEST_CASE("half: floats narrow to the nearest bfloat16, ties to even", "[half]") {
    const NearestEven reference(8, 7);
    int wrong = 0;
    for_many_floats([&](float wide) {
        const std::uint16_t bits = narrowed<BFloat16>(wide).bits;
        const bool is_right = std::isnan(wide) ? is_nan_bits(bits, 7)
                                               : bits == reference.bits_of(wide);
        if (!is_right) ++wrong;
    });
    CHECK(wrong == 0);
}

TEST_CASE("half: infinity begins at 65520 and subnormals go down to 2^-24", "[half]") {
    CHECK(narrowed<Float16>(65504.0F).bits == 0x7bff);
    CHECK(narrowed<Float16>(std::nextafter(65520.0F, 0.0F)).bits == 0x7bff);
    CHECK(narrowed<Float16>(65520.0F).bits == 0x7c00);
    CHECK(narrowed<Float16>(-65520.0F).bits == 0xfc00);
    CHECK(narrowed<Float16>(0x1p-24F).bits == 1);
    CHECK(narrowed<Float16>(0x1p-25F).bits == 0);
    CHECK(narrowed<Float16>(std::nextafter(0x1p-25F, 1.0F)).bits == 1);
    CHECK(narrowed<BFloat16>(std::numeric_limits<float>::max()).bits == 0x7f80);
    CHECK(narrowed<BFloat16>(1.0F).bits == 0x3f80);
}

TEST_CASE("half: arrays of any length are converted as single ones are", "[half]") {
    constexpr std::size_t margin = 3;
    std::vector<Float16> narrow;
    std::vector<float> wide;
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        narrow.push_back({static_cast<std::uint16_t>(bits)});
        // Each value, its neighbours, and what lies between it and the next one.
        const float value = widen(narrow.back());
        const auto next = widen(Float16{static_cast<std::uint16_t>(bits + 1)});
        for (const float one :
             {value, std::nextafter(value, 1e9F), std::nextafter(value, -1e9F),
              value / 2 + next / 2, std::nextafter(value / 2 + next / 2, 1e9F)}) {
            wide.push_back(one);
        }
    }
    const auto length = GENERATE(as<std::size_t>{}, 0, 1, 7, 8, 9, 31, 65'521, 65'536);
    const std::size_t first = 65'536 - length;
    std::vector<float> widened(length + margin, 7);
    widen_halves(
        reinterpret_cast<const std::byte*>(narrow.data() + first),
        reinterpret_cast<std::byte*>(widened.data()), length
    );
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < length; ++i) {
        const float right = widen(narrow[first + i]);
        const bool are_nan = std::isnan(right) && std::isnan(widened[i]);
        if (!are_nan && std::bit_cast<int>(widened[i]) != std::bit_cast<int>(right)) ++wrong;
    }
    for (std::size_t i = length; i < length + margin; ++i) wrong += widened[i] == 7 ? 0 : 1;
    CHECK(wrong == 0);

    const std::size_t count = length * 5;
    std::vector<Float16> narrowed_all(count + margin, {7});
    narrow_halves(
        reinterpret_cast<const std::byte*>(wide.data() + first * 5),
        reinterpret_cast<std::byte*>(narrowed_all.data()), count
    );
    for (std::size_t i = 0; i < count; ++i) {
        wrong += narrowed_all[i].bits == narrowed<Float16>(wide[first * 5 + i]).bits ? 0 : 1;
    }
    for (std::size_t i = count; i < count + margin; ++i) {
        wrong += narrowed_all[i].bits == 7 ? 0 : 1;
    }
    CHECK(wrong == 0);
}

}  // namespace dlrt
