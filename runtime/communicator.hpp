// SPDX-License-Identifier: Apache-2.0
/// A group with contexts of its own: what is sent in one communicator is never received in another.
///
/// Context ids are 64 bits: the world rank that leads the creation, and that rank's own running
/// number. The leader of a new communicator (its rank 0) picks the id and hands it to the others,
/// so ids are unique without any global agreement and are never used twice. Even ids carry the
/// user's messages, id + 1 those of collectives.
#pragma once

#include "collectives/two_groups.hpp"
#include "runtime/base/export.hpp"
#include "runtime/base/result.hpp"
#include "runtime/collective_state.hpp"
#include "runtime/engine.hpp"
#include "runtime/group.hpp"
#include "runtime/topology.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace dlrt {

class HostCollective;

class DLRT_CORE Communicator {
  public:
    Communicator(Engine& engine, ContextId context, GroupRef group, std::int32_t rank);
    ~Communicator();
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;
    /// Between two groups without a common member; `group` is the one that this rank is in.
    /// `position`: which of the two comes first where both are counted.
    enum class Position : std::uint8_t { first, second };
    struct OtherGroup {
        GroupRef group;
        Position own_position = Position::first;
    };
    Communicator(
        Engine& engine, ContextId context, GroupRef group, std::int32_t rank, OtherGroup other
    );

    [[nodiscard]] Engine& engine() const { return *engine_; }
    [[nodiscard]] std::int32_t rank() const { return rank_; }
    [[nodiscard]] std::int32_t size() const { return size_; }
    [[nodiscard]] const GroupRef& group() const { return group_; }
    [[nodiscard]] ContextId user_context() const { return context_; }
    [[nodiscard]] ContextId collective_context() const {
        return ContextId{static_cast<std::uint64_t>(context_) + 1};
    }

    /// Ranks are world ranks: no translation needed. Never between two groups.
    [[nodiscard]] bool is_identity() const { return is_identity_; }

    [[nodiscard]] bool is_between_groups() const { return everybody_ != nullptr; }
    /// The group that messages go to and come from: the other one between groups, else the own one.
    [[nodiscard]] const GroupRef& peers() const { return peers_; }
    [[nodiscard]] std::int32_t peer_count() const { return peer_count_; }
    /// REQUIRES: 0 <= rank < peer_count().
    [[nodiscard]] WorldRank peer_world_rank(std::int32_t rank) const {
        return is_identity_ ? rank : peers_->world_rank(rank);
    }
    /// All that take part in collectives, and this rank's number among them: between groups the
    /// first one comes before the other.
    [[nodiscard]] const GroupRef& everybody() const {
        return is_between_groups() ? everybody_ : group_;
    }
    [[nodiscard]] std::int32_t rank_among_all() const {
        return is_between_groups() ? two_groups(0).rank : rank_;
    }
    /// REQUIRES of this and the next: between groups.
    [[nodiscard]] coll::TwoGroups two_groups(std::int32_t root) const {
        const bool is_first = position_ == Position::first;
        return {
            is_first ? size_ : peer_count_, is_first ? peer_count_ : size_,
            is_first ? rank_ : peer_count_ + rank_, root};
    }
    [[nodiscard]] Position position() const { return position_; }

    /// REQUIRES: 0 <= rank < size().
    [[nodiscard]] WorldRank world_rank(std::int32_t rank) const {
        return is_identity_ ? rank : group_->world_rank(rank);
    }

    /// Numbers this communicator's collective operations; the same on every rank, since all call
    /// them in the same order. Returns the first of `count`.
    [[nodiscard]] std::uint64_t take_operation_numbers(
        std::uint64_t count, Persistence persistence
    ) {
        auto& next = next_operation_numbers_[persistence == Persistence::once ? 0 : 1];
        // No two threads are here at once: they begin collectives one at a time.
        const std::uint64_t first = next.load(std::memory_order_relaxed);
        next.store(first + count, std::memory_order_relaxed);
        return first;
    }

    /// The number of the next one.
    [[nodiscard]] OperationNumber next_operation_number(Persistence persistence) const {
        const auto& next = next_operation_numbers_[persistence == Persistence::once ? 0 : 1];
        return {next.load(std::memory_order_relaxed), persistence};
    }
    /// Null where there is none: some ranks are on other hosts, or there were too many
    /// communicators.
    [[nodiscard]] HostCollective* host_collective() const { return host_collective_.get(); }
    /// On all ranks or on none, before the first collective.
    void open_host_collective(std::uint32_t area);

    /// Null where ranks have no neighbours.
    [[nodiscard]] const TopologyRef& topology() const { return topology_; }
    /// Part of making it, before anybody else knows it.
    void set_topology(TopologyRef topology) { topology_ = std::move(topology); }

    /// What collective operations keep between them (collective*.cpp only).
    [[nodiscard]] CollectiveState& collective_state() { return collective_state_; }

    /// Freed by the user: what its messages have left is dropped once no operation is in flight.
    void retire() { is_retired_.store(true, std::memory_order_relaxed); }
    [[nodiscard]] bool is_retired() const { return is_retired_.load(std::memory_order_relaxed); }

  private:
    Engine* engine_;
    ContextId context_;
    GroupRef group_;
    std::int32_t rank_;
    std::int32_t size_;
    bool is_identity_;
    Position position_ = Position::first;
    GroupRef peers_;
    std::int32_t peer_count_;
    GroupRef everybody_;  ///< Null but between groups.
    std::atomic<std::uint64_t> next_operation_numbers_[2] = {0, 0};
    std::atomic<bool> is_retired_{false};
    TopologyRef topology_;
    CollectiveState collective_state_;
    std::unique_ptr<HostCollective> host_collective_;
};

using CommunicatorRef = std::shared_ptr<Communicator>;

}  // namespace dlrt
