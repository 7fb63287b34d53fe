// SPDX-License-Identifier: Apache-2.0
#include "runtime/api/arguments.hpp"

namespace dlrt::api {

Status explain_buffer(const Site& site, const BufferArguments& buffer, const Layout& layout) {
    if (buffer.count < 0) return site.fail(Errc::count, "count {} is negative", buffer.count);
    if (buffer.address == nullptr) {
        return site.fail(Errc::buffer, "the buffer is null, with {} elements", buffer.count);
    }
    if (buffer.address == DLRT_IN_PLACE) {
        return site.fail(Errc::buffer, "DLRT_IN_PLACE is not valid for this buffer");
    }
    return site.fail(
        Errc::count, "{} elements of {} bytes are more than 63 bits can address", buffer.count,
        layout.size_bytes()
    );
}

Status explain_peer(
    const Site& site, Direction direction, const PeerArguments& peer, std::int32_t size
) {
    const bool is_receive = direction == Direction::receive;
    const bool is_named = peer.rank >= 0 && peer.rank < size;
    const bool is_wild = is_receive && peer.rank == DLRT_ANY_SOURCE;
    if (!is_named && !is_wild && peer.rank != DLRT_PROC_NULL) {
        if (peer.rank == DLRT_ANY_SOURCE) {
            return site.fail(Errc::rank, "DLRT_ANY_SOURCE is for receives and probes only");
        }
        return site.fail(
            Errc::rank, "rank {} is not in 0..{} of this communicator", peer.rank, size - 1
        );
    }
    if (peer.tag >= 0 || (is_receive && peer.tag == DLRT_ANY_TAG)) return {};
    if (peer.tag == DLRT_ANY_TAG) {
        return site.fail(Errc::tag, "DLRT_ANY_TAG is for receives and probes only");
    }
    return site.fail(Errc::tag, "tag {} is not in 0..{}", peer.tag, INT32_MAX);
}

}  // namespace dlrt::api
