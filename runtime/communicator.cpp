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
      is_identity_(group_->is_identity()) {
    DLRT_ASSERT(rank_ >= 0 && rank_ < size_);
    DLRT_ASSERT(static_cast<std::uint64_t>(context_) % 2 == 0);
}

Communicator::~Communicator() = default;

void Communicator::open_host_collective(std::uint32_t area) {
    host_collective_ = std::make_unique<HostCollective>(*engine_, context_, group_, rank_, area);
}

}  // namespace dlrt
