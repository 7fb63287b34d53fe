// SPDX-License-Identifier: Apache-2.0
/// The padding that C adds behind a struct. A pure function.
#pragma once

#include "runtime/layout.hpp"

#include <cstdint>

namespace dlrt {

/// The same elements with an extent that is a multiple of the alignment, larger by less than that.
/// A layout whose bounds were set stays as it is. Errors: Errc::type beyond 63 bits.
[[nodiscard]] DLRT_CORE Result<LayoutRef> pad_to_alignment(
    const LayoutRef& layout, std::uint32_t alignment_bytes
);

}  // namespace dlrt
