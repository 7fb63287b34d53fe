// SPDX-License-Identifier: Apache-2.0
/// Matching against a reference that is two lists and a loop, and its cost with long queues.
#include "runtime/match.hpp"

#include "runtime/base/clock.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <list>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

struct Receive : PostedReceive {
    int name = 0;
};
struct Message : UnexpectedMessage {
    int name = 0;
};

MatchKey key(std::uint64_t context, WorldRank source, Tag tag) {
    return {ContextId{context}, source, tag};
}

Receive receive(MatchKey with, int name = 0) {
    Receive made;
    made.key = with;
    made.name = name;
    return made;
}

Message message(MatchKey with, int name = 0) {
    Message made;
    made.key = with;
    made.name = name;
    return made;
}

/// The rules as MPI-4.1 3.5 states them, without any thought of cost.
class Reference {
  public:
    void post(int name, MatchKey with) { receives_.push_back({name, with}); }
    void add(int name, MatchKey with) { messages_.push_back({name, with}); }
    int match(MatchKey with) {
        return take(receives_, [&](const MatchKey& posted) { return accept(posted, with); });
    }
    int take_message(MatchKey with) {
        return take(messages_, [&](const MatchKey& waiting) { return accept(with, waiting); });
    }
    int find_message(MatchKey with) const {
        for (const Entry& entry : messages_) {
            if (accept(with, entry.key)) return entry.name;
        }
        return -1;
    }
    bool remove(int name) {
        return std::erase_if(receives_, [&](const Entry& entry) { return entry.name == name; }) !=
               0;
    }
    [[nodiscard]] std::size_t posted() const { return receives_.size(); }
    [[nodiscard]] std::size_t waiting() const { return messages_.size(); }

  private:
    struct Entry {
        int name;
        MatchKey key;
    };
    static bool accept(const MatchKey& posted, const MatchKey& sent) {
        if (posted.context != sent.context) return false;
        if (posted.source != -2 && posted.source != sent.source) return false;
        return posted.tag == -1 || posted.tag == sent.tag;
    }
    template<typename Predicate>
    static int take(std::list<Entry>& from, Predicate predicate) {
        for (auto at = from.begin(); at != from.end(); ++at) {
            if (!predicate(at->key)) continue;
            const int name = at->name;
            from.erase(at);
            return name;
        }
        return -1;
    }
    std::list<Entry> receives_, messages_;
};

int name_of(const PostedReceive* found) {
    return found == nullptr ? -1 : static_cast<const Receive*>(found)->name;
}
int name_of(const UnexpectedMessage* found) {
    return found == nullptr ? -1 : static_cast<const Message*>(found)->name;
}

/// How messages come and receives are posted: many of few keys, or few of many.
struct Mix {
    int contexts, sources, tags;
    unsigned wildcard_percent;
    unsigned post_percent;
};

struct Duel {
    explicit Duel(std::uint64_t seed, Mix with) : random(seed), mix(with) {}

    unsigned below(unsigned limit) { return static_cast<unsigned>(random() % limit); }
    MatchKey random_key() {
        return key(
            below(static_cast<unsigned>(mix.contexts)),
            static_cast<WorldRank>(below(static_cast<unsigned>(mix.sources))),
            static_cast<Tag>(below(static_cast<unsigned>(mix.tags)))
        );
    }
    MatchKey random_receive_key() {
        MatchKey made = random_key();
        if (below(100) < mix.wildcard_percent) made.source = any_source;
        if (below(100) < mix.wildcard_percent) made.tag = any_tag;
        return made;
    }
    void post() {
        const MatchKey with = random_receive_key();
        REQUIRE(name_of(matcher.find_unexpected(with)) == reference.find_message(with));
        const int expected = reference.take_message(with);
        REQUIRE(name_of(matcher.take_unexpected(with)) == expected);
        if (expected >= 0) return;
        receives.push_back(receive(with, next_name));
        reference.post(next_name++, with);
        matcher.post(receives.back());
    }
    void arrive() {
        const MatchKey with = random_key();
        const int expected = reference.match(with);
        REQUIRE(name_of(matcher.match(with)) == expected);
        if (expected >= 0) return;
        messages.push_back(message(with, next_name));
        reference.add(next_name++, with);
        matcher.add_unexpected(messages.back());
    }
    void cancel() {
        if (receives.empty()) return;
        Receive& victim = receives[random() % receives.size()];
        if (reference.remove(victim.name)) REQUIRE(matcher.remove(victim));
    }

    std::mt19937_64 random;
    Mix mix;
    Matcher matcher;
    Reference reference;
    std::deque<Receive> receives;
    std::deque<Message> messages;
    int next_name = 0;
};

}  // namespace

