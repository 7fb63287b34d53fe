// SPDX-License-Identifier: Apache-2.0
/// One block of an operation whose blocks differ. A value.
#pragma once

#include "runtime/layout.hpp"

#include <cstddef>
#include <cstdint>

namespace dlrt {

/// Elements of a user's buffer as they lie.
struct TypedBlock {
    std::byte* address = nullptr;
    std::uint64_t count = 0;
    const LayoutRef* layout = nullptr;
    std::uint64_t size_bytes = 0;  ///< Of its data.
};

}  // namespace dlrt
