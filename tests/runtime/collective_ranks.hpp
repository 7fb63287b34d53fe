// SPDX-License-Identifier: Apache-2.0
/// A communicator over all ranks of a cluster of threads, for tests of collectives.
#pragma once

#include "runtime/communicator.hpp"
#include "tests/runtime/engine_cluster.hpp"

#include <functional>
#include <memory>
#include <numeric>
#include <vector>

namespace dlrt::testing {

class CollectiveRanks {
  public:
    explicit CollectiveRanks(std::int32_t size, Wiring wiring = {})
        : cluster_(static_cast<std::uint32_t>(size), std::move(wiring)) {
        std::vector<WorldRank> members(static_cast<std::size_t>(size));
        std::iota(members.begin(), members.end(), 0);
        const auto group = std::make_shared<const Group>(members);
        for (std::int32_t rank = 0; rank < size; ++rank) {
            Engine& engine = cluster_.engine(static_cast<std::uint32_t>(rank));
            comms_.push_back(std::make_unique<Communicator>(engine, test_context, group, rank));
        }
    }

    void run(const std::function<void(Communicator&)>& body) {
        cluster_.run([&](WorldRank rank, Engine&) { body(*comms_[static_cast<std::size_t>(rank)]); }
        );
    }

    [[nodiscard]] Cluster& cluster() { return cluster_; }

  private:
    Cluster cluster_;
    std::vector<std::unique_ptr<Communicator>> comms_;
};

}  // namespace dlrt::testing
