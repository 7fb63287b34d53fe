// SPDX-License-Identifier: Apache-2.0
/// Chapter: completion of requests. Wait, test, start, cancel, free.
#include "runtime/mpi/request_site.hpp"

#include <mpi_functions.hpp>

namespace dlrt::mpi {
namespace {

FlightRecorder::Operation record_of(Call call, int count) {
    return {.call = call, .arguments_hash = static_cast<std::uint64_t>(count)};
}

/// The communicator whose handler gets the error of a request, kept while the request goes.
class Blame {
  public:
    Blame() = default;
    explicit Blame(const Request& request) : comm_(&comm_of(request)) {
        if (request.has_translation) keeper_ = comm_->shared_from_this();
    }
    /// REQUIRES: of a request.
    [[nodiscard]] int raise(const Site& site, int code) const {
        return code == MPI_SUCCESS ? code : raise_on(comm_, site.function(), code);
    }

  private:
    Comm* comm_ = nullptr;
    CommRef keeper_;
};

[[gnu::noinline]] int finish_special(
    const Site& site, MPI_Request* handle, Request& request, MPI_Status* status
) {
    const Blame blame(request);
    return blame.raise(site, finish_request(site, handle, request, status));
}

inline int finish_one(const Site& site, MPI_Request* handle, Request& request, MPI_Status* status) {
    if (!is_simple(request)) [[unlikely]]
        return finish_special(site, handle, request, status);
    end_simple_round(handle, request, status);
    if (request.persistence == Persistence::once) site.engine().release(&request);
    return MPI_SUCCESS;
}

/// Outcomes of several: where one failed, all statuses say how it went.
class Outcomes {
  public:
    Outcomes(const Site& site, MPI_Status* statuses) : site_(site), statuses_(statuses) {}

    [[nodiscard]] MPI_Status* status(int place) const {
        return statuses_ != nullptr ? statuses_ + place : nullptr;
    }
    /// One went well.
    void note(int place) {
        if (has_failed_ && statuses_ != nullptr) statuses_[place].MPI_ERROR = MPI_SUCCESS;
    }
    void note(int place, int code, const Blame& blame) {
        if (code != MPI_SUCCESS && !has_failed_) {
            has_failed_ = true;
            blame_ = blame;
            for (int i = 0; i < place && statuses_ != nullptr; ++i) {
                statuses_[i].MPI_ERROR = MPI_SUCCESS;
            }
        }
        if (has_failed_ && statuses_ != nullptr) statuses_[place].MPI_ERROR = code;
    }
    void finish(RequestList& list, int i, int place) {
        const Blame blame(list.at(i));
        note(place, list.finish(site_, i, status(place)), blame);
    }
    [[nodiscard]] int conclude() const {
        return has_failed_ ? blame_.raise(site_, MPI_ERR_IN_STATUS) : MPI_SUCCESS;
    }

