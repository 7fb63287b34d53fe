// SPDX-License-Identifier: Apache-2.0
/// Arrays of binary16 to float and back: by the instructions for it where the cpu has them, else by
/// the arithmetic of half.hpp. The same bits either way, except that an instruction makes a quiet
/// NaN of a signalling one. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dlrt {

/// REQUIRES: source and target don't overlap.
void widen_halves(const std::byte* source, std::byte* target, std::uint64_t count);
/// Rounds to nearest even. REQUIRES: source and target don't overlap.
void narrow_halves(const std::byte* source, std::byte* target, std::uint64_t count);

}  // namespace dlrt
