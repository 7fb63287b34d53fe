// SPDX-License-Identifier: Apache-2.0
/// The large cells of one sender, lent to all its peers. A cell is free again when its receiver has
/// released the line that named it. One thread.
///
/// A peer may hold as many cells as are free, no more: one that stopped taking leaves half of them
/// to the others, two leave a third, and so on.
#pragma once

#include "transports/shm/area.hpp"
#include "transports/shm/outbound.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <span>

namespace dlrt::shm {

class CellPool {
  public:
    explicit CellPool(std::byte* cells) : cells_(cells) {}

    static constexpr std::uint32_t none = AreaLayout::cell_count;

    /// A free cell for this peer, or `none`. It is lent by lend() only.
    [[nodiscard]] std::uint32_t find(std::span<Outbound> peers, std::uint32_t peer) {
        if (!may_have(peers[peer])) {
            reclaim(peers);
            if (!may_have(peers[peer])) return none;
        }
        return static_cast<std::uint32_t>(std::countr_zero(free_));
    }
    [[nodiscard]] std::byte* memory(std::uint32_t cell) const {
        return cells_ + std::uint64_t{cell} * AreaLayout::cell_bytes;
    }
    /// Calls `wait(peer)` for everybody who has a cell.
    template<typename Wait>
    void for_each_borrower(const Wait& wait) const {
        for (std::uint32_t lent = ~free_; lent != 0; lent &= lent - 1) {
            wait(loans_[static_cast<std::uint32_t>(std::countr_zero(lent))].peer);
        }
    }
    /// Lends a cell with the line that was published last.
    void lend(std::uint32_t cell, Outbound& outbound, std::uint32_t peer) {
        free_ &= ~(std::uint32_t{1} << cell);
        loans_[cell] = {peer, outbound.sent()};
        ++outbound.cells_in_flight;
    }

  private:
    struct Loan {
        std::uint32_t peer = 0;
        std::uint32_t line = 0;
    };

    [[nodiscard]] bool may_have(const Outbound& outbound) const {
        return outbound.cells_in_flight < static_cast<std::uint32_t>(std::popcount(free_));
    }
    void reclaim(std::span<Outbound> peers);

    static_assert(AreaLayout::cell_count == 32);
    std::uint32_t free_ = ~std::uint32_t{0};
    std::array<Loan, AreaLayout::cell_count> loans_{};
    std::byte* cells_;
};

}  // namespace dlrt::shm
