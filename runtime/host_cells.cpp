// SPDX-License-Identifier: Apache-2.0
/// Who has which area.
#include "runtime/host_cells.hpp"

#include "runtime/base/check.hpp"

#include <bit>
#include <cstring>

namespace dlrt {
namespace {

void clear_ring(CellRing& ring) {
    for (CellLine& line : ring.lines) line.mark.store(0, std::memory_order_relaxed);
    ring.finished.store(0, std::memory_order_relaxed);
    ring.wanted.store(0, std::memory_order_relaxed);
    ring.wanted_of_next.store(0, std::memory_order_relaxed);
}

}  // namespace

void CellArea::clear(std::uint32_t members) const {
    for (std::uint32_t member = 0; member < members; ++member) clear_ring(ring(member));
    clear_ring(results());
    for (CellArrivals& arrivals : head().arrivals) {
        arrivals.count.store(0, std::memory_order_relaxed);
    }
    CellDispute& dispute = head().dispute;
    dispute.claimed.store(0, std::memory_order_relaxed);
    dispute.raised.store(0, std::memory_order_relaxed);
    head().room_waiters.store(0, std::memory_order_relaxed);
    head().left.store(0, std::memory_order_relaxed);
}

std::optional<std::uint32_t> CellAreas::claim() const {
    constexpr std::uint64_t reserved = (std::uint64_t{1} << world_count) - 1;
    std::uint64_t taken = claims().load(std::memory_order_relaxed);
    for (;;) {
        const auto number = static_cast<std::uint32_t>(std::countr_one(taken | reserved));
        if (number >= count) return std::nullopt;
        const std::uint64_t bit = std::uint64_t{1} << number;
        // Pairs with leave(): the area has been cleared.
        if (claims().compare_exchange_weak(taken, taken | bit, std::memory_order_acquire)) {
            return number;
        }
    }
}

CellArea CellAreas::area(std::uint32_t number) const {
    DLRT_ASSERT(number < count);
    return {bytes_.data() + claims_bytes + number * CellArea::size_bytes(local_size_), local_size_};
}

void CellAreas::leave(std::uint32_t number, std::uint32_t members) const {
    const CellArea left = area(number);
    // Each member's last use comes before the last one's clearing.
    if (left.head().left.fetch_add(1, std::memory_order_acq_rel) + 1 != members) return;
    left.clear(members);
    claims().fetch_and(~(std::uint64_t{1} << number), std::memory_order_release);
}

}  // namespace dlrt
