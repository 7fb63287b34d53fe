// SPDX-License-Identifier: Apache-2.0
#include "runtime/mpi/arguments.hpp"

namespace dlrt::mpi {

int use_committed(const Site& site, MPI_Datatype handle, Use<Type>& type, const char* name) {
    if (const int wrong = site.use(handle, type, name)) return wrong;
    if (type->layout == nullptr) {
        return site.bad(MPI_ERR_TYPE, "{} isn't supported on this platform", type->name);
    }
    if (type->is_committed) return MPI_SUCCESS;
    return site.bad(MPI_ERR_TYPE, "{} isn't committed; call MPI_Type_commit first", name);
}

namespace {

/// Where elements at absolute addresses are said to begin.
constexpr std::int64_t elsewhere = 64;

int move_from_bottom(BufferUse& use, Transfer& transfer) {
    const LayoutRef& old = use.type->layout;
    const std::int64_t one = 1;
    const std::int64_t back = -elsewhere;
    const Result<LayoutRef> moved = Layout::indexed({&one, 1}, {&back, 1}, old);
    if (!moved) return class_of(moved.error());
    const Result<LayoutRef> bounded = Layout::resized(
        old->lower_bound_bytes(), old->extent_bytes(), *moved
    );
    if (!bounded) return class_of(bounded.error());
    use.moved = *bounded;
    transfer.layout = &use.moved;
    transfer.address = reinterpret_cast<const void*>(elsewhere);
    return MPI_SUCCESS;
}

}  // namespace

int use_buffer(
    const Site& site, const BufferArguments& buffer, BufferUse& use, Transfer& transfer
) {
    if (const int wrong = site.require_not_negative(buffer.count, "count", MPI_ERR_COUNT)) {
        return wrong;
    }
    if (const int wrong = use_committed(site, buffer.type, use.type, "datatype")) return wrong;
    const Layout& layout = *use.type->layout;
    std::int64_t bytes = 0;
    std::int64_t span = 0;
    if (__builtin_mul_overflow(
            buffer.count, static_cast<std::int64_t>(layout.size_bytes()), &bytes
        ) ||
        __builtin_mul_overflow(buffer.count, layout.extent_bytes(), &span)) {
        return site.bad(MPI_ERR_COUNT, "{} elements are beyond all addresses", buffer.count);
    }
    transfer.layout = &use.type->layout;
    transfer.size_bytes = static_cast<std::uint64_t>(bytes);
    transfer.address = buffer.address;
    transfer.count = static_cast<std::uint64_t>(buffer.count);
    if (bytes == 0) return MPI_SUCCESS;
    if (buffer.address == MPI_IN_PLACE) {
        return site.bad(MPI_ERR_BUFFER, "MPI_IN_PLACE isn't valid here");
    }
    if (buffer.address != nullptr) return MPI_SUCCESS;
    if (use.type->is_predefined) {
        return site.bad(MPI_ERR_BUFFER, "the buffer is null, for {} bytes", bytes);
    }
    return move_from_bottom(use, transfer);
}

int use_peer(const Site& site, Direction direction, const PeerArguments& peer, Transfer& transfer) {
    const bool is_receive = direction == Direction::receive;
    const Communicator& comm = *transfer.comm->core;
    transfer.tag = peer.tag;
    if (is_receive && peer.tag == MPI_ANY_TAG) {
        transfer.tag = any_tag;
    } else if (peer.tag < 0) {
        return site.bad(MPI_ERR_TAG, "tag {} is negative", peer.tag);
    }
    if (peer.rank == MPI_PROC_NULL) return MPI_SUCCESS;
    if (is_receive && peer.rank == MPI_ANY_SOURCE) {
        transfer.world_rank = any_source;
        return MPI_SUCCESS;
    }
    if (peer.rank < 0 || peer.rank >= comm.peer_count()) {
        return site.bad(MPI_ERR_RANK, "rank {} is not in 0..{}", peer.rank, comm.peer_count() - 1);
    }
    transfer.world_rank = comm.peer_world_rank(peer.rank);
    return MPI_SUCCESS;
}

}  // namespace dlrt::mpi
