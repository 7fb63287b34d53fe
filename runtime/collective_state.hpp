// SPDX-License-Identifier: Apache-2.0
/// What a communicator keeps between its collective operations, so that a repeated one allocates
/// nothing: schedules, and the operations themselves with their memory.
///
/// Threads: operations of one communicator are begun by one thread at a time, as dlrt.h asks; those
/// in flight may end in another meanwhile.
#pragma once

#include "collectives/algorithms.hpp"
#include "collectives/groups.hpp"
#include "collectives/two_groups.hpp"
#include "runtime/collective_operation.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace dlrt {

class CollectiveState {
  public:
    /// The schedule of that shape; built the first time.
    [[nodiscard]] std::shared_ptr<const coll::Schedule> schedule(
        const coll::Algorithm& algorithm, const coll::Shape& shape
    );
    /// The same between two groups.
    [[nodiscard]] std::shared_ptr<const coll::Schedule> schedule_between(
        coll::Collective collective, const coll::TwoGroups& groups
    );
    /// How the communicator's ranks are divided, the same on all of them; null when that is of no
    /// use. Asks the core once.
    [[nodiscard]] const coll::Groups* groups(const Communicator& comm);
    /// Whether this algorithm was not told of yet for a size of so many bits.
    [[nodiscard]] bool is_news(const coll::Algorithm& algorithm, std::uint64_t size_bytes);

    /// The one that blocking calls use.
    [[nodiscard]] CollectiveOperation& blocking() { return blocking_; }
    /// One for a request, until it is given back.
    [[nodiscard]] CollectiveOperation& take();
    /// Returns whether no other is out.
    bool give_back(CollectiveOperation& operation);
    [[nodiscard]] std::size_t count_out();  ///< Those that have not been given back.

    /// For callers that may be several threads: collectives of one communicator are called one at a
    /// time. Call::none, and the turn is the caller's until leave(); else what another thread is
    /// in.
    [[nodiscard]] Call enter(Call call) {
        Call other = Call::none;
        inside_.compare_exchange_strong(
            other, call, std::memory_order_acquire, std::memory_order_relaxed
        );
        return other;
    }
    void leave() { inside_.store(Call::none, std::memory_order_release); }

  private:
    struct Told {
        const coll::Algorithm* algorithm = nullptr;
        int size_bits = 0;
        friend bool operator==(const Told&, const Told&) = default;
    };
    struct Known {
        const coll::Algorithm* algorithm = nullptr;
        std::shared_ptr<const coll::Schedule> schedule;
    };

    struct KnownBetween {
        coll::Collective collective;
        coll::TwoGroups groups;
        std::shared_ptr<const coll::Schedule> schedule;
    };

    struct Division {
        std::optional<coll::Groups> groups;
        bool is_known = false;
    };

    Division division_;  ///< Schedules keep pointers to it.
    std::vector<Known> schedules_;
    std::vector<KnownBetween> schedules_between_;
    std::size_t next_victim_ = 0;
    std::vector<Told> told_;
    CollectiveOperation blocking_;
    std::atomic<Call> inside_{Call::none};
    std::mutex mutex_;  ///< Of what follows.
    std::vector<std::unique_ptr<CollectiveOperation>> operations_;
    std::vector<CollectiveOperation*> idle_;
};

}  // namespace dlrt
