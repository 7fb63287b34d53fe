// SPDX-License-Identifier: Apache-2.0
/// The messages by which ranks tell each other of a communicator that is being made. Any thread;
/// they block like other messages.
#pragma once

#include "runtime/base/result.hpp"
#include "runtime/engine.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace dlrt {

/// The last tag there is; the collectives' own stay below.
inline constexpr Tag creation_tag = INT32_MAX;

/// What the members of a new communicator tell each other, before the members that the teller
/// believes in, where these are to be known.
struct Invitation {
    std::uint64_t context = 0;
    std::uint64_t purpose = 0;  ///< The same at all members: a hash of what they believe to create.
    std::uint64_t error = 0;    ///< An Errc: it won't be, and nothing else here counts.
    std::uint64_t area = 0;     ///< Number of its cells (see HostCollective), plus one; 0: none.
};
static_assert(sizeof(Invitation) == 32);

/// One that has come.
struct Received {
    Invitation invitation;
    std::vector<WorldRank> members;
};

/// The channel of one creation: where its messages travel, and under which tag.
struct Channel {
    Engine& engine;
    ContextId context;
    Tag tag;
};

Status tell(
    const Channel& channel, WorldRank whom, const Invitation& invitation,
    std::span<const WorldRank> members
);
/// Errors: Errc::mismatch for what is no invitation.
Result<Received> hear(const Channel& channel, WorldRank whom);

}  // namespace dlrt
