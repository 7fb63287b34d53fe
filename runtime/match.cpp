// SPDX-License-Identifier: Apache-2.0
/// The parts of matching that look into the tables.
#include "runtime/match.hpp"

namespace dlrt {
namespace {

constexpr std::size_t minus_one = static_cast<std::size_t>(-1);

void unlink_arrival(ArrivalLinks& message) {
    message.earlier->later = message.later;
    message.later->earlier = message.earlier;
}

}  // namespace

PostedReceive* Matcher::match_with_wildcards(const MatchKey& message) {
    PostedReceive** best = receives_.find(message);
    const auto consider = [&](const MatchKey& key) {
        PostedReceive** other = receives_.find(key);
        if (*other == nullptr) return;
        if (*best == nullptr || (*other)->sequence < (*best)->sequence) best = other;
    };
    if (any_source_count_ != 0) consider({message.context, any_source, message.tag});
    if (any_tag_count_ != 0) consider({message.context, message.source, any_tag});
    if (any_both_count_ != 0) consider({message.context, any_source, any_tag});
    if (*best == nullptr) return nullptr;
    PostedReceive& receive = receives_.take(best);
    count_wildcard(receive.key, minus_one);
    return &receive;
}

bool Matcher::remove(PostedReceive& receive) {
    if (youngest_ == &receive) {
        youngest_ = nullptr;
        return true;
    }
    if (!receives_.remove(receive)) return false;
    count_wildcard(receive.key, minus_one);
    return true;
}

ArrivalLinks& Matcher::arrivals_of(ContextId context) {
    if (last_arrivals_ != nullptr && last_context_ == context) return *last_arrivals_;
    ArrivalLinks& anchor = arrivals_[context];
    if (anchor.later == nullptr) anchor = {&anchor, &anchor};
    last_context_ = context;
    last_arrivals_ = &anchor;
    return anchor;
}

void Matcher::add_unexpected(UnexpectedMessage& message) {
    ArrivalLinks& anchor = arrivals_of(message.key.context);
    message.earlier = anchor.earlier;
    message.later = &anchor;
    anchor.earlier->later = &message;
    anchor.earlier = &message;
    messages_.push_back(message);
}

UnexpectedMessage* Matcher::find_unexpected(const MatchKey& receive) {
    if (messages_.size() == 0) return nullptr;
    if (receive.source != any_source && receive.tag != any_tag) return *messages_.find(receive);
    ArrivalLinks& anchor = arrivals_of(receive.context);
    for (ArrivalLinks* at = anchor.later; at != &anchor; at = at->later) {
        auto* message = static_cast<UnexpectedMessage*>(at);
        if (accepts(receive, message->key)) return message;
    }
    return nullptr;
}

UnexpectedMessage* Matcher::take_waiting(const MatchKey& receive) {
    UnexpectedMessage* message = find_unexpected(receive);
    if (message == nullptr) return nullptr;
    // The oldest that any receive accepts is also the oldest of its own key: the first of its
    // queue.
    UnexpectedMessage** place = messages_.find(message->key);
    DLRT_ASSERT(*place == message);
    messages_.take(place);
    unlink_arrival(*message);
    return message;
}

UnexpectedMessage* Matcher::drain_context(ContextId context) {
    UnexpectedMessage* message = take_unexpected({context, any_source, any_tag});
    if (message != nullptr) return message;
    if (last_context_ == context) last_arrivals_ = nullptr;
    arrivals_.erase(context);
    return nullptr;
}

}  // namespace dlrt
