// SPDX-License-Identifier: Apache-2.0
#include "runtime/communicator_pair.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/collective.hpp"
#include "runtime/invitation.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace dlrt {
namespace {

using Position = Communicator::Position;

/// What a leader tells its group.
struct Introduction {
    std::uint64_t context = 0;
    std::uint64_t error = 0;
    std::int32_t other_count = 0;
    std::int32_t is_first = 0;
};
static_assert(sizeof(Introduction) == 24);

/// Tags that neither collectives nor other creations use.
Tag bridge_tag(std::int32_t tag) {
    constexpr std::int32_t upper_half = 1 << 30;
    return upper_half | tag % (upper_half - 1);
}

/// The leaders' talk. One speaks first, so that neither waits for room at the other.
Result<Received> meet(const Communicator& local, const Bridge& bridge, std::uint64_t own_context) {
    Communicator& shared = *bridge.comm;
    const Channel channel{shared.engine(), shared.collective_context(), bridge_tag(bridge.tag)};
    const WorldRank self = local.world_rank(local.rank());
    const WorldRank other = shared.peer_world_rank(bridge.remote_leader);
    const auto speak = [&] {
        return tell(channel, other, {own_context}, local.group()->members());
    };
    if (self < other) {
        if (const Status told = speak(); !told.ok()) return told;
    }
    Result<Received> heard = hear(channel, other);
    if (!heard) return heard;
    if (self > other) {
        if (const Status told = speak(); !told.ok()) return told;
    }
    for (const WorldRank member : heard->members) {
        if (local.group()->rank_of(member) == undefined_rank) continue;
        return fail(Errc::group, "world rank {} is in both groups", member);
    }
    if (self < other) heard->invitation.context = own_context;
    return heard;
}

Status broadcast(Communicator& comm, void* data, std::uint64_t size_bytes, std::int32_t root) {
    CollectiveCall call;
    call.collective = coll::Collective::bcast;
    call.root = root;
    call.output = {data, size_bytes, &Layout::of(ElementType::byte)};
    return run_collective(comm, call);
}

/// The lists of bytes that calls between groups have.
struct ByteBlocks {
    ByteBlocks(std::uint64_t size_bytes, std::int32_t count)
        : counts(static_cast<std::size_t>(count), static_cast<std::int64_t>(size_bytes)),
          layout(&Layout::of(ElementType::byte)),
          list{counts, {}, BlockList::Unit::extents, {&layout, 1}} {}
    ByteBlocks(const ByteBlocks&) = delete;
    ByteBlocks& operator=(const ByteBlocks&) = delete;
    std::vector<std::int64_t> counts;
    const LayoutRef* layout;
    BlockList list;
};

/// What all ranks of the other group say.
template<typename T>
Status hear_others(Communicator& pair, const T& own, std::vector<T>& others) {
    others.resize(static_cast<std::size_t>(pair.peer_count()));
    const ByteBlocks input(sizeof(T), 1), output(sizeof(T), pair.peer_count());
    CollectiveCall call;
    call.collective = coll::Collective::allgather;
    call.is_between_groups = true;
    call.input.address = &own;
    call.input_list = &input.list;
    call.output.address = others.data();
    call.output_list = &output.list;
    return run_collective(pair, call);
}

/// The lowest rank of one group gives the other one a list of its own length.
template<typename T>
Status hand_over(
    Communicator& pair, Position from, const std::vector<T>& given, std::vector<T>& taken
) {
    const bool is_giver = pair.position() == from;
    const coll::TwoGroups groups = pair.two_groups(0);
    const bool is_root = is_giver && pair.rank() == 0;
    const std::int32_t root = from == Position::first ? 0 : groups.first_size;
    const auto count = static_cast<std::size_t>(is_giver ? pair.peer_count() : pair.size());
    const ByteBlocks input(count * sizeof(T), is_root ? 1 : 0);
    const ByteBlocks output(count * sizeof(T), is_giver ? 0 : 1);
    if (!is_giver) taken.resize(count);
    CollectiveCall call;
    call.collective = coll::Collective::bcast;
    call.is_between_groups = true;
    call.root = is_giver && !is_root ? coll::no_part : root;
    call.input.address = given.data();
    call.input_list = &input.list;
    call.output.address = taken.data();
    call.output_list = &output.list;
    return run_collective(pair, call);
}

GroupRef in_order(const GroupRef& own, const GroupRef& other, Position own_position) {
    const bool is_first = own_position == Position::first;
    return group_union(is_first ? *own : *other, is_first ? *other : *own);
}

Result<CommunicatorRef> form_pair(
    Communicator& pair, const GroupRef& own, const GroupRef& other, const ContextSource& new_context
) {
    const GroupRef all = in_order(own, other, pair.position());
    const Result<ContextId> context = agree_context(pair, *all, new_context);
    if (!context) return context.error();
    const std::int32_t rank = own->rank_of(pair.world_rank(pair.rank()));
    return std::make_shared<Communicator>(
        pair.engine(), *context, own, rank, Communicator::OtherGroup{other, pair.position()}
    );
}

GroupRef members_of(const Group& group, std::span<const SplitChoice> choices, std::int32_t color) {
    std::vector<WorldRank> members;
    for (const std::int32_t rank : select_members(choices, color))
        members.push_back(group.world_rank(rank));
    return std::make_shared<const Group>(std::move(members));
}

}  // namespace

