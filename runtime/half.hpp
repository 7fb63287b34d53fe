// SPDX-License-Identifier: Apache-2.0
/// binary16 and bfloat16 to float and back. Branch-free integer and float arithmetic that compilers
/// turn into vector code. Pure; rounds to nearest even as long as the thread's rounding mode does;
/// a caller's flush-to-zero mode changes nothing.
#pragma once

#include <bit>
#include <cstdint>

namespace dlrt {

/// A value of IEEE 754 binary16 (5 bits of exponent, 10 of fraction).
struct Float16 {
    std::uint16_t bits = 0;
};

/// The upper half of a binary32.
struct BFloat16 {
    std::uint16_t bits = 0;
};

namespace half_detail {

inline constexpr std::uint32_t float_infinity = 0x7f800000;
/// 2^-14, the smallest normal binary16.
inline constexpr std::uint32_t smallest_normal = 113U << 23;
/// 2^16, from where on every binary32 is beyond the finite binary16.
inline constexpr std::uint32_t two_to_16 = 143U << 23;

/// condition ? yes : no, in a form that stays free of branches: compilers sink a float operation
/// into the arm that needs it, and then can't vectorise the loop around it.
constexpr std::uint32_t chosen(bool condition, std::uint32_t yes, std::uint32_t no) {
    return no ^ ((yes ^ no) & (0U - static_cast<std::uint32_t>(condition)));
}

}  // namespace half_detail

[[nodiscard]] constexpr float widen(Float16 narrow) {
    using namespace half_detail;
    const std::uint32_t sign = (narrow.bits & 0x8000U) << 16;
    const std::uint32_t magnitude = (narrow.bits & 0x7fffU) << 13;
    const std::uint32_t exponent = magnitude & (0x1fU << 23);
    // Normal: the bias grows from 15 to 127. Infinity and NaN: the exponent becomes all ones.
    const std::uint32_t normal = magnitude + (112U << 23);
    const std::uint32_t special = magnitude + (224U << 23);
    // Subnormal: as the fraction of a number of 2^-14, from which 2^-14 is taken away.
    const float fraction = std::bit_cast<float>(magnitude + smallest_normal) -
                           std::bit_cast<float>(smallest_normal);
    const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(fraction);
    const std::uint32_t finite = chosen(exponent == 0, subnormal, normal);
    return std::bit_cast<float>(sign | chosen(exponent == (0x1fU << 23), special, finite));
}

/// Narrow is Float16 or BFloat16.
template<typename Narrow>
[[nodiscard]] constexpr Narrow narrowed(float wide);

template<>
[[nodiscard]] constexpr Float16 narrowed<Float16>(float wide) {
    using namespace half_detail;
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(wide);
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    // Adding half a unit less one, and one more where the kept part is odd, rounds to even.
    const std::uint32_t odd = (magnitude >> 13) & 1U;
    const std::uint32_t normal = (magnitude - (112U << 23) + 0xfffU + odd) >> 13;
    // Below 2^-14 the unit is 2^-24: adding 0.5 makes the float adder round there. Larger numbers
    // are kept out of it; a subnormal float rounds to zero either way.
    const std::uint32_t tiny = chosen(magnitude < smallest_normal, magnitude, 0);
    const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(
                                        std::bit_cast<float>(tiny) + 0.5F
                                    ) -
                                    0x3f000000U;
    const std::uint32_t quiet_nan = 0x7e00U | ((magnitude >> 13) & 0x3ffU);
    const std::uint32_t special = chosen(magnitude > float_infinity, quiet_nan, 0x7c00U);
    const std::uint32_t finite = chosen(magnitude < smallest_normal, subnormal, normal);
    const std::uint32_t result = chosen(magnitude >= two_to_16, special, finite);
    return {static_cast<std::uint16_t>(result | ((bits >> 16) & 0x8000U))};
}

[[nodiscard]] constexpr float widen(BFloat16 narrow) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(narrow.bits) << 16);
}

template<>
[[nodiscard]] constexpr BFloat16 narrowed<BFloat16>(float wide) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(wide);
    const std::uint32_t odd = (bits >> 16) & 1U;
    const std::uint32_t rounded = (bits + 0x7fffU + odd) >> 16;
    const std::uint32_t quiet_nan = (bits >> 16) | 0x40U;
    const bool is_nan = (bits & 0x7fffffffU) > half_detail::float_infinity;
    return {static_cast<std::uint16_t>(half_detail::chosen(is_nan, quiet_nan, rounded))};
}

}  // namespace dlrt