  private:
    const Site& site_;
    MPI_Status* statuses_;
    bool has_failed_ = false;
    Blame blame_;
};

int collect(
    const Site& site, RequestList& list, int* outcount, int* indices, MPI_Status* statuses
) {
    Outcomes outcomes(site, statuses);
    int count = 0;
    for (int i = 0; i < list.size(); ++i) {
        if (!list.is_pending(i) || !list.is_complete(i)) continue;
        indices[count] = i;
        outcomes.finish(list, i, count);
        ++count;
    }
    *outcount = count;
    return outcomes.conclude();
}

int finish_all(const Site& site, RequestList& list, MPI_Status* statuses) {
    Outcomes outcomes(site, statuses);
    for (int i = 0; i < list.size(); ++i) {
        MPI_Status* const status = outcomes.status(i);
        if (list.is_pending(i) && !list.is_simple(i)) {
            outcomes.finish(list, i, i);
            continue;
        }
        if (list.is_pending(i)) {
            list.end_simple_round(i, status);
        } else {
            write_empty_status(status);
        }
        outcomes.note(i);
    }
    list.release_ended(site);
    return outcomes.conclude();
}

int open_some(
    const Site& site, RequestList& list, int incount, MPI_Request* requests, const int* outcount,
    const int* indices
) {
    int wrong = list.open(site, incount, requests);
    if (wrong == MPI_SUCCESS) wrong = site.require(outcount, "outcount");
    if (wrong == MPI_SUCCESS && incount > 0) wrong = site.require(indices, "array_of_indices");
    return wrong;
}

}  // namespace

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
    const Site site("MPI_Wait");
    if (!site.ok()) return site.error();
    Request* found = nullptr;
    if (const int wrong = find_request(site, request, found)) return site.raise(wrong);
    if (is_idle(found)) {
        write_empty_status(status);
        return MPI_SUCCESS;
    }
    if (!found->is_done.load(std::memory_order_acquire)) {
        const FlightMark mark(site.surface(), record_of(Call::wait, 1));
        site.engine().wait(found);
    }
    return finish_one(site, request, *found, status);
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
    const Site site("MPI_Test");
    if (!site.ok()) return site.error();
    Request* found = nullptr;
    if (const int wrong = site.require(flag, "flag")) return site.raise(wrong);
    if (const int wrong = find_request(site, request, found)) return site.raise(wrong);
    if (is_idle(found)) {
        write_empty_status(status);
        *flag = 1;
        return MPI_SUCCESS;
    }
    *flag = site.engine().test(found) ? 1 : 0;
    return *flag != 0 ? finish_one(site, request, *found, status) : MPI_SUCCESS;
}

int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
    const Site site("MPI_Waitany");
    if (!site.ok()) return site.error();
    RequestList list;
    if (const int wrong = list.open(site, count, requests)) return site.raise(wrong);
    if (const int wrong = site.require(index, "indx")) return site.raise(wrong);
    int found = list.first_complete();
    if (found < 0 && list.pending_count() > 0) {
        const FlightMark mark(site.surface(), record_of(Call::wait_any, count));
        site.engine().wait_any(list.requests());
        found = list.first_complete();
    }
    *index = found < 0 ? MPI_UNDEFINED : found;
    if (found >= 0) return finish_one(site, requests + found, list.at(found), status);
    write_empty_status(status);
    return MPI_SUCCESS;
}

int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
    const Site site("MPI_Testany");
    if (!site.ok()) return site.error();
    RequestList list;
    if (const int wrong = list.open(site, count, requests)) return site.raise(wrong);
    if (const int wrong = site.require(index, "indx")) return site.raise(wrong);
    if (const int wrong = site.require(flag, "flag")) return site.raise(wrong);
    int found = list.first_complete();
    if (found < 0 && list.pending_count() > 0) {
        site.engine().poll();
        found = list.first_complete();
    }
    *index = found < 0 ? MPI_UNDEFINED : found;
    *flag = found >= 0 || list.pending_count() == 0 ? 1 : 0;
    if (found >= 0) return finish_one(site, requests + found, list.at(found), status);
    if (*flag != 0) write_empty_status(status);
    return MPI_SUCCESS;
}

