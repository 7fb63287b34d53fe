// SPDX-License-Identifier: Apache-2.0
/// Makes new communicators. All but create_from_group are collective over the parent.
///
/// The new communicator's rank 0 takes a context id from `new_context` and hands it down a binomial
/// tree of the members, in the parent's collective context: log2(members) hops and no global
/// agreement. Creations on one parent come in the same order on all ranks, and messages between two
/// ranks keep theirs, so one tag is enough. A member that is told early may send at once: its
/// messages wait at a member that doesn't know the context yet. Where two members believe to create
/// different communicators, or one has gone, those below them in the tree get the error too.
#pragma once

#include "runtime/base/export.hpp"
#include "runtime/base/result.hpp"
#include "runtime/communicator.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace dlrt {

/// Yields a context that no process of the job has used (Core::new_context).
using ContextSource = std::function<ContextId()>;

/// A context for members of the parent, or of both its groups, that all believe in the same ones
/// and name them in the same order. Errors: as create().
[[nodiscard]] Result<ContextId> agree_context(
    Communicator& parent, const Group& members, const ContextSource& new_context
);
/// A communicator of such members.
[[nodiscard]] Result<CommunicatorRef> create_known(
    Communicator& parent, const GroupRef& members, const ContextSource& new_context
);

/// Empty color: this rank takes no part.
struct SplitChoice {
    std::optional<std::int32_t> color;
    std::int32_t key = 0;
};

/// With the parent's topology.
[[nodiscard]] DLRT_CORE Result<CommunicatorRef> duplicate(
    Communicator& parent, const ContextSource& new_context
);

/// Null for a rank without a color.
[[nodiscard]] DLRT_CORE Result<CommunicatorRef> split(
    Communicator& parent, const SplitChoice& choice, const ContextSource& new_context
);

/// Each rank passes the group it belongs to; equal or disjoint ones. Null for a rank that is not in
/// its own. Errors: Errc::group when a member is not in the parent.
[[nodiscard]] DLRT_CORE Result<CommunicatorRef> create(
    Communicator& parent, const GroupRef& group, const ContextSource& new_context
);

/// Where processes meet that have no communicator in common.
struct Meeting {
    Engine& engine;
    ContextId context;  ///< Core::meeting_context().
    WorldRank self;
    std::string_view text;  ///< Tells apart concurrent creations by overlapping groups.
};

/// Collective over the group only. Null when the group is empty. Errors: Errc::group when self is
/// not in it; Errc::mismatch when two concurrent creations by different texts can't be told apart.
[[nodiscard]] DLRT_CORE Result<CommunicatorRef> create_from_group(
    const Meeting& meeting, const GroupRef& group, const ContextSource& new_context
);

/// The communicator is given up here: messages of it that nobody received are dropped. Returns how
/// many of them were a user's.
DLRT_CORE std::uint64_t retire(Communicator& comm);

/// The members of a split: the parent's ranks with `color`, by key, then by rank. Pure.
[[nodiscard]] std::vector<std::int32_t> select_members(
    std::span<const SplitChoice> choices, std::int32_t color
);

}  // namespace dlrt
