// SPDX-License-Identifier: Apache-2.0
/// Matching: which receive takes which message. A pure data structure: no I/O, no clock, no locks;
/// the elements belong to the caller, who keeps them where they are while they are inside.
///
/// Rules (MPI-4.1 3.5): a message goes to the oldest receive that accepts it, a receive takes the
/// oldest message that it accepts; messages of one source and context are in the order of their
/// arrival. A receive of one context never sees another context. What it costs does not depend on
/// how many receives are posted, nor for receives without wildcards on how many messages wait; a
/// wildcard looks through its context's messages in order.
#pragma once

#include "runtime/match_queues.hpp"

#include <cstdint>
#include <unordered_map>

namespace dlrt {

/// A receive that waits. `sequence` and the links are free for the owner's use while it is in no
/// matcher.
struct PostedReceive : QueueLinks<PostedReceive> {
    std::uint64_t sequence = 0;
};

struct ArrivalLinks {
    ArrivalLinks* earlier = nullptr;
    ArrivalLinks* later = nullptr;
};

/// A message that came before its receive.
struct UnexpectedMessage : QueueLinks<UnexpectedMessage>, ArrivalLinks {};

/// Whether a receive with this key, wildcards included, takes a message with that key.
[[nodiscard]] inline bool accepts(const MatchKey& receive, const MatchKey& message) {
    return receive.context == message.context &&
           (receive.source == message.source || receive.source == any_source) &&
           (receive.tag == message.tag || receive.tag == any_tag);
}

class Matcher {
  public:
    Matcher() = default;
    Matcher(const Matcher&) = delete;
    Matcher& operator=(const Matcher&) = delete;

    /// Queues a receive as the youngest. The caller has looked with take_unexpected() before.
    void post(PostedReceive& receive);
    /// Takes the oldest receive that accepts the message out; null when none does. REQUIRES: no
    /// wildcards.
    [[nodiscard]] PostedReceive* match(const MatchKey& message);
    /// Takes a receive out; false when it isn't here any more.
    bool remove(PostedReceive& receive);

    /// Queues a message as the youngest. The caller has asked match() before.
    void add_unexpected(UnexpectedMessage& message);
    /// The oldest message that a receive with this key accepts; null when none. It stays.
    [[nodiscard]] UnexpectedMessage* find_unexpected(const MatchKey& receive);
    /// Takes that message out.
    [[nodiscard]] UnexpectedMessage* take_unexpected(const MatchKey& receive) {
        if (messages_.size() == 0) return nullptr;
        return take_waiting(receive);
    }
    /// Takes the oldest message of a context, whoever sent it, and forgets the context when there
    /// is none.
    [[nodiscard]] UnexpectedMessage* drain_context(ContextId context);

    /// The key of each message that waits in the context, oldest first, until `visit` returns
    /// false.
    template<typename Visitor>
    void visit_waiting(ContextId context, Visitor&& visit) {
        if (messages_.size() == 0) return;
        ArrivalLinks& anchor = arrivals_of(context);
        for (ArrivalLinks* at = anchor.later; at != &anchor; at = at->later) {
            if (!visit(static_cast<UnexpectedMessage*>(at)->key)) return;
        }
    }

    [[nodiscard]] std::size_t posted_count() const {
        return receives_.size() + (youngest_ != nullptr ? 1u : 0u);
    }
    [[nodiscard]] std::size_t unexpected_count() const { return messages_.size(); }

  private:
    [[nodiscard]] PostedReceive* match_with_wildcards(const MatchKey& message);
    [[nodiscard]] UnexpectedMessage* take_waiting(const MatchKey& receive);
    [[nodiscard]] ArrivalLinks& arrivals_of(ContextId context);
    void count_wildcard(const MatchKey& key, std::size_t change);

    // The youngest receive is kept apart until another one is posted: a receive that is alone, as
    // in a blocking call, never enters the table.
    PostedReceive* youngest_ = nullptr;
    KeyedQueues<PostedReceive> receives_;
    std::size_t any_source_count_ = 0, any_tag_count_ = 0, any_both_count_ = 0;
    std::size_t wildcard_count_ = 0;  ///< Their sum.
    std::uint64_t next_sequence_ = 0;

    KeyedQueues<UnexpectedMessage> messages_;
    std::unordered_map<ContextId, ArrivalLinks> arrivals_;  ///< Rings by context, oldest first
                                                            ///< after the anchor.
    ContextId last_context_{};
    ArrivalLinks* last_arrivals_ = nullptr;
};

// The calls of the short path, inlined into it.

inline void Matcher::post(PostedReceive& receive) {
    if (youngest_ != nullptr) {
        receives_.push_back(*youngest_);
        count_wildcard(youngest_->key, 1);
    }
    receive.sequence = next_sequence_++;
    youngest_ = &receive;
}

inline PostedReceive* Matcher::match(const MatchKey& message) {
    if (receives_.size() != 0) {
        if (wildcard_count_ != 0) {
            PostedReceive* const found = match_with_wildcards(message);
            if (found != nullptr) return found;
        } else if (PostedReceive** place = receives_.find(message); *place != nullptr) {
            return &receives_.take(place);
        }
    }
    PostedReceive* const alone = youngest_;
    if (alone == nullptr || !accepts(alone->key, message)) return nullptr;
    youngest_ = nullptr;
    return alone;
}

inline void Matcher::count_wildcard(const MatchKey& key, std::size_t change) {
    if (key.source != any_source && key.tag != any_tag) return;
    wildcard_count_ += change;
    if (key.source == any_source) {
        (key.tag == any_tag ? any_both_count_ : any_source_count_) += change;
    } else {
        any_tag_count_ += change;
    }
}

}  // namespace dlrt
