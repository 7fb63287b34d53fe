// SPDX-License-Identifier: Apache-2.0
/// Completion: start, wait, test, cancel and free of requests, in all the forms of dlrt.h.
#include "runtime/api/outcome.hpp"
#include "runtime/api/request_list.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/timed_wait.hpp"

#include <algorithm>

namespace dlrt::api {
namespace {

/// Empty when none is.
std::optional<std::int32_t> first_complete(const RequestList& list) {
    for (std::int32_t i = 0; i < list.size(); ++i) {
        if (list.is_pending(i) && list.is_complete(i)) return i;
    }
    return std::nullopt;
}

/// Completes every complete request.
struct Harvest {
    std::int32_t count = 0;
    Failures failures;
};
Harvest collect_complete(
    const Site& site, const RequestList& list, std::int32_t* indices, dlrt_status* statuses
) {
    Harvest harvest;
    for (std::int32_t i = 0; i < list.size(); ++i) {
        if (!list.is_pending(i) || !list.is_live(site, i) || !list.is_complete(i)) continue;
        dlrt_status* status = statuses != nullptr ? statuses + harvest.count : nullptr;
        indices[harvest.count++] = i;
        if (!list.finish(site, i, status).ok()) harvest.failures.add(i);
    }
    return harvest;
}

Status finish_all(const Site& site, RequestList& list, dlrt_status* statuses) {
    const Failures failures = list.finish_all(site, statuses);
    return failures.count == 0 ? Status{} : failures.status();
}

/// Far in the future where the sum doesn't fit.
std::uint64_t deadline_after_ms(std::int64_t timeout_ms) {
    constexpr std::int64_t longest_ms = std::int64_t{1} << 42;
    const std::int64_t limited_ms = std::min(timeout_ms, longest_ms);
    return monotonic_ns() + static_cast<std::uint64_t>(limited_ms) * 1'000'000;
}

/// REQUIRES: something is pending.
[[gnu::cold]] Status explain_timeout(
    const Site& site, const RequestList& list, std::int64_t timeout_ms
) {
    std::int32_t first = 0;
    while (!list.is_pending(first)) ++first;
    const Request& request = *list.requests()[static_cast<std::size_t>(first)];
    return site.fail(
        Errc::timeout, "after {} ms request {} is not complete: {}", timeout_ms, first,
        describe_wait(site.engine(), request)
    );
}

FlightRecorder::Operation record_of(Call call, std::int32_t count) {
    return {.call = call, .arguments_hash = static_cast<std::uint64_t>(count)};
}

/// What the forms with an array begin with.
Status open_list(const Site& site, std::int32_t count, dlrt_request* requests, RequestList& list) {
    if (!site.is_ready()) return Status{static_cast<Errc>(site.error())};
    return list.open(site, count, requests);
}

}  // namespace
}  // namespace dlrt::api

using namespace dlrt;
using namespace dlrt::api;

dlrt_err dlrt_wait(dlrt_request* request, dlrt_status* status) {
    const Site site("dlrt_wait");
    if (!site.is_ready()) return site.error();
    Request* found = nullptr;
    if (const Status bad = find_request(site, request, found); !bad.ok()) return to_c(bad);
    if (is_idle(found)) {
        write_empty_status(status);
        return DLRT_OK;
    }
    if (!found->is_done.load(std::memory_order_acquire)) {
        const FlightMark mark(site, record_of(Call::wait, 1));
        site.engine().wait(found);
    }
    return to_c(finish_request(site, request, *found, status));
}

dlrt_err dlrt_test(dlrt_request* request, int* is_complete, dlrt_status* status) {
    const Site site("dlrt_test");
    if (!site.is_ready()) return site.error();
    if (const Status bad = site.require(is_complete, "is_complete"); !bad.ok()) return to_c(bad);
    Request* found = nullptr;
    if (const Status bad = find_request(site, request, found); !bad.ok()) return to_c(bad);
    if (is_idle(found)) {
        write_empty_status(status);
        *is_complete = 1;
        return DLRT_OK;
    }
    if (!site.engine().test(found)) {
        *is_complete = 0;
        return DLRT_OK;
    }
    *is_complete = 1;
    return to_c(finish_request(site, request, *found, status));
}

