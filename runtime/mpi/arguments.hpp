// SPDX-License-Identifier: Apache-2.0
/// Checks of the arguments that many functions share, and their translation for the core. Inline
/// where a small message passes through; whatever fails goes to a cold function that finds the
/// words.
#pragma once

#include "runtime/mpi/surface.hpp"

#include <cstdint>

namespace dlrt::mpi {

enum class Direction : std::uint8_t { send, receive };

/// A buffer as a caller describes it.
struct BufferArguments {
    const void* address = nullptr;
    MPI_Count count = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
};
/// The other side of an operation as a caller describes it.
struct PeerArguments {
    int rank = 0;
    int tag = 0;
};

/// One side of a message, checked and translated.
struct Transfer {
    Comm* comm = nullptr;
    const LayoutRef* layout = nullptr;
    std::uint64_t size_bytes = 0;
    WorldRank world_rank = any_source;
    Tag tag = any_tag;
    const void* address = nullptr;
    std::uint64_t count = 0;

    [[nodiscard]] Route route() const { return {comm->core->user_context(), world_rank, tag}; }
    [[nodiscard]] ConstBuffer source() const { return {address, count, layout}; }
    /// REQUIRES: the caller gave the buffer to be written.
    [[nodiscard]] Buffer target() const { return {const_cast<void*>(address), count, layout}; }
};

/// A type that data may be sent as: committed and supported.
int use_committed(const Site& site, MPI_Datatype handle, Use<Type>& type, const char* name);

/// What of a buffer is kept until the call returns.
struct BufferUse {
    Use<Type> type;
    LayoutRef moved;  ///< Of a buffer at MPI_BOTTOM, see use_buffer().
};
/// Looks up the type, checks count and address, and fills in the transfer. The core takes the
/// address null for none at all: so the elements of a type that is at absolute addresses are said
/// to be elsewhere, by a layout that leads back.
int use_buffer(const Site& site, const BufferArguments& buffer, BufferUse& use, Transfer& transfer);

/// Rank and tag; REQUIRES: the transfer's communicator is set. MPI_PROC_NULL passes, and the
/// wildcards for a receive.
int use_peer(const Site& site, Direction direction, const PeerArguments& peer, Transfer& transfer);

/// So many elements have a size in bytes that doesn't overflow.
inline constexpr std::uint64_t short_way_count_end = std::uint64_t{1} << 48;

/// The short way of nearly all calls: predefined elements without gaps, in the communicator of the
/// call before, good arguments, and nobody who can free what they name meanwhile. For any other the
/// layout is null: it takes the careful way, which keeps what it uses and finds the words for what
/// is wrong.
[[nodiscard, gnu::always_inline]] inline Transfer plan_transfer(
    Surface& surface, Direction direction, const BufferArguments& buffer, const PeerArguments& peer,
    MPI_Comm comm_handle
) {
    if (!surface.is_ready_and_alone()) return {};
    Comm* const comm = surface.find_recent(comm_handle);
    if (comm == nullptr) return {};
    const std::uint64_t type = number_of(buffer.type) - first_type_number;
    if (type >= predefined_type_count) return {};
    const LayoutRef* const layout = surface.layouts[type];
    if (layout == nullptr) return {};
    // A negative one is not below it either.
    const auto count = static_cast<std::uint64_t>(buffer.count);
    if (count >= short_way_count_end) return {};
    // Null and MPI_IN_PLACE, which is 1, are the two addresses that can't hold anything.
    if (reinterpret_cast<std::uintptr_t>(buffer.address) <= 1) return {};

    const Communicator& core = *comm->core;
    const bool is_receive = direction == Direction::receive;
    const bool is_named = static_cast<std::uint32_t>(peer.rank) <
                          static_cast<std::uint32_t>(core.peer_count());
    const bool is_wild = is_receive && peer.rank == MPI_ANY_SOURCE;
    if (!is_named && !is_wild) return {};
    Tag tag = peer.tag;
    if (tag < 0) {
        if (!is_receive || tag != MPI_ANY_TAG) return {};
        tag = any_tag;
    }
    const WorldRank world_rank = is_named ? core.peer_world_rank(peer.rank) : any_source;
    return {comm, layout, count * (*layout)->size_bytes(), world_rank, tag, buffer.address, count};
}

[[nodiscard]] inline FlightRecorder::Operation record_of(
    Call call, const PeerArguments& peer, const Transfer& transfer
) {
    return {
        .call = call,
        .place = {peer.rank, transfer.tag},
        .context = static_cast<std::uint64_t>(transfer.comm->core->user_context()),
        .size_bytes = transfer.size_bytes,
        .arguments_hash = transfer.count,
    };
}

}  // namespace dlrt::mpi
