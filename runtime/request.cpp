// SPDX-License-Identifier: Apache-2.0
/// The questions about requests that everybody may ask, and the pool they live in.
#include "runtime/request.hpp"

#include "runtime/base/check.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/engine_task.hpp"
#include "runtime/request_state.hpp"

#include <algorithm>
#include <string>

namespace dlrt {

bool is_complete(const Request& request) {
    // Pairs with the release store of completion: the results can be read now.
    return request.is_done.load(std::memory_order_acquire);
}

bool is_persistent(const Request& request) {
    return request.persistence == Persistence::persistent;
}

bool is_active(const Request& request) {
    return request.is_started;
}

MessageStatus status_of(const Request& request) {
    MessageStatus status;
    status.source = request.found_source;
    status.tag = request.found_tag;
    status.error = Status{static_cast<Errc>(request.error), 0};
    status.is_cancelled = request.is_cancelled;
    status.size_bytes = request.wanted_bytes();
    return status;
}

Status outcome_of(const Request& request) {
    const auto code = static_cast<Errc>(request.error);
    const bool is_receive = request.kind == RequestKind::receive;
    const bool is_matched = is_receive && request.found_source != no_rank;
    const WorldRank peer = is_matched ? request.found_source : request.key.source;
    if (code == Errc::ok) return {};
    if (request.kind == RequestKind::task) return request.task().outcome();
    const std::string other = peer == any_source ? "any rank" : fmt::format("world rank {}", peer);
    const char* const call = is_receive ? "receive from" : "send to";
    if (code == Errc::truncate) {
        return fail(
            code, "{} {}, tag {}: the message has {} bytes, the buffer only {}", call, other,
            request.found_tag, request.message_bytes, request.capacity_bytes
        );
    }
    if (code == Errc::peer_lost && peer == any_source) {
        return fail(
            code, "receive from any rank, tag {}: all others have ended without finalizing",
            request.key.tag
        );
    }
    if (code == Errc::peer_lost) {
        const auto* const reason = std::get_if<const std::string*>(&request.extra);
        return fail(
            code, "{} {}, tag {}: that rank {}", call, other, request.key.tag,
            reason != nullptr ? **reason : "has ended without finalizing"
        );
    }
    return fail(code, "{} {}, tag {}: {}", call, other, request.key.tag, errc_description(code));
}

void RequestQueue::push_back(Request& request) {
    request.next = nullptr;
    (first == nullptr ? first : last->next) = &request;
    last = &request;
}

void RequestQueue::pop_front() {
    first = first->next;
}

void RequestQueue::remove(Request& request) {
    PostedReceive* before = nullptr;
    PostedReceive* at = first;
    while (at != nullptr && at != &request) {
        before = at;
        at = at->next;
    }
    if (at == nullptr) return;
    (before == nullptr ? first : before->next) = at->next;
    if (last == at) last = before;
}

void RequestPool::grow() {
    const std::uint32_t first = slots_.count();
    const bool has_grown = slots_.grow([this](Request& request, std::uint32_t number) {
        request.index = number;
        request.generation.store(first_generation_, std::memory_order_relaxed);
    });
    DLRT_ASSERT(has_grown);
    for (std::uint32_t i = slots_.count(); i-- > first;) {
        Request& request = *slots_.at(i);
        request.next = free_;
        free_ = &request;
    }
}

std::uint32_t RequestPool::next_generation() const {
    std::uint32_t highest = first_generation_;
    for_each([&](const Request& request) {
        highest = std::max(highest, request.generation.load(std::memory_order_relaxed));
    });
    return (highest + 1) & ~std::uint32_t{1};
}

}  // namespace dlrt
