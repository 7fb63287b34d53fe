// SPDX-License-Identifier: Apache-2.0
#include "runtime/mpi/request_site.hpp"

#include <new>

namespace dlrt::mpi {

int RequestNote::report(const Request& request, MPI_Status& status) {
    write_result(request, *comm_, &status);
    return request.error == 0 ? MPI_SUCCESS : class_of(outcome_of(request));
}

int RequestNote::cancel(Request& request) {
    // A send is complete as soon as its message is away, or will be received.
    if (request.kind != RequestKind::receive || has_no_peer(request)) return MPI_SUCCESS;
    return class_of(Surface::get().engine->cancel(&request));
}

int find_request(const Site& site, const MPI_Request* handle, Request*& request) {
    if (handle == nullptr) return site.bad(MPI_ERR_ARG, "request is null");
    request = look_up(site.surface(), *handle);
    if (request != nullptr || *handle == MPI_REQUEST_NULL) [[likely]]
        return MPI_SUCCESS;
    return site.bad(MPI_ERR_REQUEST, "the request is freed or was never a request");
}

int report(const Request& request, MPI_Status* status) {
    RequestNote* const note = note_of(request);
    MPI_Status unused;
    RequestNote& reporter = note != nullptr ? *note : Surface::get().world->note;
    if (status == nullptr && !reporter.is_special() && request.error == 0) return MPI_SUCCESS;
    return reporter.report(request, status != nullptr ? *status : unused);
}

int finish_request(const Site& site, MPI_Request* handle, Request& request, MPI_Status* status) {
    const int code = report(request, status);
    request.is_started = false;
    if (request.persistence == Persistence::persistent) return code;
    *handle = MPI_REQUEST_NULL;
    RequestNote* const note = note_of(request);
    int said = MPI_SUCCESS;
    if (note != nullptr && note->is_special()) said = note->let_go();
    site.engine().release(&request);
    return code != MPI_SUCCESS ? code : said;
}

int RequestList::open(const Site& site, int count, MPI_Request* handles) {
    if (const int wrong = site.require_not_negative(count, "count", MPI_ERR_COUNT)) return wrong;
    if (count > 0) {
        if (const int wrong = site.require(handles, "array_of_requests")) return wrong;
    }
    count_ = count;
    handles_ = handles;
    requests_ = inline_requests_.data();
    if (count > inline_count) {
        more_requests_.reset(new (std::nothrow) Request*[static_cast<std::size_t>(count)]);
        if (!more_requests_) {
            return site.bad(MPI_ERR_NO_MEM, "no memory for {} requests", count);
        }
        requests_ = more_requests_.get();
    }
    for (int i = 0; i < count; ++i) {
        Request* const request = look_up(site.surface(), handles[i]);
        if (request == nullptr && handles[i] != MPI_REQUEST_NULL) [[unlikely]] {
            return site.bad(MPI_ERR_REQUEST, "request {} is freed or was never a request", i);
        }
        const bool is_waiting = request != nullptr && request->is_started;
        requests_[i] = is_waiting ? request : nullptr;
        pending_count_ += is_waiting ? 1 : 0;
    }
    return MPI_SUCCESS;
}

bool RequestList::are_all_complete() const {
    for (int i = 0; i < count_; ++i) {
        if (is_pending(i) && !is_complete(i)) return false;
    }
    return true;
}

int RequestList::first_complete() const {
    for (int i = 0; i < count_; ++i) {
        if (is_pending(i) && is_complete(i)) return i;
    }
    return -1;
}

int RequestList::finish(const Site& site, int i, MPI_Status* status) {
    if (is_idle(look_up(site.surface(), handles_[i]))) [[unlikely]] {
        requests_[i] = nullptr;
        return site.bad(MPI_ERR_REQUEST, "request {} stands in the array twice", i);
    }
    Request& request = *requests_[i];
    requests_[i] = nullptr;
    return finish_request(site, handles_ + i, request, status);
}

}  // namespace dlrt::mpi
