// SPDX-License-Identifier: Apache-2.0
/// A hash of a sequence of element types that can be put together from the hashes of its pieces, as
/// Langou, Bosilca, Fagg and Dongarra (2005) ask of a hash for datatypes: it depends on the
/// sequence only, not on how it was nested, and repeating costs O(log count).
///
/// The sequence e1 … en is the polynomial e1 * B^(n-1) + … + en modulo the prime 2^61 - 1. Values.
#pragma once

#include <cstdint>

namespace dlrt {

struct Signature {
    std::uint64_t value = 0;   ///< Of the polynomial.
    std::uint64_t scale = 1;   ///< B^length: what a piece in front of this one is multiplied by.
    std::uint64_t length = 0;  ///< Elements, modulo 2^64.

    friend constexpr bool operator==(Signature, Signature) = default;
};

namespace signature_detail {

inline constexpr std::uint64_t prime = (std::uint64_t{1} << 61) - 1;
inline constexpr std::uint64_t base = 0x0b4e8f1d63a97c25;

constexpr std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    const auto folded = static_cast<std::uint64_t>(product & prime) +
                        static_cast<std::uint64_t>(product >> 61);
    return folded >= prime ? folded - prime : folded;
}

/// Spreads all bits over all (the finalizer of MurmurHash3).
constexpr std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccd;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53;
    return x ^ (x >> 33);
}

}  // namespace signature_detail

[[nodiscard]] constexpr Signature signature_of_element(std::uint32_t number) {
    return {
        signature_detail::mix(number + 1) % (signature_detail::prime - 1) + 1,
        signature_detail::base, 1};
}

[[nodiscard]] constexpr Signature concatenate(Signature first, Signature second) {
    using namespace signature_detail;
    const std::uint64_t sum = multiply(first.value, second.scale) + second.value;
    return {
        sum >= prime ? sum - prime : sum, multiply(first.scale, second.scale),
        first.length + second.length};
}

[[nodiscard]] constexpr Signature repeat(Signature piece, std::uint64_t count) {
    Signature result;
    for (; count != 0; count >>= 1, piece = concatenate(piece, piece)) {
        if ((count & 1) != 0) result = concatenate(result, piece);
    }
    return result;
}

/// Folded into 32 bits for a message header.
[[nodiscard]] constexpr std::uint32_t fold(Signature signature) {
    using namespace signature_detail;
    return static_cast<std::uint32_t>(mix(signature.value ^ mix(signature.length)) >> 32);
}

}  // namespace dlrt