int MPI_Waitsome(
    int incount, MPI_Request requests[], int* outcount, int indices[], MPI_Status statuses[]
) {
    const Site site("MPI_Waitsome");
    if (!site.ok()) return site.error();
    RequestList list;
    const int wrong = open_some(site, list, incount, requests, outcount, indices);
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    if (list.pending_count() == 0) {
        *outcount = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    if (list.first_complete() < 0) {
        const FlightMark mark(site.surface(), record_of(Call::wait_some, incount));
        site.engine().wait_any(list.requests());
    }
    return collect(site, list, outcount, indices, statuses);
}

int MPI_Testsome(
    int incount, MPI_Request requests[], int* outcount, int indices[], MPI_Status statuses[]
) {
    const Site site("MPI_Testsome");
    if (!site.ok()) return site.error();
    RequestList list;
    const int wrong = open_some(site, list, incount, requests, outcount, indices);
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    if (list.pending_count() == 0) {
        *outcount = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    if (list.first_complete() < 0) site.engine().poll();
    return collect(site, list, outcount, indices, statuses);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    const Site site("MPI_Waitall");
    if (!site.ok()) return site.error();
    RequestList list;
    if (const int wrong = list.open(site, count, requests)) return site.raise(wrong);
    if (list.pending_count() > 0) {
        const FlightMark mark(site.surface(), record_of(Call::wait_all, count));
        site.engine().wait_until_complete(list.requests());
    }
    return finish_all(site, list, statuses);
}

int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
    const Site site("MPI_Testall");
    if (!site.ok()) return site.error();
    RequestList list;
    if (const int wrong = list.open(site, count, requests)) return site.raise(wrong);
    if (const int wrong = site.require(flag, "flag")) return site.raise(wrong);
    if (!list.are_all_complete()) site.engine().poll();
    *flag = list.are_all_complete() ? 1 : 0;
    return *flag != 0 ? finish_all(site, list, statuses) : MPI_SUCCESS;
}

namespace {

int start_all(const Site& site, int count, MPI_Request* requests) {
    for (int i = 0; i < count; ++i) {
        Request* request = nullptr;
        if (const int wrong = find_request(site, requests + i, request)) return site.raise(wrong);
        if (request == nullptr) return site.raise(MPI_ERR_REQUEST, "request is MPI_REQUEST_NULL");
        if (request->persistence == Persistence::once) {
            return site.raise(MPI_ERR_REQUEST, "the request isn't persistent");
        }
        if (request->is_started)
            return site.raise(MPI_ERR_REQUEST, "the request is active already");
        if (has_no_peer(*request)) {
            RequestNote* const note = note_of(*request);
            const int code = note != nullptr ? note->begin() : MPI_SUCCESS;
            if (code != MPI_SUCCESS) return raise_on(&comm_of(*request), site.function(), code);
            request->is_started = true;
            continue;
        }
        const Status outcome = site.engine().start(request);
        if (!outcome.ok()) {
            return raise_on(&comm_of(*request), site.function(), class_of(outcome));
        }
    }
    return MPI_SUCCESS;
}

}  // namespace

int MPI_Start(MPI_Request* request) {
    const Site site("MPI_Start");
    if (!site.ok()) return site.error();
    const FlightMark mark(site.surface(), record_of(Call::start, 1));
    return start_all(site, 1, request);
}

int MPI_Startall(int count, MPI_Request requests[]) {
    const Site site("MPI_Startall");
    if (!site.ok()) return site.error();
    if (const int wrong = site.require_not_negative(count, "count", MPI_ERR_COUNT)) {
        return site.raise(wrong);
    }
    if (count > 0 && requests == nullptr) return site.raise(MPI_ERR_ARG, "the array is null");
    const FlightMark mark(site.surface(), record_of(Call::start, count));
    return start_all(site, count, requests);
}

int MPI_Cancel(MPI_Request* request) {
    const Site site("MPI_Cancel");
    if (!site.ok()) return site.error();
    Request* found = nullptr;
    if (const int wrong = find_request(site, request, found)) return site.raise(wrong);
    if (found == nullptr) return site.raise(MPI_ERR_REQUEST, "request is MPI_REQUEST_NULL");
    if (!found->is_started) return MPI_SUCCESS;
    RequestNote* const note = note_of(*found);
    RequestNote& canceller = note != nullptr ? *note : site.surface().world->note;
    const int code = canceller.cancel(*found);
    return code != MPI_SUCCESS ? raise_on(&comm_of(*found), site.function(), code) : MPI_SUCCESS;
}

int MPI_Request_free(MPI_Request* request) {
    const Site site("MPI_Request_free");
    if (!site.ok()) return site.error();
    Request* found = nullptr;
    if (const int wrong = find_request(site, request, found)) return site.raise(wrong);
    if (found == nullptr) return site.raise(MPI_ERR_REQUEST, "request is MPI_REQUEST_NULL");
    RequestNote* const note = note_of(*found);
    const int said = note != nullptr && note->is_special() ? note->let_go() : MPI_SUCCESS;
    found->has_handle = false;
    site.engine().release(found);
    *request = MPI_REQUEST_NULL;
    return said != MPI_SUCCESS ? site.raise(said, "the request's function returned {}", said)
                               : MPI_SUCCESS;
}

int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
    const Site site("MPI_Request_get_status");
    if (!site.ok()) return site.error();
    Request* found = nullptr;
    if (const int wrong = site.require(flag, "flag")) return site.raise(wrong);
    if (const int wrong = find_request(site, &request, found)) return site.raise(wrong);
    *flag = 1;
    if (is_idle(found)) {
        write_empty_status(status);
        return MPI_SUCCESS;
    }
    if (!is_complete(*found)) site.engine().poll();
    *flag = is_complete(*found) ? 1 : 0;
    if (*flag == 0) return MPI_SUCCESS;
    const int code = report(*found, status);
    return code != MPI_SUCCESS ? raise_on(&comm_of(*found), site.function(), code) : MPI_SUCCESS;
}