TEST_CASE("match: random operations give what two lists and a loop give", "[runtime]") {
    const Mix mix = GENERATE(
        Mix{1, 1, 1, 50, 50}, Mix{2, 3, 3, 20, 50}, Mix{2, 3, 3, 80, 55}, Mix{3, 50, 50, 10, 70},
        Mix{1, 400, 5, 3, 50}, Mix{4, 4, 4, 0, 50}, Mix{2, 2, 2, 30, 20}
    );
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        Duel duel(seed, mix);
        for (int step = 0; step < 3000; ++step) {
            const unsigned dice = duel.below(100);
            if (dice < 5) {
                duel.cancel();
            } else if (dice < 5 + mix.post_percent * 95 / 100) {
                duel.post();
            } else {
                duel.arrive();
            }
            REQUIRE(duel.matcher.posted_count() == duel.reference.posted());
            REQUIRE(duel.matcher.unexpected_count() == duel.reference.waiting());
        }
    }
}

TEST_CASE("match: the oldest of four kinds of receive takes the message", "[runtime]") {
    std::vector<MatchKey> kinds = {
        key(7, 3, 5), key(7, any_source, 5), key(7, 3, any_tag), key(7, any_source, any_tag)};
    std::sort(kinds.begin(), kinds.end(), [](const MatchKey& a, const MatchKey& b) {
        return std::pair(a.source, a.tag) < std::pair(b.source, b.tag);
    });
    do {
        Matcher matcher;
        std::vector<Receive> posted;
        for (const MatchKey& kind : kinds) posted.push_back(receive(kind));
        for (Receive& one : posted) matcher.post(one);
        for (Receive& one : posted) CHECK(matcher.match(key(7, 3, 5)) == &one);
        CHECK(matcher.match(key(7, 3, 5)) == nullptr);
    } while (std::next_permutation(
        kinds.begin(), kinds.end(),
        [](const MatchKey& a, const MatchKey& b) {
            return std::pair(a.source, a.tag) < std::pair(b.source, b.tag);
        }
    ));
}

TEST_CASE("match: a receive with any source takes the oldest unexpected message", "[runtime]") {
    Matcher matcher;
    Message first = message(key(1, 9, 5)), second = message(key(1, 2, 5)),
            other = message(key(1, 2, 6));
    matcher.add_unexpected(other);
    matcher.add_unexpected(first);
    matcher.add_unexpected(second);
    CHECK(matcher.take_unexpected(key(1, any_source, 5)) == &first);
    CHECK(matcher.take_unexpected(key(1, any_source, any_tag)) == &other);
    CHECK(matcher.take_unexpected(key(1, 2, any_tag)) == &second);
    CHECK(matcher.unexpected_count() == 0);
}

TEST_CASE("match: wildcards of one context never see another context", "[runtime]") {
    Matcher matcher;
    Receive any = receive(key(2, any_source, any_tag));
    matcher.post(any);
    CHECK(matcher.match(key(3, 0, 0)) == nullptr);
    Message waiting = message(key(3, 0, 0));
    matcher.add_unexpected(waiting);
    CHECK(matcher.find_unexpected(key(2, any_source, any_tag)) == nullptr);
    CHECK(matcher.find_unexpected(key(3, any_source, any_tag)) == &waiting);
    CHECK(matcher.match(key(2, 0, 0)) == &any);
}

TEST_CASE(
    "match: draining a context takes its messages in order and leaves the others", "[runtime]"
) {
    Matcher matcher;
    Message a = message(key(1, 4, 1)), b = message(key(1, 3, 2)), kept = message(key(2, 4, 1));
    matcher.add_unexpected(a);
    matcher.add_unexpected(kept);
    matcher.add_unexpected(b);
    CHECK(matcher.drain_context(ContextId{1}) == &a);
    CHECK(matcher.drain_context(ContextId{1}) == &b);
    CHECK(matcher.drain_context(ContextId{1}) == nullptr);
    CHECK(matcher.drain_context(ContextId{1}) == nullptr);
    CHECK(matcher.take_unexpected(key(2, 4, 1)) == &kept);
}

namespace {

/// Nanoseconds per message that finds its receive, which is posted anew, among so many others.
double cost_of_match(std::uint64_t others, bool same_tag) {
    Matcher matcher;
    std::deque<Receive> posted;
    for (std::uint64_t i = 0; i < others; ++i) {
        posted.push_back(receive(key(1, 1, same_tag ? 1 : static_cast<Tag>(i + 1))));
        matcher.post(posted.back());
    }
    Receive own = receive(key(1, 0, 7));
    double best = 1e9;
    for (int round = 0; round < 50; ++round) {
        constexpr int count = 2000;
        const std::uint64_t begin_ns = monotonic_ns();
        for (int i = 0; i < count; ++i) {
            matcher.post(own);
            if (matcher.match(key(1, 0, 7)) != &own) return -1;
        }
        best = std::min(best, static_cast<double>(monotonic_ns() - begin_ns) / count);
    }
    return best;
}

}  // namespace

TEST_CASE("match: ten thousand posted receives cost as much as ten", "[runtime]") {
    for (const bool same_tag : {false, true}) {
        const double few = cost_of_match(10, same_tag);
        const double many = cost_of_match(10'000, same_tag);
        INFO("ten: " << few << " ns, ten thousand: " << many << " ns");
        CHECK(few > 0);
        // Ten times looser than the figure: machines that run tests are busy.
        CHECK(many < 15 * few);
    }
}

}  // namespace dlrt
