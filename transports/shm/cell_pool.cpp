// SPDX-License-Identifier: Apache-2.0
#include "transports/shm/cell_pool.hpp"

namespace dlrt::shm {

void CellPool::reclaim(std::span<Outbound> peers) {
    for (std::uint32_t lent = ~free_; lent != 0; lent &= lent - 1) {
        const auto cell = static_cast<std::uint32_t>(std::countr_zero(lent));
        Outbound& outbound = peers[loans_[cell].peer];
        if (!outbound.is_released(loans_[cell].line)) outbound.refresh_for_payload();
        if (!outbound.is_released(loans_[cell].line)) continue;
        --outbound.cells_in_flight;
        free_ |= std::uint32_t{1} << cell;
    }
}

}  // namespace dlrt::shm