dlrt_err dlrt_waitany(int32_t count, dlrt_request* requests, int32_t* index, dlrt_status* status) {
    const Site site("dlrt_waitany");
    RequestList list;
    if (const Status bad = open_list(site, count, requests, list); !bad.ok()) return to_c(bad);
    if (const Status bad = site.require(index, "index"); !bad.ok()) return to_c(bad);
    std::optional<std::int32_t> found = first_complete(list);
    if (!found && list.pending_count() > 0) {
        const FlightMark mark(site, record_of(Call::wait_any, count));
        site.engine().wait_any(list.requests());
        found = first_complete(list);
    }
    *index = found.value_or(DLRT_UNDEFINED);
    if (found) return to_c(list.finish(site, *found, status));
    write_empty_status(status);
    return DLRT_OK;
}

dlrt_err dlrt_waitany_for(
    int32_t count, dlrt_request* requests, int64_t timeout_ms, int32_t* index, dlrt_status* status
) {
    const Site site("dlrt_waitany_for");
    RequestList list;
    if (const Status bad = open_list(site, count, requests, list); !bad.ok()) return to_c(bad);
    if (const Status bad = site.require(index, "index"); !bad.ok()) return to_c(bad);
    if (timeout_ms < 0) {
        return to_c(site.fail(Errc::argument, "timeout_ms is {}, less than 0", timeout_ms));
    }
    std::optional<std::int32_t> found = first_complete(list);
    if (!found && list.pending_count() > 0) {
        const FlightMark mark(site, record_of(Call::wait_any, count));
        const std::uint64_t deadline_ns = deadline_after_ms(timeout_ms);
        if (!wait_any_until(site.engine(), list.requests(), deadline_ns)) {
            return to_c(explain_timeout(site, list, timeout_ms));
        }
        found = first_complete(list);
    }
    *index = found.value_or(DLRT_UNDEFINED);
    if (found) return to_c(list.finish(site, *found, status));
    write_empty_status(status);
    return DLRT_OK;
}

dlrt_err dlrt_testany(
    int32_t count, dlrt_request* requests, int32_t* index, int* is_complete, dlrt_status* status
) {
    const Site site("dlrt_testany");
    RequestList list;
    if (const Status bad = open_list(site, count, requests, list); !bad.ok()) return to_c(bad);
    if (const Status bad = site.require(index, "index"); !bad.ok()) return to_c(bad);
    if (const Status bad = site.require(is_complete, "is_complete"); !bad.ok()) return to_c(bad);
    std::optional<std::int32_t> found = first_complete(list);
    if (!found && list.pending_count() > 0) {
        site.engine().poll();
        found = first_complete(list);
    }
    *index = found.value_or(DLRT_UNDEFINED);
    *is_complete = found || list.pending_count() == 0 ? 1 : 0;
    if (found) return to_c(list.finish(site, *found, status));
    write_empty_status(status);
    return DLRT_OK;
}

dlrt_err dlrt_waitsome(
    int32_t count, dlrt_request* requests, int32_t* completed_count, int32_t* indices,
    dlrt_status* statuses
) {
    const Site site("dlrt_waitsome");
    RequestList list;
    if (const Status bad = open_list(site, count, requests, list); !bad.ok()) return to_c(bad);
    if (const Status bad = list.require_results(site, completed_count, indices); !bad.ok()) {
        return to_c(bad);
    }
    if (list.pending_count() == 0) {
        *completed_count = DLRT_UNDEFINED;
        return DLRT_OK;
    }
    if (!first_complete(list)) {
        const FlightMark mark(site, record_of(Call::wait_some, count));
        site.engine().wait_any(list.requests());
    }
    const Harvest harvest = collect_complete(site, list, indices, statuses);
    *completed_count = harvest.count;
    return harvest.failures.count == 0 ? DLRT_OK : to_c(harvest.failures.status());
}

