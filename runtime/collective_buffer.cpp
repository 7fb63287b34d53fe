// SPDX-License-Identifier: Apache-2.0
#include "runtime/collective_buffer.hpp"

#include "runtime/base/check.hpp"

namespace dlrt {
namespace {

/// Where data begins. A layout may have absolute addresses, and its buffer then the address 0.
template<typename Byte>
Byte* place_of(Byte* base, const Layout& layout, std::uint64_t offset_bytes) {
    DLRT_ASSERT(layout.is_contiguous());
    const auto offset = layout.true_lower_bound_bytes() + static_cast<std::int64_t>(offset_bytes);
    if (base != nullptr) return base + offset;
    if (layout.true_lower_bound_bytes() == 0) return nullptr;
    return reinterpret_cast<Byte*>(static_cast<std::uintptr_t>(offset));
}

}  // namespace

Carriage carriage_of(const Reducer& reducer) {
    Carriage carriage;
    if (reducer.is_user()) {
        carriage.whole_bytes = reducer.unit_bytes();
    } else {
        carriage.stored = reducer.stored();
        carriage.carried = reducer.carried();
    }
    return carriage;
}

bool needs_staging(const LayoutRef& layout, const Carriage& carriage) {
    return !layout->is_contiguous() || carriage.is_widening();
}

const std::byte* address_of(
    const ConstBuffer& buffer, const Carriage& carriage, std::uint64_t element
) {
    const auto* const base = static_cast<const std::byte*>(buffer.address);
    return place_of(base, **buffer.layout, element * carriage.stored_bytes());
}

std::byte* address_of(const Buffer& buffer, const Carriage& carriage, std::uint64_t element) {
    auto* const base = static_cast<std::byte*>(buffer.address);
    return place_of(base, **buffer.layout, element * carriage.stored_bytes());
}

void load(
    const ConstBuffer& buffer, const Carriage& carriage, const Window& window, std::byte* packing,
    std::byte* target
) {
    if (window.count == 0) return;
    const std::uint64_t bytes = window.count * carriage.stored_bytes();
    const bool is_contiguous = (*buffer.layout)->is_contiguous();
    std::byte* packed = carriage.is_widening() ? packing : target;
    if (!is_contiguous || !carriage.is_widening()) {
        const std::uint64_t offset = window.first * carriage.stored_bytes();
        pack(**buffer.layout, buffer.count, buffer.address, offset, {packed, bytes});
    }
    if (!carriage.is_widening()) return;
    const std::byte* narrow = is_contiguous ? address_of(buffer, carriage, window.first) : packed;
    widen_elements(carriage.stored, narrow, target, window.count);
}

void store(
    const Buffer& buffer, const Carriage& carriage, const Window& window, std::byte* packing,
    const std::byte* source
) {
    if (window.count == 0) return;
    const std::uint64_t bytes = window.count * carriage.stored_bytes();
    const bool is_contiguous = (*buffer.layout)->is_contiguous();
    const std::byte* packed = source;
    if (carriage.is_widening()) {
        std::byte* narrow = is_contiguous ? address_of(buffer, carriage, window.first) : packing;
        narrow_elements(carriage.stored, source, narrow, window.count);
        if (is_contiguous) return;
        packed = narrow;
    }
    const std::uint64_t offset = window.first * carriage.stored_bytes();
    unpack(**buffer.layout, buffer.count, buffer.address, offset, {packed, bytes});
}

}  // namespace dlrt
