// SPDX-License-Identifier: Apache-2.0
/// The two formats of 16 bits that weights, activations and gradients may have. They are stored and
/// sent; arithmetic is in float, and results are rounded to the nearest, ties to even.
#pragma once

#include <dlrt.hpp>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace train {

/// The upper half of a float: its range, but 8 bits of precision.
class Bfloat16 {
  public:
    Bfloat16() = default;
    explicit Bfloat16(float value) : bits_(rounded(value)) {}
    explicit operator float() const {
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits_) << 16);
    }

  private:
    static std::uint16_t rounded(float value) {
        const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
        if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
        return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
    }
    std::uint16_t bits_ = 0;
};

/// IEEE 754 binary16: 11 bits of precision, but nothing above 65504 or below 2^-24.
class Half {
  public:
    Half() = default;
    explicit Half(float value) : bits_(rounded(value)) {}
    explicit operator float() const {
        const std::uint32_t sign = (bits_ & 0x8000U) << 16, exponent = (bits_ >> 10) & 0x1fU;
        const std::uint32_t fraction = bits_ & 0x3ffU;
        if (exponent == 0) {
            const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
            return sign != 0 ? -magnitude : magnitude;
        }
        // Infinities and NaNs have the largest exponent in both formats.
        const std::uint32_t float_exponent = exponent == 31 ? 255 : exponent + 127 - 15;
        return std::bit_cast<float>(sign | (float_exponent << 23) | (fraction << 13));
    }

  private:
    static std::uint16_t rounded(float value) {
        const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
        const std::uint32_t sign = (bits >> 16) & 0x8000U, magnitude = bits & 0x7fffffffU;
        constexpr std::uint32_t infinity = 0x7c00, not_a_number = 0x7e00;
        if (std::isnan(value)) return static_cast<std::uint16_t>(sign | not_a_number);
        const float absolute = std::bit_cast<float>(magnitude);
        if (absolute >= 0x1p16F) return static_cast<std::uint16_t>(sign | infinity);
        if (absolute < 0x1p-14F) {
            const float units = std::nearbyint(absolute * 0x1p24F);
            return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(units));
        }
        const std::uint32_t carried = magnitude + 0xfffU + ((magnitude >> 13) & 1U);
        constexpr std::uint32_t exponent_shift = (127U - 15U) << 23;
        return static_cast<std::uint16_t>(sign | ((carried - exponent_shift) >> 13));
    }
    std::uint16_t bits_ = 0;
};

/// What T is computed in, and what the high precision copy of weights is kept in.
template<typename T>
using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;

template<typename T>
inline constexpr bool is_low = !std::is_same_v<T, Wide<T>>;

template<typename T>
Wide<T> widened(T value) {
    return static_cast<Wide<T>>(value);
}

/// As dlrt should see them.
template<typename T>
dlrt::Elements elements_of(std::span<T> values) {
    dlrt::Elements elements(values);
    if constexpr (std::is_same_v<T, Bfloat16>) elements.type = DLRT_BFLOAT16;
    if constexpr (std::is_same_v<T, Half>) elements.type = DLRT_FLOAT16;
    // dlrt takes a struct for bytes.
    if constexpr (is_low<T>) elements.count = static_cast<std::int64_t>(values.size());
    return elements;
}

}  // namespace train
