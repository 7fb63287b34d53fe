// SPDX-License-Identifier: Apache-2.0
#include "runtime/collective_buffer.hpp"

#include "runtime/base/check.hpp"

namespace dlrt {

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
    DLRT_ASSERT((*buffer.layout)->is_contiguous());
    if (buffer.address == nullptr) return nullptr;
    return static_cast<const std::byte*>(buffer.address) +
           (*buffer.layout)->true_lower_bound_bytes() +
           static_cast<std::ptrdiff_t>(element * carriage.stored_bytes());
}

std::byte* address_of(const Buffer& buffer, const Carriage& carriage, std::uint64_t element) {
    DLRT_ASSERT((*buffer.layout)->is_contiguous());
    if (buffer.address == nullptr) return nullptr;
    return static_cast<std::byte*>(buffer.address) + (*buffer.layout)->true_lower_bound_bytes() +
           static_cast<std::ptrdiff_t>(element * carriage.stored_bytes());
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
