// SPDX-License-Identifier: Apache-2.0
/// From the engine's outcomes to MPI_Status. Its error field is left alone but in an empty status:
/// only functions that complete several requests write it.
#pragma once

#include "runtime/communicator.hpp"
#include "runtime/request.hpp"

#include <cstdint>
#include <cstring>
#include <mpi.h>

namespace dlrt::mpi {

/// What the five words of a status that are the library's own hold.
struct StatusInside {
    std::uint64_t size_bytes = 0;
    std::int32_t is_cancelled = 0;

    [[nodiscard]] static StatusInside of(const MPI_Status& status) {
        StatusInside inside;
        std::memcpy(&inside.size_bytes, status.MPI_internal, sizeof(inside.size_bytes));
        inside.is_cancelled = status.MPI_internal[2];
        return inside;
    }
    void write(MPI_Status& status) const {
        std::memcpy(status.MPI_internal, &size_bytes, sizeof(size_bytes));
        status.MPI_internal[2] = is_cancelled;
    }
};

inline void write_status(MPI_Status* status, int source, int tag, const StatusInside& inside) {
    if (status == nullptr) return;
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
    inside.write(*status);
}

/// What requests report that receive nothing.
inline void write_sent_status(MPI_Status* status) {
    write_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, {});
}

/// What null and inactive requests report.
inline void write_empty_status(MPI_Status* status) {
    write_sent_status(status);
    if (status != nullptr) status->MPI_ERROR = MPI_SUCCESS;
}

/// What a receive from MPI_PROC_NULL reports.
inline void write_no_peer_status(MPI_Status* status) {
    write_status(status, MPI_PROC_NULL, MPI_ANY_TAG, {});
}

inline void write_found(const MessageStatus& found, const Communicator& comm, MPI_Status* status) {
    if (status == nullptr) return;
    int source = found.source;
    if (source < 0) {
        source = MPI_ANY_SOURCE;
    } else if (!comm.is_identity()) {
        source = comm.peers()->rank_of(source);
    }
    const int tag = found.tag < 0 ? MPI_ANY_TAG : found.tag;
    write_status(status, source, tag, {found.size_bytes, found.is_cancelled ? 1 : 0});
}

}  // namespace dlrt::mpi
