// SPDX-License-Identifier: Apache-2.0
#include "runtime/communicator.hpp"

#include "runtime/host_collective.hpp"

namespace dlrt {

Communicator::Communicator(Engine& engine, ContextId context, GroupRef group, std::int32_t rank)
    : engine_(&engine),
      context_(context),
      group_(std::move(group)),
      rank_(rank),
      size_(group_->size()),
      is_identity_(group_->is_identity()),
      peers_(group_),
      peer_count_(size_) {
    DLRT_ASSERT(rank_ >= 0 && rank_ < size_);
    DLRT_ASSERT(static_cast<std::uint64_t>(context_) % 2 == 0);
}

Communicator::~Communicator() = default;

void Communicator::open_host_collective(std::uint32_t area) {
    host_collective_ = std::make_unique<HostCollective>(*engine_, context_, group_, rank_, area);
}

Communicator::Communicator(
    Engine& engine, ContextId context, GroupRef group, std::int32_t rank, OtherGroup other
)
    : Communicator(engine, context, std::move(group), rank) {
    is_identity_ = false;
    position_ = other.own_position;
    peers_ = std::move(other.group);
    peer_count_ = peers_->size();
    const bool is_first = position_ == Position::first;
    everybody_ = group_union(is_first ? *group_ : *peers_, is_first ? *peers_ : *group_);
    DLRT_ASSERT(everybody_->size() == size_ + peer_count_);
}

}  // namespace dlrt
