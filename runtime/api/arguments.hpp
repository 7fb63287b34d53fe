// SPDX-License-Identifier: Apache-2.0
/// Checks of the arguments that many functions share, and their translation for the core. Inline
/// where a small message passes through; whatever fails goes to a cold function that finds the
/// words.
#pragma once

#include "runtime/api/surface.hpp"

#include <cstdint>

namespace dlrt::api {

/// A buffer as a caller describes it.
struct BufferArguments {
    const void* address = nullptr;
    std::int64_t count = 0;
    dlrt_type type = DLRT_TYPE_NULL;
};
/// The other side of an operation as a caller describes it.
struct PeerArguments {
    std::int32_t rank = 0;
    std::int32_t tag = 0;
};

/// Words for a bad buffer or count. REQUIRES: one of them is bad.
[[gnu::cold]] Status explain_buffer(
    const Site& site, const BufferArguments& buffer, const Layout& layout
);
/// Nothing is wrong with DLRT_PROC_NULL, and for receives with wildcards: then ok.
[[gnu::cold]] Status explain_peer(
    const Site& site, Direction direction, const PeerArguments& peer, std::int32_t size
);

/// Looks up the type, checks count and address, and yields the data bytes.
[[nodiscard]] inline Status use_buffer(
    const Site& site, const BufferArguments& buffer, LayoutUse& use, std::uint64_t& size_bytes
) {
    if (const Status bad = site.use(buffer.type, use); !bad.ok()) return bad;
    const Layout& layout = use.layout();
    std::int64_t bytes = 0;
    std::int64_t span = 0;
    const bool is_too_long = __builtin_mul_overflow(
                                 buffer.count, static_cast<std::int64_t>(layout.size_bytes()),
                                 &bytes
                             ) ||
                             __builtin_mul_overflow(buffer.count, layout.extent_bytes(), &span);
    size_bytes = static_cast<std::uint64_t>(bytes);
    // Null and DLRT_IN_PLACE, which is -1, are the two addresses that can't hold anything.
    const bool is_nowhere = reinterpret_cast<std::uintptr_t>(buffer.address) + 1 <= 1;
    if (buffer.count < 0 || is_too_long || (is_nowhere && bytes > 0)) [[unlikely]] {
        return explain_buffer(site, buffer, layout);
    }
    return {};
}

/// Rank and tag. DLRT_PROC_NULL passes, and the wildcards for a receive.
[[nodiscard]] inline Status check_peer(
    const Site& site, Direction direction, const PeerArguments& peer, const Communicator& comm
) {
    const bool is_receive = direction == Direction::receive;
    const bool is_named = peer.rank >= 0 && peer.rank < comm.peer_count();
    const bool is_wild = is_receive && peer.rank == DLRT_ANY_SOURCE;
    const std::int32_t lowest_tag = is_receive ? DLRT_ANY_TAG : 0;
    if ((is_named || is_wild) && peer.tag >= lowest_tag) [[likely]]
        return {};
    return explain_peer(site, direction, peer, comm.peer_count());
}

/// REQUIRES: check_peer() was ok and the rank is not DLRT_PROC_NULL.
[[nodiscard]] inline Route route_to(const Communicator& comm, const PeerArguments& peer) {
    const WorldRank rank = peer.rank >= 0 ? comm.peer_world_rank(peer.rank) : any_source;
    return {comm.user_context(), rank, peer.tag};
}

/// Null for a communicator whose ranks are world ranks.
[[nodiscard]] inline GroupRef translation_of(const Communicator& comm) {
    return comm.is_identity() ? GroupRef{} : comm.peers();
}

/// One side of a message, checked and translated.
struct Transfer {
    const Communicator* comm = nullptr;
    const LayoutRef* layout = nullptr;
    std::uint64_t size_bytes = 0;
    WorldRank world_rank = any_source;

    [[nodiscard]] Route route(std::int32_t tag) const {
        return {comm->user_context(), world_rank, tag};
    }
};

/// So many elements have a size in bytes that doesn't overflow.
inline constexpr std::uint64_t short_way_count_end = std::uint64_t{1} << 48;

/// The short way of nearly all calls: elements without gaps, in the communicator of the call
/// before, good arguments, and nobody who can free what they name meanwhile. For any other the
/// layout is null: it takes the careful way, which keeps what it uses and finds the words for what
/// is wrong.
[[nodiscard, gnu::always_inline]] inline Transfer plan_transfer(
    Surface& surface, Direction direction, const BufferArguments& buffer, const PeerArguments& peer,
    dlrt_comm comm_handle
) {
    if (!surface.is_ready_and_alone()) return {};
    const Communicator* const comm = surface.find_recent(comm_handle);
    if (comm == nullptr) return {};
    // Handles of elements have generation 0: the upper half of the number.
    const auto type = std::bit_cast<std::uint64_t>(buffer.type);
    if (type - 1 >= dense_element_type_count - 1) return {};
    // A negative one is not below it either.
    if (static_cast<std::uint64_t>(buffer.count) >= short_way_count_end) return {};
    // Null and DLRT_IN_PLACE, which is -1, are the two addresses that can't hold anything.
    if (reinterpret_cast<std::uintptr_t>(buffer.address) + 1 <= 1) return {};
    const LayoutRef* const layout = surface.elements[type];
    const std::uint64_t size_bytes = static_cast<std::uint64_t>(buffer.count) *
                                     (*layout)->size_bytes();

    const bool is_receive = direction == Direction::receive;
    const bool is_named = static_cast<std::uint32_t>(peer.rank) <
                          static_cast<std::uint32_t>(comm->peer_count());
    const bool is_wild = is_receive && peer.rank == DLRT_ANY_SOURCE;
    const std::int32_t lowest_tag = is_receive ? DLRT_ANY_TAG : 0;
    if (!(is_named || is_wild) || peer.tag < lowest_tag) return {};
    const WorldRank world_rank = is_named ? comm->peer_world_rank(peer.rank) : any_source;
    return {comm, layout, size_bytes, world_rank};
}

/// Equal arguments have equal hashes, and different ones of one call hardly ever. `place` is a tag,
/// a root, or both.
[[nodiscard]] inline std::uint64_t hash_arguments(
    std::int64_t count, const Layout& layout, std::int64_t place
) {
    const std::uint64_t shape = static_cast<std::uint64_t>(count) ^
                                (std::uint64_t{layout.signature_hash()} << 32);
    return shape ^ (static_cast<std::uint64_t>(place) * 0x9e3779b97f4a7c15u);
}

}  // namespace dlrt::api
