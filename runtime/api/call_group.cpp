// SPDX-License-Identifier: Apache-2.0
#include "runtime/api/call_group.hpp"

#include "runtime/api/arguments.hpp"
#include "runtime/api/request_list.hpp"

namespace dlrt::api {

CallGroup& CallGroup::of_this_thread() {
    thread_local CallGroup own;
    return own;
}

CallGroup* CallGroup::find_open() {
    CallGroup& own = of_this_thread();
    return own.depth_ > 0 ? &own : nullptr;
}

void CallGroup::start(const Site& site) {
    CallGroup& own = of_this_thread();
    if (own.depth_++ > 0) return;
    own.core_ = Core::get();
    site.surface().call_group_opened();
}

Status CallGroup::end(const Site& site) {
    CallGroup* const own = open(site.surface());
    if (own == nullptr) {
        return site.fail(
            Errc::argument, "this thread has no open group; dlrt_group_start opens one"
        );
    }
    if (own->depth_ > 1) {
        --own->depth_;
        return {};
    }
    return own->finish(site);
}

void CallGroup::add(const Site& site, Request* request, dlrt_status* status) {
    requests_.push_back(request);
    operations_.push_back({site.function(), status});
}

void CallGroup::send(const Site& site, SendMode mode, Route to, const ConstBuffer& source) {
    add(site, site.engine().isend(mode, to, source), nullptr);
}

void CallGroup::recv(const Site& site, Route from, const Buffer& target, const Report& report) {
    Request* const request = site.engine().irecv(from, target);
    set_translation(*request, translation_of(report.comm));
    add(site, request, report.status);
}

Status CallGroup::finish(const Site& site) {
    if (!requests_.empty()) {
        const FlightMark mark(site, {.call = Call::wait_all, .arguments_hash = requests_.size()});
        site.engine().wait_until_complete(requests_);
    }
    Status first;
    std::string text;
    std::size_t failed_count = 0;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
        Request& request = *requests_[i];
        if (operations_[i].status != nullptr) write_request_status(request, operations_[i].status);
        request.is_started = false;
        if (request.error == 0) [[likely]]
            continue;
        const Status outcome = outcome_of(request);
        if (failed_count++ != 0) continue;
        first = outcome;
        text = fmt::format("{}: {}", operations_[i].function, last_error_text());
    }
    const std::size_t count = requests_.size();
    site.engine().release_all(requests_);
    clear();
    site.surface().call_group_closed();
    if (failed_count == 0) return {};
    return store_failure(
        first.code, first.os_error,
        fmt::format(
            "{}: {} ({} of {} operations failed)", site.function(), text, failed_count, count
        )
    );
}

void CallGroup::clear() {
    depth_ = 0;
    core_ = nullptr;
    requests_.clear();
    operations_.clear();
    memory_.clear();
}

CallGroup::~CallGroup() {
    const Core* const core = Core::get();
    if (depth_ == 0 || core == nullptr || core != core_) return;
    Surface& surface = Surface::get();
    for (Request* const request : requests_) surface.engine->release(request);
    // Some operations may still be reading it.
    for (std::unique_ptr<std::byte[]>& memory : memory_) static_cast<void>(memory.release());
    surface.call_group_closed();
}

Status refuse_within_group(const Site& site) {
    if (CallGroup::open(site.surface()) == nullptr) [[likely]]
        return {};
    return site.fail(
        Errc::unsupported, "not between dlrt_group_start and dlrt_group_end: end the group first"
    );
}

}  // namespace dlrt::api

using namespace dlrt;
using namespace dlrt::api;

dlrt_err dlrt_group_start(void) {
    const Site site("dlrt_group_start");
    if (!site.is_ready()) return site.error();
    CallGroup::start(site);
    return DLRT_OK;
}

dlrt_err dlrt_group_end(void) {
    const Site site("dlrt_group_end");
    if (!site.is_ready()) return site.error();
    return to_c(CallGroup::end(site));
}
