// SPDX-License-Identifier: Apache-2.0
#include "runtime/api/request_list.hpp"

#include "runtime/api/outcome.hpp"

#include <new>

namespace dlrt::api {
namespace {

[[gnu::cold]] Status explain_request(const Site& site) {
    return site.fail(Errc::request, "the request is freed or was never a request");
}

bool is_null(dlrt_request handle) {
    return handle.index == 0 && handle.generation == 0;
}

void write_found(const RequestEntry& entry, const MessageStatus& found, dlrt_status* status) {
    if (entry.direction == Direction::receive) {
        write_status(found, entry.translation.get(), status);
    } else {
        write_empty_status(status, found.error);
    }
}

}  // namespace

Status find_request(const Site& site, const dlrt_request* handle, RequestEntry*& entry) {
    if (handle == nullptr) return site.fail(Errc::argument, "request is null");
    entry = site.surface().requests.find(to_handle(*handle));
    if (entry != nullptr || is_null(*handle)) [[likely]]
        return {};
    return explain_request(site);
}

void write_request_status(const RequestEntry& entry, dlrt_status* status) {
    if (status == nullptr) return;
    if (entry.request != nullptr) {
        write_found(entry, status_of(*entry.request), status);
    } else if (entry.direction == Direction::receive) {
        write_no_peer_status(status);
    } else {
        write_empty_status(status);
    }
}

Status finish_request(
    const Site& site, dlrt_request* handle, RequestEntry& entry, dlrt_status* status
) {
    Status outcome;
    if (entry.request != nullptr) {
        const MessageStatus found = status_of(*entry.request);
        write_found(entry, found, status);
        if (!found.error.ok()) [[unlikely]]
            outcome = site.pass(outcome_of(*entry.request));
        // Tells the engine that the round is over; returns at once, since it is complete.
        if (entry.is_persistent)
            site.engine().wait(entry.request);
        else
            site.engine().release(entry.request);
    } else {
        write_request_status(entry, status);
    }
    if (entry.is_persistent) {
        entry.is_active = false;
    } else {
        site.surface().requests.remove(to_handle(*handle));
        *handle = DLRT_REQUEST_NULL;
    }
    return outcome;
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
        RequestEntry* entry = site.surface().requests.find(to_handle(requests[marked_count]));
        if (entry == nullptr) {
            bad = is_null(requests[marked_count])
                      ? site.fail(Errc::request, "the request is DLRT_REQUEST_NULL")
                      : explain_request(site);
        } else if (!entry->is_persistent) {
            bad = site.fail(Errc::request, "the request is not persistent");
        } else if (entry->is_active) {
            bad = site.fail(Errc::request, "the request is already active");
        }
        if (!bad.ok()) break;
        entry->is_active = true;
    }
    if (!bad.ok()) {
        for (const dlrt_request handle : requests.first(marked_count)) {
            site.surface().requests.find(to_handle(handle))->is_active = false;
        }
        return to_c(bad);
    }
    const FlightMark mark(site, {.call = Call::start, .arguments_hash = requests.size()});
    for (const dlrt_request handle : requests) {
        RequestEntry& entry = *site.surface().requests.find(to_handle(handle));
        if (entry.request == nullptr) continue;
        const Status outcome = site.engine().start(entry.request);
        if (outcome.ok()) continue;
        entry.is_active = false;
        bad = site.pass(outcome);
    }
    return to_c(bad);
}

Status RequestList::open(const Site& site, std::int32_t count, dlrt_request* handles) {
    if (const Status bad = check_array(site, count, handles); !bad.ok()) return bad;
    count_ = count;
    handles_ = handles;
    entries_ = inline_entries_.data();
    requests_ = inline_requests_.data();
    if (count > inline_count) {
        const auto size = static_cast<std::size_t>(count);
        more_entries_.reset(new (std::nothrow) RequestEntry*[size]);
        more_requests_.reset(new (std::nothrow) Request*[size]);
        if (!more_entries_ || !more_requests_) {
            return site.fail(Errc::no_memory, "no memory for {} requests", count);
        }
        entries_ = more_entries_.get();
        requests_ = more_requests_.get();
    }
    for (std::int32_t i = 0; i < count; ++i) {
        RequestEntry* entry = site.surface().requests.find(to_handle(handles[i]));
        if (entry == nullptr && !is_null(handles[i])) [[unlikely]] {
            return site.fail(Errc::request, "request {} is freed or was never a request", i);
        }
        entries_[i] = is_idle(entry) ? nullptr : entry;
        requests_[i] = entries_[i] != nullptr ? entry->request : nullptr;
        if (entries_[i] != nullptr) ++pending_count_;
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

bool RequestList::is_live(const Site& site, std::int32_t i) const {
    return !is_idle(site.surface().requests.find(to_handle(handles_[i])));
}

Status RequestList::finish(const Site& site, std::int32_t i, dlrt_status* status) const {
    if (!is_live(site, i)) [[unlikely]] {
        const Status twice = site.fail(Errc::request, "request {} stands in the array twice", i);
        write_empty_status(status, twice);
        return twice;
    }
    return finish_request(site, handles_ + i, *entries_[i], status);
}

}  // namespace dlrt::api