namespace {

/// The handles are only read.
int open_status_list(const Site& site, RequestList& list, int count, const MPI_Request* requests) {
    if (const int wrong = list.open(site, count, const_cast<MPI_Request*>(requests))) return wrong;
    if (list.pending_count() > 0 && !list.are_all_complete()) site.engine().poll();
    return MPI_SUCCESS;
}

}  // namespace

int MPI_Request_get_status_all(
    int count, const MPI_Request requests[], int* flag, MPI_Status statuses[]
) {
    const Site site("MPI_Request_get_status_all");
    if (!site.ok()) return site.error();
    RequestList list;
    if (const int wrong = site.require(flag, "flag")) return site.raise(wrong);
    if (const int wrong = open_status_list(site, list, count, requests)) return site.raise(wrong);
    *flag = list.are_all_complete() ? 1 : 0;
    if (*flag == 0) return MPI_SUCCESS;
    Outcomes outcomes(site, statuses);
    for (int i = 0; i < count; ++i) {
        if (list.is_pending(i)) {
            outcomes.note(i, report(list.at(i), outcomes.status(i)), Blame(list.at(i)));
        } else {
            write_empty_status(outcomes.status(i));
            outcomes.note(i);
        }
    }
    return outcomes.conclude();
}

int MPI_Request_get_status_any(
    int count, const MPI_Request requests[], int* index, int* flag, MPI_Status* status
) {
    const Site site("MPI_Request_get_status_any");
    if (!site.ok()) return site.error();
    RequestList list;
    if (const int wrong = site.require(index, "indx")) return site.raise(wrong);
    if (const int wrong = site.require(flag, "flag")) return site.raise(wrong);
    if (const int wrong = open_status_list(site, list, count, requests)) return site.raise(wrong);
    const int found = list.first_complete();
    *index = found < 0 ? MPI_UNDEFINED : found;
    *flag = found >= 0 || list.pending_count() == 0 ? 1 : 0;
    if (found < 0) {
        if (*flag != 0) write_empty_status(status);
        return MPI_SUCCESS;
    }
    const int code = report(list.at(found), status);
    return code != MPI_SUCCESS ? raise_on(&comm_of(list.at(found)), site.function(), code)
                               : MPI_SUCCESS;
}

int MPI_Request_get_status_some(
    int incount, const MPI_Request requests[], int* outcount, int indices[], MPI_Status statuses[]
) {
    const Site site("MPI_Request_get_status_some");
    if (!site.ok()) return site.error();
    RequestList list;
    if (const int wrong = site.require(outcount, "outcount")) return site.raise(wrong);
    if (const int wrong = open_status_list(site, list, incount, requests)) return site.raise(wrong);
    if (list.pending_count() == 0) {
        *outcount = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    if (const int wrong = site.require(indices, "array_of_indices")) return site.raise(wrong);
    Outcomes outcomes(site, statuses);
    int count = 0;
    for (int i = 0; i < incount; ++i) {
        if (!list.is_pending(i) || !list.is_complete(i)) continue;
        indices[count] = i;
        outcomes.note(count, report(list.at(i), outcomes.status(count)), Blame(list.at(i)));
        ++count;
    }
    *outcount = count;
    return outcomes.conclude();
}

}  // namespace dlrt::mpi
