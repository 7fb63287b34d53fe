// SPDX-License-Identifier: Apache-2.0
/// Who is whose neighbour in a communicator, as one rank knows it, and its schedules for exchanging
/// with them. An immutable value, shared by the communicator and its duplicates.
#pragma once

#include "collectives/grid.hpp"
#include "collectives/neighbour_exchange.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace dlrt {

class Topology {
  public:
    /// REQUIRES: the neighbours of all ranks of the communicator agree on each edge.
    Topology(coll::Neighbours neighbours, std::int32_t size, std::int32_t rank)
        : neighbours_(std::move(neighbours)),
          allgather_(build(coll::Collective::neighbor_allgather, size, rank)),
          alltoall_(build(coll::Collective::neighbor_alltoall, size, rank)) {}
    Topology(coll::Grid grid, std::int32_t rank)
        : Topology(grid.neighbours_of(rank), grid.rank_count(), rank) {
        grid_ = std::move(grid);
    }

    [[nodiscard]] const coll::Neighbours& neighbours() const { return neighbours_; }
    /// Null for a graph.
    [[nodiscard]] const coll::Grid* grid() const { return grid_ ? &*grid_ : nullptr; }
    /// REQUIRES: a neighbourhood exchange.
    [[nodiscard]] const std::shared_ptr<const coll::Schedule>& schedule(coll::Collective collective
    ) const {
        return collective == coll::Collective::neighbor_allgather ? allgather_ : alltoall_;
    }

  private:
    [[nodiscard]] std::shared_ptr<const coll::Schedule> build(
        coll::Collective collective, std::int32_t size, std::int32_t rank
    ) const {
        return std::make_shared<const coll::Schedule>(
            coll::neighbour_exchange(collective, {size, rank}, neighbours_)
        );
    }

    coll::Neighbours neighbours_;
    std::optional<coll::Grid> grid_;
    std::shared_ptr<const coll::Schedule> allgather_;
    std::shared_ptr<const coll::Schedule> alltoall_;
};

using TopologyRef = std::shared_ptr<const Topology>;

}  // namespace dlrt