Result<CommunicatorRef> create_pair(
    Communicator& local, std::int32_t leader, const Bridge& bridge, const ContextSource& new_context
) {
    Introduction introduction;
    std::vector<WorldRank> others;
    std::string text;
    if (local.rank() == leader) {
        const Result<Received> heard = meet(
            local, bridge, static_cast<std::uint64_t>(new_context())
        );
        introduction.error = static_cast<std::uint64_t>(heard.error().code);
        if (heard) {
            others = heard->members;
            introduction.context = heard->invitation.context;
            introduction.other_count = static_cast<std::int32_t>(others.size());
            const WorldRank self = local.world_rank(local.rank());
            const WorldRank other = bridge.comm->peer_world_rank(bridge.remote_leader);
            introduction.is_first = self < other ? 1 : 0;
        } else {
            text = last_error_text();
        }
    }
    Status outcome = broadcast(local, &introduction, sizeof introduction, leader);
    if (!outcome.ok()) return outcome;
    if (introduction.error != 0) {
        const auto code = static_cast<Errc>(introduction.error);
        if (local.rank() == leader) return store_failure(code, 0, text);
        return fail(code, "the leader, rank {}, could not meet that of the other group", leader);
    }
    others.resize(static_cast<std::size_t>(introduction.other_count));
    outcome = broadcast(local, others.data(), others.size() * sizeof(WorldRank), leader);
    if (!outcome.ok()) return outcome;
    const Position position = introduction.is_first != 0 ? Position::first : Position::second;
    return std::make_shared<Communicator>(
        local.engine(), ContextId{introduction.context}, local.group(), local.rank(),
        Communicator::OtherGroup{std::make_shared<const Group>(std::move(others)), position}
    );
}

Result<CommunicatorRef> merge_pair(
    Communicator& pair, MergeOrder order, const ContextSource& new_context
) {
    std::vector<MergeOrder> others;
    if (const Status bad = hear_others(pair, order, others); !bad.ok()) return bad;
    Position position = pair.position();
    if (others[0] != order) {
        position = order == MergeOrder::low ? Position::first : Position::second;
    }
    const GroupRef all = in_order(pair.group(), pair.peers(), position);
    return create_known(pair, all, new_context);
}

Result<CommunicatorRef> duplicate_pair(Communicator& pair, const ContextSource& new_context) {
    return form_pair(pair, pair.group(), pair.peers(), new_context);
}

Result<CommunicatorRef> split_pair(
    Communicator& pair, const SplitChoice& choice, const ContextSource& new_context
) {
    // Each group knows the other's choices, and hears its own ones from there.
    std::vector<SplitChoice> others, own;
    if (const Status bad = hear_others(pair, choice, others); !bad.ok()) return bad;
    for (const Position from : {Position::first, Position::second}) {
        const Status handed = hand_over(pair, from, others, own);
        if (!handed.ok()) return handed;
    }
    if (!choice.color) return CommunicatorRef{};
    const GroupRef other_members = members_of(*pair.peers(), others, *choice.color);
    if (other_members->size() == 0) return CommunicatorRef{};
    return form_pair(
        pair, members_of(*pair.group(), own, *choice.color), other_members, new_context
    );
}

}  // namespace dlrt