dlrt_err dlrt_testsome(
    int32_t count, dlrt_request* requests, int32_t* completed_count, int32_t* indices,
    dlrt_status* statuses
) {
    const Site site("dlrt_testsome");
    RequestList list;
    if (const Status bad = open_list(site, count, requests, list); !bad.ok()) return to_c(bad);
    if (const Status bad = list.require_results(site, completed_count, indices); !bad.ok()) {
        return to_c(bad);
    }
    if (list.pending_count() == 0) {
        *completed_count = DLRT_UNDEFINED;
        return DLRT_OK;
    }
    if (!first_complete(list)) site.engine().poll();
    const Harvest harvest = collect_complete(site, list, indices, statuses);
    *completed_count = harvest.count;
    return harvest.failures.count == 0 ? DLRT_OK : to_c(harvest.failures.status());
}

dlrt_err dlrt_waitall(int32_t count, dlrt_request* requests, dlrt_status* statuses) {
    const Site site("dlrt_waitall");
    RequestList list;
    if (const Status bad = open_list(site, count, requests, list); !bad.ok()) return to_c(bad);
    if (list.pending_count() > 0) {
        const FlightMark mark(site, record_of(Call::wait_all, count));
        site.engine().wait_until_complete(list.requests());
    }
    return to_c(finish_all(site, list, statuses));
}

dlrt_err dlrt_testall(
    int32_t count, dlrt_request* requests, int* is_complete, dlrt_status* statuses
) {
    const Site site("dlrt_testall");
    RequestList list;
    if (const Status bad = open_list(site, count, requests, list); !bad.ok()) return to_c(bad);
    if (const Status bad = site.require(is_complete, "is_complete"); !bad.ok()) return to_c(bad);
    if (!list.are_all_complete()) {
        site.engine().poll();
        if (!list.are_all_complete()) {
            *is_complete = 0;
            return DLRT_OK;
        }
    }
    *is_complete = 1;
    return to_c(finish_all(site, list, statuses));
}

dlrt_err dlrt_request_status(dlrt_request request, int* is_complete, dlrt_status* status) {
    const Site site("dlrt_request_status");
    if (!site.is_ready()) return site.error();
    if (const Status bad = site.require(is_complete, "is_complete"); !bad.ok()) return to_c(bad);
    Request* found = nullptr;
    if (const Status bad = find_request(site, &request, found); !bad.ok()) return to_c(bad);
    *is_complete = 1;
    if (is_idle(found)) {
        write_empty_status(status);
        return DLRT_OK;
    }
    if (!dlrt::is_complete(*found)) {
        site.engine().poll();
        if (!dlrt::is_complete(*found)) {
            *is_complete = 0;
            return DLRT_OK;
        }
    }
    if (status != nullptr) write_request_status(*found, status);
    return DLRT_OK;
}

dlrt_err dlrt_start(dlrt_request request) {
    return start_requests("dlrt_start", {&request, 1});
}

dlrt_err dlrt_startall(int32_t count, const dlrt_request* requests) {
    const Site site("dlrt_startall");
    if (!site.is_ready()) return site.error();
    if (const Status bad = check_array(site, count, requests); !bad.ok()) return to_c(bad);
    return start_requests("dlrt_startall", {requests, static_cast<std::size_t>(count)});
}

dlrt_err dlrt_request_free(dlrt_request* request) {
    const Site site("dlrt_request_free");
    if (!site.is_ready()) return site.error();
    Request* found = nullptr;
    if (const Status bad = find_request(site, request, found); !bad.ok()) return to_c(bad);
    if (found == nullptr) {
        return to_c(site.fail(Errc::request, "the request is DLRT_REQUEST_NULL"));
    }
    found->has_handle = false;
    site.engine().release(found);
    *request = DLRT_REQUEST_NULL;
    return DLRT_OK;
}

dlrt_err dlrt_cancel(dlrt_request request) {
    const Site site("dlrt_cancel");
    if (!site.is_ready()) return site.error();
    Request* found = nullptr;
    if (const Status bad = find_request(site, &request, found); !bad.ok()) return to_c(bad);
    if (is_idle(found)) {
        return to_c(site.fail(Errc::request, "the request is null or inactive"));
    }
    if (found->kind != RequestKind::receive) {
        return to_c(site.fail(Errc::unsupported, "only a receive can be cancelled"));
    }
    if (has_no_peer(*found)) return DLRT_OK;
    const FlightMark mark(site, {.call = Call::cancel});
    const Status outcome = site.engine().cancel(found);
    return to_c(outcome.ok() ? outcome : site.pass(outcome));
}
