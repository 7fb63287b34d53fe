// SPDX-License-Identifier: Apache-2.0
/// How the data of a user's buffer is carried through a collective: as it lies, or packed (the
/// layout has gaps), or widened (half and bfloat16 are summed as float and rounded once). Pure but
/// for the memory it is given.
#pragma once

#include "runtime/base/bytes.hpp"
#include "runtime/engine.hpp"
#include "runtime/reducer.hpp"

#include <cstddef>
#include <cstdint>

namespace dlrt {

/// The elements of an operation's vector in the user's memory and on their way. Plain bytes where
/// nothing is reduced; whole elements of the user's type for a user's reduction.
struct Carriage {
    ElementType stored = ElementType::byte;
    ElementType carried = ElementType::byte;
    std::uint64_t whole_bytes = 0;  ///< Of a whole element, where those are carried as they are.

    [[nodiscard]] bool is_widening() const { return stored != carried; }
    [[nodiscard]] std::uint64_t stored_bytes() const {
        return whole_bytes != 0 ? whole_bytes : element_size_bytes(stored);
    }
    [[nodiscard]] std::uint64_t carried_bytes() const {
        return whole_bytes != 0 ? whole_bytes : element_size_bytes(carried);
    }
};

[[nodiscard]] Carriage carriage_of(const Reducer& reducer);

/// Consecutive elements of a packed stream.
struct Window {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
};

/// Whether the data can't be sent from, or received into, where it lies.
[[nodiscard]] bool needs_staging(const LayoutRef& layout, const Carriage& carriage);

/// REQUIRES: !needs_staging(…). Where that element of the stream lies.
[[nodiscard]] const std::byte* address_of(
    const ConstBuffer& buffer, const Carriage& carriage, std::uint64_t element
);
[[nodiscard]] std::byte* address_of(
    const Buffer& buffer, const Carriage& carriage, std::uint64_t element
);

/// The window's elements as they are carried, to `target`. `packing` is memory
/// for window.count stored elements, used when they have gaps and are widened.
void load(
    const ConstBuffer& buffer, const Carriage& carriage, const Window& window, std::byte* packing,
    std::byte* target
);
/// The reverse.
void store(
    const Buffer& buffer, const Carriage& carriage, const Window& window, std::byte* packing,
    const std::byte* source
);

}  // namespace dlrt
