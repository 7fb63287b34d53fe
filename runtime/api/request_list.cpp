// SPDX-License-Identifier: Apache-2.0
#include "runtime/api/request_list.hpp"

#include <new>

namespace dlrt::api {
namespace {

[[gnu::cold]] Status explain_request(const Site& site) {
    return site.fail(Errc::request, "the request is freed or was never a request");
}

}  // namespace

Status find_request(const Site& site, const dlrt_request* handle, Request*& request) {
    if (handle == nullptr) return site.fail(Errc::argument, "request is null");
    request = look_up(site, *handle);
    if (request != nullptr || is_null(*handle)) [[likely]]
        return {};
    return explain_request(site);
}

void write_request_status(const Request& request, dlrt_status* status) {
    const MessageStatus found = status_of(request);
    if (request.kind != RequestKind::receive) {
        write_empty_status(status, found.error);
    } else if (has_no_peer(request)) {
        write_no_peer_status(status);
    } else {
        const void* const translation = request.has_translation ? request.translation.get()
                                                                : nullptr;
        write_status(found, static_cast<const Group*>(translation), status);
    }
}

Status check_array(const Site& site, std::int32_t count, const void* requests) {
    if (count < 0) return site.fail(Errc::count, "count {} is negative", count);
    if (requests == nullptr && count > 0) return site.fail(Errc::argument, "requests is null");
    return {};
}

dlrt_err start_requests(const char* function, std::span<const dlrt_request> requests) {
    const Site site(function);
    if (!site.is_ready()) return site.error();
    // Marks each as active while it checks, which finds one that stands in the array twice.
    Status bad;
    std::size_t marked_count = 0;
    for (; marked_count < requests.size(); ++marked_count) {
        Request* const request = look_up(site, requests[marked_count]);
        if (request == nullptr) {
            bad = is_null(requests[marked_count])
                      ? site.fail(Errc::request, "the request is DLRT_REQUEST_NULL")
                      : explain_request(site);
        } else if (request->persistence == Persistence::once) {
            bad = site.fail(Errc::request, "the request is not persistent");
        } else if (request->is_started) {
            bad = site.fail(Errc::request, "the request is already active");
        }
        if (!bad.ok()) break;
        request->is_started = true;
    }
    if (!bad.ok()) {
        for (const dlrt_request handle : requests.first(marked_count)) {
            look_up(site, handle)->is_started = false;
        }
        return to_c(bad);
    }
    const FlightMark mark(site, {.call = Call::start, .arguments_hash = requests.size()});
    for (const dlrt_request handle : requests) {
        Request& request = *look_up(site, handle);
        if (has_no_peer(request)) continue;
        request.is_started = false;
        const Status outcome = site.engine().start(&request);
        if (!outcome.ok()) bad = site.pass(outcome);
    }
    return to_c(bad);
}

Status RequestList::open(const Site& site, std::int32_t count, dlrt_request* handles) {
    if (const Status bad = check_array(site, count, handles); !bad.ok()) return bad;
    count_ = count;
    handles_ = handles;
    requests_ = inline_requests_.data();
    if (count > inline_count) {
        const auto size = static_cast<std::size_t>(count);
        more_requests_.reset(new (std::nothrow) Request*[size]);
        if (!more_requests_) {
            return site.fail(Errc::no_memory, "no memory for {} requests", count);
        }
        requests_ = more_requests_.get();
    }
    for (std::int32_t i = 0; i < count; ++i) {
        Request* const request = look_up(site, handles[i]);
        if (request == nullptr && !is_null(handles[i])) [[unlikely]] {
            return site.fail(Errc::request, "request {} is freed or was never a request", i);
        }
        const bool is_waiting = request != nullptr && request->is_started;
        requests_[i] = is_waiting ? request : nullptr;
        pending_count_ += is_waiting ? 1 : 0;
    }
    return {};
}

Status RequestList::require_results(
    const Site& site, const std::int32_t* count, const std::int32_t* indices
) const {
    if (const Status bad = site.require(count, "completed_count"); !bad.ok()) return bad;
    return count_ > 0 ? site.require(indices, "indices") : Status{};
}

bool RequestList::are_all_complete() const {
    for (std::int32_t i = 0; i < count_; ++i) {
        if (is_pending(i) && !is_complete(i)) return false;
    }
    return true;
}

Status RequestList::fail_twice(const Site& site, std::int32_t i, dlrt_status* status) {
    const Status twice = site.fail(Errc::request, "request {} stands in the array twice", i);
    write_empty_status(status, twice);
    return twice;
}

Status RequestList::finish(const Site& site, std::int32_t i, dlrt_status* status) const {
    if (!is_live(site, i)) [[unlikely]]
        return fail_twice(site, i, status);
    return finish_request(site, handles_ + i, *requests_[i], status);
}

Failures RequestList::finish_all(const Site& site, dlrt_status* statuses) {
    Failures failures;
    for (std::int32_t i = 0; i < count_; ++i) {
        dlrt_status* const status = statuses != nullptr ? statuses + i : nullptr;
        Request* const request = requests_[i];
        if (request == nullptr) {
            write_empty_status(status);
            continue;
        }
        if (!request->is_started) [[unlikely]] {
            static_cast<void>(fail_twice(site, i, status));
            failures.add(i);
            requests_[i] = nullptr;
            continue;
        }
        if (!end_round(site, handles_ + i, *request, status).ok()) failures.add(i);
        if (request->persistence == Persistence::persistent) requests_[i] = nullptr;
    }
    site.engine().release_all(requests());
    return failures;
}

}  // namespace dlrt::api
