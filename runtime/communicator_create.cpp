// SPDX-License-Identifier: Apache-2.0
#include "runtime/communicator_create.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/collective.hpp"
#include "runtime/host_collective.hpp"
#include "runtime/invitation.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

namespace dlrt {
namespace {

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

/// Where one is in the binomial tree over a group, rank 0 at the root. 8 ranks: 0 tells 4, 2, 1; 4
/// tells 6, 5; 2 tells 3; 6 tells 7.
std::int32_t parent_of(std::int32_t rank) {
    return rank & (rank - 1);
}
std::vector<WorldRank> children_of(std::span<const WorldRank> members, std::size_t rank) {
    std::vector<WorldRank> children;
    const std::size_t reach = rank == 0 ? std::bit_ceil(members.size()) : rank & (~rank + 1);
    for (std::size_t distance = reach / 2; distance > 0; distance /= 2) {
        if (rank + distance < members.size()) children.push_back(members[rank + distance]);
    }
    return children;
}

/// What the parent says, compared with what this rank believes.
Status check_invitation(
    const Received& received, std::uint64_t purpose, std::int32_t parent, std::int32_t rank
) {
    if (received.invitation.error != 0) {
        return fail(
            static_cast<Errc>(received.invitation.error),
            "rank {} of the new communicator has given it up: another rank that it needs has gone "
            "or creates a different one",
            parent
        );
    }
    if (received.invitation.purpose == purpose) return {};
    return fail(
        Errc::mismatch,
        "rank {} of the new communicator and this one (rank {}) create different communicators: "
        "the members or the text differ",
        parent, rank
    );
}

/// Nobody below waits in vain: neither those whom this rank would have told, nor those whom its
/// parent counts on it to tell.
void give_up(
    const Channel& channel, const Group& group, std::int32_t rank,
    std::span<const WorldRank> parents_members, Status why
) {
    std::vector<WorldRank> told = children_of(group.members(), static_cast<std::size_t>(rank));
    const auto self = std::ranges::find(parents_members, group.world_rank(rank));
    if (self != parents_members.end()) {
        const auto place = static_cast<std::size_t>(self - parents_members.begin());
        for (const WorldRank child : children_of(parents_members, place)) {
            if (std::ranges::find(told, child) == told.end()) told.push_back(child);
        }
    }
    const std::string text = last_error_text();
    for (const WorldRank whom : told) {
        // One that has gone needs no word.
        static_cast<void>(tell(channel, whom, {0, 0, static_cast<std::uint64_t>(why.code)}, {}));
    }
    static_cast<void>(store_failure(why.code, why.os_error, text));
}

/// Hands the context down the tree. `invitation` is complete at rank 0; the others learn it.
Status hand_down(
    const Channel& channel, const Group& group, std::int32_t rank, Invitation& invitation
) {
    if (rank != 0) {
        const std::int32_t parent = parent_of(rank);
        Result<Received> received = hear(channel, group.world_rank(parent));
        Status outcome = received.error();
        if (received) outcome = check_invitation(*received, invitation.purpose, parent, rank);
        if (!outcome.ok()) {
            const auto members = received ? received->members : std::vector<WorldRank>{};
            give_up(channel, group, rank, members, outcome);
            return outcome;
        }
        invitation.context = received->invitation.context;
        invitation.area = received->invitation.area;
    }
    const auto members = invitation.purpose != 0 ? group.members() : std::span<const WorldRank>{};
    Status outcome;
    for (const WorldRank child : children_of(group.members(), static_cast<std::size_t>(rank))) {
        const Status told = tell(channel, child, invitation, members);
        if (outcome.ok()) outcome = told;
    }
    return outcome;
}

/// REQUIRES: rank is this process's in the group.
Result<CommunicatorRef> form(
    const Channel& channel, const GroupRef& group, std::int32_t rank, std::uint64_t purpose,
    const ContextSource& new_context
) {
    Invitation invitation{0, purpose};
    if (rank == 0) {
        invitation.context = static_cast<std::uint64_t>(new_context());
        const auto area = HostCollective::claim(channel.engine, *group);
        if (area) invitation.area = *area + 1;
    }
    if (const Status outcome = hand_down(channel, *group, rank, invitation); !outcome.ok())
        return outcome;
    auto made = std::make_shared<Communicator>(
        channel.engine, ContextId{invitation.context}, group, rank
    );
    if (invitation.area != 0) {
        made->open_host_collective(static_cast<std::uint32_t>(invitation.area - 1));
    }
    return made;
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

Result<ContextId> agree_context(
    Communicator& parent, const Group& members, const ContextSource& new_context
) {
    const std::int32_t rank = members.rank_of(parent.world_rank(parent.rank()));
    Invitation invitation{0, hash_purpose(members, {})};
    if (rank == 0) invitation.context = static_cast<std::uint64_t>(new_context());
    const Status outcome = hand_down(channel_of(parent), members, rank, invitation);
    if (!outcome.ok()) return outcome;
    return ContextId{invitation.context};
}

Result<CommunicatorRef> create_known(
    Communicator& parent, const GroupRef& members, const ContextSource& new_context
) {
    const std::int32_t rank = members->rank_of(parent.world_rank(parent.rank()));
    const std::uint64_t purpose = hash_purpose(*members, {});
    return form(channel_of(parent), members, rank, purpose, new_context);
}

Result<CommunicatorRef> duplicate(Communicator& parent, const ContextSource& new_context) {
    auto made = form(channel_of(parent), parent.group(), parent.rank(), 0, new_context);
    if (made) (*made)->set_topology(parent.topology());
    return made;
}

Result<CommunicatorRef> split(
    Communicator& parent, const SplitChoice& choice, const ContextSource& new_context
) {
    std::vector<SplitChoice> choices(static_cast<std::size_t>(parent.size()));
    const LayoutRef& layout = Layout::of(ElementType::byte);
    CollectiveCall exchange;
    exchange.collective = coll::Collective::allgather;
    exchange.input = {&choice, sizeof choice, &layout};
    exchange.output = {choices.data(), sizeof choice, &layout};
    const Status gathered = run_collective(parent, exchange);
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

std::uint64_t retire(Communicator& comm) {
    if (comm.host_collective() != nullptr) comm.host_collective()->leave();
    comm.retire();
    // What an operation in flight will still want has come already, perhaps.
    if (comm.collective_state().count_out() == 0) {
        static_cast<void>(comm.engine().drop_context(comm.collective_context()));
    }
    return comm.engine().drop_context(comm.user_context());
}

}  // namespace dlrt
