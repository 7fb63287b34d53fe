// SPDX-License-Identifier: Apache-2.0
#include "runtime/communicator_create.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/collective.hpp"

#include <algorithm>
#include <bit>

namespace dlrt {
namespace {

/// The last tag there is; the collectives' own stay below.
constexpr Tag creation_tag = INT32_MAX;

/// What the members of a new communicator tell each other.
struct Invitation {
    std::uint64_t context = 0;
    std::uint64_t purpose = 0;  ///< The same at all members: a hash of what they believe to create.
};
static_assert(sizeof(Invitation) == 16);

/// FNV-1a.
std::uint64_t hash_bytes(std::uint64_t hash, Bytes bytes) {
    for (const std::byte byte : bytes) {
        hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3u;
    }
    return hash;
}

std::uint64_t hash_purpose(const Group& group, std::string_view text) {
    const std::uint64_t hash = hash_bytes(0xcbf29ce484222325u, std::as_bytes(group.members()));
    return hash_bytes(hash, std::as_bytes(std::span(text)));
}

/// The channel of one creation: where its messages travel, and under which tag.
struct Channel {
    Engine& engine;
    ContextId context;
    Tag tag;
};

/// Binomial tree over the group, rank 0 at the root. 8 ranks: 0 tells 4, 2, 1; 4 tells 6, 5; 2
/// tells 3; 6 tells 7.
Status hand_down(
    const Channel& channel, const Group& group, std::int32_t rank, Invitation& invitation
) {
    const LayoutRef& layout = Layout::of(ElementType::byte);
    const auto self = static_cast<std::uint32_t>(rank);
    const auto size = static_cast<std::uint32_t>(group.size());
    if (self != 0) {
        const auto parent = static_cast<std::int32_t>(self & (self - 1));
        Invitation received;
        MessageStatus status;
        const Route from{channel.context, group.world_rank(parent), channel.tag};
        const Status outcome = channel.engine.recv(
            from, {&received, sizeof received, &layout}, status
        );
        if (!outcome.ok()) return outcome;
        if (received.purpose != invitation.purpose || status.size_bytes != sizeof received) {
            return fail(
                Errc::mismatch,
                "rank {} of the new communicator and this one (rank {}) create different "
                "communicators: the members or the text differ",
                parent, rank
            );
        }
        invitation.context = received.context;
    }
    const std::uint32_t reach = self == 0 ? std::bit_ceil(size) : self & (~self + 1);
    for (std::uint32_t distance = reach / 2; distance > 0; distance /= 2) {
        if (self + distance >= size) continue;
        const WorldRank child = group.world_rank(static_cast<std::int32_t>(self + distance));
        const Status outcome = channel.engine.send(
            SendMode::standard, {channel.context, child, channel.tag},
            {&invitation, sizeof invitation, &layout}
        );
        if (!outcome.ok()) return outcome;
    }
    return {};
}

/// REQUIRES: rank is this process's in the group.
Result<CommunicatorRef> form(
    const Channel& channel, const GroupRef& group, std::int32_t rank, std::uint64_t purpose,
    const ContextSource& new_context
) {
    Invitation invitation{0, purpose};
    if (rank == 0) invitation.context = static_cast<std::uint64_t>(new_context());
    if (const Status outcome = hand_down(channel, *group, rank, invitation); !outcome.ok())
        return outcome;
    return std::make_shared<Communicator>(
        channel.engine, ContextId{invitation.context}, group, rank
    );
}

Channel channel_of(Communicator& parent) {
    return {parent.engine(), parent.collective_context(), creation_tag};
}

}  // namespace

std::vector<std::int32_t> select_members(std::span<const SplitChoice> choices, std::int32_t color) {
    std::vector<std::int32_t> members;
    for (std::size_t rank = 0; rank < choices.size(); ++rank) {
        if (choices[rank].color == color) members.push_back(static_cast<std::int32_t>(rank));
    }
    std::ranges::stable_sort(members, {}, [choices](std::int32_t rank) {
        return choices[static_cast<std::size_t>(rank)].key;
    });
    return members;
}

Result<CommunicatorRef> duplicate(Communicator& parent, const ContextSource& new_context) {
    return form(channel_of(parent), parent.group(), parent.rank(), 0, new_context);
}

Result<CommunicatorRef> split(
    Communicator& parent, const SplitChoice& choice, const ContextSource& new_context
) {
    std::vector<SplitChoice> choices(static_cast<std::size_t>(parent.size()));
    const LayoutRef& layout = Layout::of(ElementType::byte);
    const Status gathered = allgather(
        parent, {{&choice, sizeof choice, &layout}, {choices.data(), sizeof choice, &layout}, false}
    );
    if (!gathered.ok()) return gathered;
    if (!choice.color) return CommunicatorRef{};

    const std::vector<std::int32_t> members = select_members(choices, *choice.color);
    std::vector<WorldRank> world_ranks;
    world_ranks.reserve(members.size());
    for (const std::int32_t member : members) world_ranks.push_back(parent.world_rank(member));
    const auto rank = static_cast<std::int32_t>(
        std::ranges::find(members, parent.rank()) - members.begin()
    );
    const auto group = std::make_shared<const Group>(std::move(world_ranks));
    return form(channel_of(parent), group, rank, 0, new_context);
}

Result<CommunicatorRef> create(
    Communicator& parent, const GroupRef& group, const ContextSource& new_context
) {
    for (const WorldRank member : group->members()) {
        if (parent.group()->rank_of(member) == undefined_rank) {
            return fail(
                Errc::group, "world rank {} of the group is not in the communicator", member
            );
        }
    }
    const std::int32_t rank = group->rank_of(parent.world_rank(parent.rank()));
    if (rank == undefined_rank) return CommunicatorRef{};
    return form(channel_of(parent), group, rank, hash_purpose(*group, {}), new_context);
}

Result<CommunicatorRef> create_from_group(
    const Meeting& meeting, const GroupRef& group, const ContextSource& new_context
) {
    if (group->size() == 0) return CommunicatorRef{};
    const std::int32_t rank = group->rank_of(meeting.self);
    if (rank == undefined_rank) return fail(Errc::group, "this process is not in the group");
    const std::uint64_t hash = hash_bytes(
        0xcbf29ce484222325u, std::as_bytes(std::span(meeting.text))
    );
    const auto tag = static_cast<Tag>((hash ^ (hash >> 32)) & INT32_MAX);
    return form(
        {meeting.engine, meeting.context, tag}, group, rank, hash_purpose(*group, meeting.text),
        new_context
    );
}

std::uint64_t retire(const Communicator& comm) {
    static_cast<void>(comm.engine().drop_context(comm.collective_context()));
    return comm.engine().drop_context(comm.user_context());
}

}  // namespace dlrt
