// SPDX-License-Identifier: Apache-2.0
/// Queues by key, whose links live in the elements: finding, appending to and taking from the queue
/// of a key costs the same however many elements there are. Part of runtime/match.hpp.
///
/// The first element of each key hangs in a chain of the hash table; the others queue behind it.
/// Nothing is allocated but the table, which doubles when there are more keys than chains. The key
/// that was asked for last is found again without hashing: messages come in runs of one key.
#pragma once

#include "runtime/base/check.hpp"
#include "runtime/request.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dlrt {

/// What messages are matched by. In a receive, source and tag may be any_source and any_tag.
struct MatchKey {
    ContextId context{};
    WorldRank source = no_rank;
    Tag tag = 0;

    friend bool operator==(const MatchKey&, const MatchKey&) = default;
};

/// Base of the elements.
template<typename Element>
struct QueueLinks {
    MatchKey key;
    Element* next = nullptr;        ///< Behind it, same key.
    Element* chain_next = nullptr;  ///< Next key of the chain. Only in the first of a key.
    Element* tail = nullptr;        ///< Last of the key. Only in the first of a key.
};

template<typename Element>
class KeyedQueues {
  public:
    KeyedQueues() : chains_(std::size_t{1} << first_bits) {}

    [[nodiscard]] std::size_t size() const { return size_; }

    void push_back(Element& element) {
        Element** place = find(element.key);
        element.next = nullptr;
        ++size_;
        if (Element* first = *place; first != nullptr) {
            first->tail->next = &element;
            first->tail = &element;
            return;
        }
        element.chain_next = nullptr;
        element.tail = &element;
        *place = &element;
        if (++key_count_ > chains_.size()) grow();
    }

    /// The place that points to the first element of the key; it holds null when there is none.
    /// Valid until the next change.
    [[nodiscard]] Element** find(const MatchKey& key) {
        if (recent_place_ != nullptr && recent_key_ == key) return recent_place_;
        return look_up(key);
    }

    /// Takes the first element of a key out. REQUIRES: `place` comes from find() and holds an
    /// element.
    Element& take(Element** place) {
        Element& first = **place;
        --size_;
        // A place may lie in `first`, and one that is left empty must be the end of its chain.
        if (place != recent_place_) recent_place_ = nullptr;
        if (Element* second = first.next; second != nullptr) {
            second->tail = first.tail;
            second->chain_next = first.chain_next;
            *place = second;
        } else {
            *place = first.chain_next;
            if (first.chain_next != nullptr) recent_place_ = nullptr;
            --key_count_;
        }
        return first;
    }

    /// Takes any element out; linear in those of the same key before it. False when it is not here.
    bool remove(Element& element) {
        Element** place = find(element.key);
        if (*place == nullptr) return false;
        if (*place == &element) {
            take(place);
            return true;
        }
        Element* before = *place;
        while (before->next != nullptr && before->next != &element) before = before->next;
        if (before->next == nullptr) return false;
        before->next = element.next;
        if ((*place)->tail == &element) (*place)->tail = before;
        --size_;
        return true;
    }

  private:
    static constexpr unsigned first_bits = 6;

    [[nodiscard]] Element** look_up(const MatchKey& key) {
        Element** place = &chains_[index_of(key)];
        while (*place != nullptr && !((*place)->key == key)) place = &(*place)->chain_next;
        recent_key_ = key;
        recent_place_ = place;
        return place;
    }

    [[nodiscard]] std::size_t index_of(const MatchKey& key) const {
        const auto who = static_cast<std::uint64_t>(static_cast<std::uint32_t>(key.source)) << 32 |
                         static_cast<std::uint32_t>(key.tag);
        const std::uint64_t hash = static_cast<std::uint64_t>(key.context) * 0x9E3779B97F4A7C15u +
                                   who * 0xD1B54A32D192ED03u;
        return static_cast<std::size_t>((hash ^ hash >> 31) * 0x9E3779B97F4A7C15u >> shift_);
    }

    void grow() {
        std::vector<Element*> old(chains_.size() * 2);
        old.swap(chains_);
        --shift_;
        recent_place_ = nullptr;
        for (Element* chain : old) {
            while (chain != nullptr) {
                Element* const first = chain;
                chain = first->chain_next;
                Element*& target = chains_[index_of(first->key)];
                first->chain_next = target;
                target = first;
            }
        }
    }

    std::vector<Element*> chains_;
    MatchKey recent_key_;
    Element** recent_place_ = nullptr;  ///< Null, or what find(recent_key_) yields.
    unsigned shift_ = 64 - first_bits;
    std::size_t key_count_ = 0;
    std::size_t size_ = 0;
};

}  // namespace dlrt
