// SPDX-License-Identifier: Apache-2.0
/// Requests of a caller, one or an array, found behind their handles and completed one by one.
///
/// A request belongs to one thread at a time, so requests are used in place.
#pragma once

#include "runtime/mpi/status_result.hpp"
#include "runtime/mpi/surface.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <span>

namespace dlrt::mpi {

/// Puts the engine's request behind a handle.
inline void give_request(Request& request, MPI_Request* handle) {
    request.has_handle = true;
    *handle = to_mpi<MPI_Request>(
        {request.index + first_own_index, request.generation.load(std::memory_order_relaxed)}
    );
}

inline void set_note(Request& request, RequestNoteRef note) {
    request.translation = std::move(note);
    request.has_translation = true;
}
/// Of a plain request; one of MPI_COMM_WORLD needs none.
inline void set_comm(Request& request, Comm& comm) {
    if (comm.handle == MPI_COMM_WORLD) return;
    set_note(request, RequestNoteRef(comm.shared_from_this(), &comm.note));
}

/// Null for a request of MPI_COMM_WORLD. set_note() is the only one that writes there.
[[nodiscard]] inline RequestNote* note_of(const Request& request) {
    if (!request.has_translation) return nullptr;
    return const_cast<RequestNote*>(static_cast<const RequestNote*>(request.translation.get()));
}
[[nodiscard]] inline Comm& comm_of(const Request& request) {
    RequestNote* const note = note_of(request);
    return note != nullptr ? note->comm() : *Surface::get().world;
}

/// Null when it is no handle of a live request.
[[nodiscard]] inline Request* look_up(const Surface& surface, MPI_Request handle) {
    const Handle parts = to_handle(handle);
    const std::uint64_t generation = parts.generation;
    const RequestToken token{generation << 32 | (parts.index - first_own_index)};
    Request* const request = surface.requests->find(token);
    return request != nullptr && request->has_handle ? request : nullptr;
}

/// Its peer is MPI_PROC_NULL: complete once active.
[[nodiscard]] inline bool has_no_peer(const Request& request) {
    return request.key.source == no_rank;
}
/// Null or inactive: complete with an empty status.
[[nodiscard]] inline bool is_idle(const Request* request) {
    return request == nullptr || !request->is_started;
}

/// request becomes null for MPI_REQUEST_NULL. Errors: MPI_ERR_ARG, MPI_ERR_REQUEST.
int find_request(const Site& site, const MPI_Request* handle, Request*& request);

/// What a request of the engine found, on one of these communicators.
inline void write_result(const Request& request, const Comm& comm, MPI_Status* status) {
    if (status == nullptr) return;
    if (request.kind != RequestKind::receive) {
        write_sent_status(status);
    } else if (has_no_peer(request)) {
        write_no_peer_status(status);
    } else {
        write_found(status_of(request), *comm.core, status);
    }
}

/// Without an error, and its note has nothing to add. REQUIRES: complete.
[[nodiscard]] inline bool is_simple(const Request& request) {
    if (request.error != 0) return false;
    const RequestNote* const note = note_of(request);
    return note == nullptr || !note->is_special();
}

/// What its last round found, without ending it. Returns the operation's own error.
int report(const Request& request, MPI_Status* status);

/// Ends the round of a complete request: frees one that isn't persistent, and its handle becomes
/// null. Returns the operation's own error with its words stored. REQUIRES: complete.
int finish_request(const Site& site, MPI_Request* handle, Request& request, MPI_Status* status);

/// The same for a simple one, but who calls has to release it.
inline void end_simple_round(MPI_Request* handle, Request& request, MPI_Status* status) {
    write_result(request, comm_of(request), status);
    request.is_started = false;
    if (request.persistence == Persistence::once) *handle = MPI_REQUEST_NULL;
}

/// An array of requests. Up to `inline_count` need no allocation.
class RequestList {
  public:
    /// Looks up all handles. Errors: MPI_ERR_COUNT, MPI_ERR_ARG, MPI_ERR_REQUEST.
    int open(const Site& site, int count, MPI_Request* handles);

    [[nodiscard]] int size() const { return count_; }
    /// Neither null nor inactive when the list was opened, nor finished since.
    [[nodiscard]] bool is_pending(int i) const { return requests_[i] != nullptr; }
    [[nodiscard]] int pending_count() const { return pending_count_; }
    /// REQUIRES: is_pending(i).
    [[nodiscard]] bool is_complete(int i) const {
        return requests_[i]->is_done.load(std::memory_order_acquire);
    }
    [[nodiscard]] bool are_all_complete() const;
    /// -1: none is.
    [[nodiscard]] int first_complete() const;
    /// Null where there is nothing to wait for.
    [[nodiscard]] std::span<Request* const> requests() const {
        return {requests_, static_cast<std::size_t>(count_)};
    }
    [[nodiscard]] Request& at(int i) const { return *requests_[i]; }
    /// As finish_request().
    int finish(const Site& site, int i, MPI_Status* status);
    /// REQUIRES: is_pending(i), complete. Not the second time in the array.
    [[nodiscard]] bool is_simple(int i) const {
        return requests_[i]->is_started && mpi::is_simple(*requests_[i]);
    }
    /// As finish(), until release_ended(). REQUIRES: is_simple(i).
    void end_simple_round(int i, MPI_Status* status) {
        Request& request = *requests_[i];
        mpi::end_simple_round(handles_ + i, request, status);
        if (request.persistence == Persistence::persistent) requests_[i] = nullptr;
    }
    /// REQUIRES: all rounds have been finished or ended.
    void release_ended(const Site& site) { site.engine().release_all(requests()); }

  private:
    static constexpr int inline_count = 64;

    int count_ = 0;
    int pending_count_ = 0;
    MPI_Request* handles_ = nullptr;
    Request** requests_ = nullptr;
    std::array<Request*, inline_count> inline_requests_;
    std::unique_ptr<Request*[]> more_requests_;
};

}  // namespace dlrt::mpi
