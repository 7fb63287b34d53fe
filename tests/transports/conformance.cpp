// SPDX-License-Identifier: Apache-2.0
#include "tests/transports/conformance.hpp"

#include "runtime/base/clock.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace dlrt::testing {
namespace {

constexpr std::uint64_t limit_ns = 30'000'000'000;

/// Collects what went wrong in any thread.
class Findings {
  public:
    void add(std::string text) {
        const std::lock_guard lock(mutex_);
        if (texts_.size() < 10) texts_.push_back(std::move(text));
        count_.store(texts_.size(), std::memory_order_relaxed);
    }
    /// False once there is a reason to give up.
    [[nodiscard]] bool goes_on() {
        if (count_.load(std::memory_order_relaxed) != 0) return false;
        if (monotonic_ns() - begin_ns_ < limit_ns) return true;
        add("not finished in time");
        return false;
    }
    [[nodiscard]] std::vector<std::string> texts() {
        const std::lock_guard lock(mutex_);
        return texts_;
    }

  private:
    std::mutex mutex_;
    std::vector<std::string> texts_;
    std::atomic<std::size_t> count_{0};
    std::uint64_t begin_ns_ = monotonic_ns();
};

using Play = std::function<void(std::uint32_t rank, Endpoint& endpoint, Findings& findings)>;

std::vector<std::string> play(Rig& rig, const Play& part) {
    Findings findings;
    std::vector<std::thread> threads;
    for (std::uint32_t rank = 0; rank < rig.size(); ++rank) {
        threads.emplace_back([&, rank] { part(rank, rig.endpoint(rank), findings); });
    }
    for (std::thread& thread : threads) thread.join();
    return findings.texts();
}

/// The i-th byte of the n-th message from one rank to another.
std::byte pattern(std::uint64_t source, std::uint64_t target, std::uint64_t n, std::uint64_t i) {
    return static_cast<std::byte>(source * 101 + target * 37 + n * 7 + i * 3 + i / 251);
}

void fill(MutableBytes bytes, std::uint64_t source, std::uint64_t target, std::uint64_t n) {
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = pattern(source, target, n, i);
}

bool holds(Bytes bytes, std::uint64_t source, std::uint64_t target, std::uint64_t n) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (bytes[i] != pattern(source, target, n, i)) return false;
    }
    return true;
}

/// Sends to every rank (itself only where it is alone) and checks what comes: sizes, bytes, order.
/// Which message has which size and goes which way depends on its number only.
class PairTraffic {
  public:
    struct Shape {
        std::uint64_t messages = 0;  ///< From each rank to each peer.
        bool has_eager = true;
        bool has_fragments = true;
    };

    PairTraffic(Rig& rig, std::uint32_t rank, Endpoint& endpoint, Findings& findings, Shape shape)
        : rig_(rig),
          rank_(rank),
          endpoint_(endpoint),
          findings_(findings),
          shape_(shape),
          sent_(rig.size()),
          received_(rig.size()),
          buffers_(rig.size()) {}

    void run() {
        while (findings_.goes_on() && !is_finished()) {
            for (std::uint32_t peer = 0; peer < rig_.size(); ++peer) {
                if (is_partner(peer)) send_some(peer);
            }
            receive();
        }
    }

  private:
    [[nodiscard]] bool is_partner(std::uint32_t peer) const {
        return rig_.size() == 1 || peer != rank_;
    }
    [[nodiscard]] bool is_fragment(std::uint64_t n) const {
        return !shape_.has_eager || (shape_.has_fragments && n % 3 == 0);
    }
    [[nodiscard]] std::size_t size_of(std::uint64_t n) const {
        const Capabilities& can = endpoint_.capabilities();
        const std::size_t most = is_fragment(n) ? can.fragment_bytes_max : can.eager_bytes_max;
        constexpr std::array<std::size_t, 12> small = {0, 1, 7, 8, 9, 31, 32, 33, 40, 41, 64, 1000};
        const std::uint64_t choice = n % 16;
        if (choice < small.size()) return std::min(small[choice], most);
        return choice == 15 ? most : most / (choice - 10);
    }
    [[nodiscard]] bool is_finished() const {
        std::uint64_t partners = 0;
        std::uint64_t sent = 0;
        std::uint64_t received = 0;
        for (std::uint32_t peer = 0; peer < rig_.size(); ++peer) {
            partners += is_partner(peer) ? 1 : 0;
            sent += sent_[peer];
            received += received_[peer];
        }
        const std::uint64_t all = partners * shape_.messages;
        return sent == all && received == all && pending_ == 0;
    }

    void send_some(std::uint32_t peer) {
        for (int burst = 0; burst < 8 && sent_[peer] < shape_.messages; ++burst) {
            const std::uint64_t n = sent_[peer];
            const std::size_t size = size_of(n);
            const MessageHeader header{n, ~n ^ rank_};
            Post post = Post::busy;
            if (is_fragment(n)) {
                // Pending ones keep their buffer until the end; the id says nothing about which.
                std::vector<std::byte> bytes(size);
                fill(bytes, rank_, peer, n);
                post = endpoint_.post_fragment(
                    rig_.index(peer), header, bytes, static_cast<OperationId>(n)
                );
                if (post == Post::pending) {
                    ++pending_;
                    buffers_[peer].push_back(std::move(bytes));
                }
            } else {
                scratch_.resize(size);
                fill(scratch_, rank_, peer, n);
                post = endpoint_.post_eager(rig_.index(peer), header, scratch_);
                // Done means that the buffer is ours again.
                if (post == Post::done) std::ranges::fill(scratch_, std::byte{0xee});
                if (post == Post::pending) findings_.add("an eager post was pending");
            }
            if (post == Post::refused) findings_.add("a post was refused");
            if (post == Post::busy || post == Post::refused) return;
            ++sent_[peer];
        }
    }

    void receive() {
        std::array<Arrival, 7> arrivals;
        const std::size_t count = endpoint_.poll(arrivals);
        if (count > arrivals.size()) findings_.add("more arrivals than asked for");
        // All payloads of one poll stay valid together: look at the last first.
        for (std::size_t i = std::min(count, arrivals.size()); i-- > 0;)
            look_at_bytes(arrivals[i], i);
        for (std::size_t i = 0; i < std::min(count, arrivals.size()); ++i)
            look_at_order(arrivals[i]);
        std::array<Completion, 5> completions;
        const std::size_t completed = endpoint_.poll_completions(completions);
        for (std::size_t i = 0; i < completed; ++i) {
            if (!completions[i].status.ok()) findings_.add("a completion failed");
        }
        if (completed > pending_) findings_.add("more completions than pending posts");
        pending_ -= std::min<std::uint64_t>(pending_, completed);
        if (count == 0) std::this_thread::yield();
    }
    [[nodiscard]] std::uint32_t source_of(const Arrival& arrival) const {
        for (std::uint32_t peer = 0; peer < rig_.size(); ++peer) {
            if (rig_.index(peer) == arrival.peer) return peer;
        }
        return rig_.size();
    }
    void look_at_bytes(const Arrival& arrival, std::size_t place) {
        const std::uint32_t source = source_of(arrival);
        const std::uint64_t n = arrival.header.first;
        if (source >= rig_.size() || arrival.header.second != (~n ^ source)) {
            findings_.add(fmt::format("arrival {} has a wrong peer or header", place));
        } else if (arrival.payload.size() != size_of(n)) {
            findings_.add(fmt::format(
                "message {} from {}: {} bytes, expected {}", n, source, arrival.payload.size(),
                size_of(n)
            ));
        } else if (!holds(arrival.payload, source, rank_, n)) {
            findings_.add(fmt::format("message {} from {} has wrong bytes", n, source));
        }
    }
    void look_at_order(const Arrival& arrival) {
        const std::uint32_t source = source_of(arrival);
        if (source >= rig_.size()) return;
        if (arrival.header.first != received_[source]) {
            findings_.add(fmt::format(
                "message {} from {} came when {} was due", arrival.header.first, source,
                received_[source]
            ));
        }
        ++received_[source];
    }

    Rig& rig_;
    std::uint32_t rank_;
    Endpoint& endpoint_;
    Findings& findings_;
    Shape shape_;
    std::vector<std::uint64_t> sent_;
    std::vector<std::uint64_t> received_;
    std::vector<std::vector<std::vector<std::byte>>> buffers_;
    std::vector<std::byte> scratch_;
    std::uint64_t pending_ = 0;
};

std::vector<std::string> run_traffic(Rig& rig, PairTraffic::Shape shape) {
    // Many ranks share few cores: the same number of messages in all.
    if (rig.size() > 3) shape.messages = shape.messages * 2 / (rig.size() * (rig.size() - 1));
    std::vector<std::string> wrong = play(
        rig, [&](std::uint32_t rank, Endpoint& endpoint,
                 Findings& findings) { PairTraffic(rig, rank, endpoint, findings, shape).run(); }
    );
    std::array<Arrival, 1> none;
    for (std::uint32_t rank = 0; rank < rig.size(); ++rank) {
        if (rig.endpoint(rank).poll(none) != 0) wrong.emplace_back("more came than was sent");
        if (rig.endpoint(rank).has_work()) wrong.emplace_back("work is left at the end");
    }
    return wrong;
}

std::vector<std::string> check_eager(Rig& rig) {
    return run_traffic(rig, {.messages = 3000, .has_eager = true, .has_fragments = false});
}

std::vector<std::string> check_fragments(Rig& rig) {
    return run_traffic(rig, {.messages = 300, .has_eager = false, .has_fragments = true});
}

std::vector<std::string> check_mixture(Rig& rig) {
    return run_traffic(rig, {.messages = 1000, .has_eager = true, .has_fragments = true});
}

/// Posts without polling until many in a row are busy; returns how many were taken.
std::uint64_t post_until_busy(Rig& rig, std::uint32_t from, std::uint32_t to, std::size_t size) {
    const std::vector<std::byte> bytes(size, std::byte{0x5a});
    std::uint64_t posted = 0;
    for (int refusals = 0; refusals < 200 && posted < 1'000'000;) {
        const Post post = rig.endpoint(from).post_eager(rig.index(to), {posted, 0}, bytes);
        if (post == Post::done) ++posted;
        refusals = post == Post::done ? 0 : refusals + 1;
    }
    return posted;
}

std::vector<std::string> check_bounds(Rig& rig) {
    const std::uint32_t from = rig.size() - 1;
    std::vector<std::string> wrong;
    for (const std::size_t size : {std::size_t{8}, std::size_t{4096}}) {
        const std::uint64_t posted = post_until_busy(rig, from, 0, size);
        if (posted == 0) wrong.emplace_back("nothing could be posted");
        if (posted >= 1'000'000)
            wrong.emplace_back("posts to a peer that never polls are never busy");
        const std::uint64_t begin_ns = monotonic_ns();
        std::uint64_t received = 0;
        std::array<Arrival, 4> arrivals;
        while (received < posted && monotonic_ns() - begin_ns < limit_ns) {
            const std::size_t count = rig.endpoint(0).poll(arrivals);
            // Part of the last message may still be the sender's to send.
            static_cast<void>(rig.endpoint(from).poll({}));
            for (std::size_t i = 0; i < count; ++i) {
                if (arrivals[i].header.first != received + i) wrong.emplace_back("out of order");
            }
            received += count;
        }
        if (received != posted) wrong.emplace_back(fmt::format("{} of {} came", received, posted));
        static_cast<void>(rig.endpoint(0).poll(arrivals));
    }
    return wrong;
}

std::vector<std::string> check_has_work(Rig& rig) {
    std::vector<std::string> wrong;
    const std::uint32_t from = rig.size() - 1;
    Endpoint& receiver = rig.endpoint(0);
    std::array<Arrival, 4> arrivals;
    const std::array<std::byte, 16> bytes{};
    const std::uint64_t begin_ns = monotonic_ns();
    for (int round = 0; round < 40; ++round) {
        if (receiver.has_work()) wrong.emplace_back("work before anything was sent");
        while (rig.endpoint(from).post_eager(rig.index(0), {1, 2}, bytes) == Post::busy &&
               monotonic_ns() - begin_ns < limit_ns) {
            static_cast<void>(rig.endpoint(from).poll({}));
        }
        if (!receiver.has_work()) wrong.emplace_back("no work after a message was sent");
        std::size_t count = 0;
        while (count == 0 && monotonic_ns() - begin_ns < limit_ns) count = receiver.poll(arrivals);
        if (count != 1 || receiver.has_work()) wrong.emplace_back("work after all was taken");
    }
    return wrong;
}

/// Finishes one get; returns its last answer. The memory's owner makes progress, which some ways of
/// reading need.
Post get(
    Endpoint& endpoint, Endpoint& owner, PeerIndex peer, RemoteMemory source, MutableBytes target
) {
    const std::uint64_t begin_ns = monotonic_ns();
    Post post = Post::busy;
    std::array<Arrival, 1> none;
    while (post == Post::busy && monotonic_ns() - begin_ns < limit_ns) {
        post = endpoint.post_get(peer, source, target, OperationId{77});
        static_cast<void>(endpoint.poll(none));
        static_cast<void>(owner.poll(none));
    }
    std::array<Completion, 2> completions;
    while (post == Post::pending && monotonic_ns() - begin_ns < limit_ns) {
        static_cast<void>(endpoint.poll(none));
        static_cast<void>(owner.poll(none));
        if (endpoint.poll_completions(completions) == 0) continue;
        const bool is_right = completions[0].id == OperationId{77} && completions[0].status.ok();
        post = is_right ? Post::done : Post::busy;
    }
    return post;
}

std::vector<std::string> check_get(Rig& rig) {
    std::vector<std::string> wrong;
    const std::uint32_t owner = rig.size() - 1;
    Endpoint& reader = rig.endpoint(0);
    std::vector<std::byte> source(3 * 1024 * 1024 + 11);
    fill(source, owner, 0, 5);
    bool is_refused = !reader.capabilities().can_get;
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{1}, std::size_t{8}, std::size_t{4097}, source.size() - 3}) {
        const Bytes piece = Bytes(source).subspan(3, size);
        std::vector<std::byte> target(size + 2, std::byte{0x11});
        const RemoteMemory memory = rig.endpoint(owner).describe(piece);
        const Post post = get(
            reader, rig.endpoint(owner), rig.index(owner), memory,
            MutableBytes(target).subspan(1, size)
        );
        if (is_refused && post != Post::refused) wrong.emplace_back("granted after a refusal");
        is_refused = post == Post::refused;
        if (is_refused) continue;
        if (post != Post::done) wrong.emplace_back(fmt::format("a get of {} did not end", size));
        if (!std::ranges::equal(piece, Bytes(target).subspan(1, size))) {
            wrong.emplace_back(fmt::format("a get of {} brought wrong bytes", size));
        }
        if (target.front() != std::byte{0x11} || target.back() != std::byte{0x11}) {
            wrong.emplace_back(fmt::format("a get of {} wrote beside its target", size));
        }
    }
    return wrong;
}

std::vector<std::string> check_capabilities(Rig& rig) {
    std::vector<std::string> wrong;
    const Endpoint& endpoint = rig.endpoint(0);
    const Capabilities& can = endpoint.capabilities();
    if (can.eager_bytes_max < 64) wrong.emplace_back("eager messages are too small to be of use");
    if (can.fragment_bytes_max < can.eager_bytes_max) wrong.emplace_back("fragments below eager");
    if (endpoint.name().empty()) wrong.emplace_back("no name");
    for (std::uint64_t size = 1; size < (1ull << 40); size *= 3) {
        const std::uint32_t fragment = endpoint.fragment_bytes(size);
        if (fragment < 1 || fragment > can.fragment_bytes_max) {
            wrong.emplace_back(fmt::format("fragments of {} for {}", fragment, size));
        }
        for (const Traffic traffic : {Traffic::one_way, Traffic::exchange, Traffic::all_busy}) {
            const LargeProtocol way = endpoint.choose_large(rig.index(0), size, traffic);
            if (way == LargeProtocol::rendezvous_read && !can.can_get) {
                wrong.emplace_back("wants to read although it cannot");
            }
        }
    }
    return wrong;
}

}  // namespace

std::vector<Requirement> conformance() {
    return {
        {"capabilities and sizes fit together", check_capabilities},
        {"eager messages arrive whole, once and in order", check_eager},
        {"fragments arrive whole, once and in order", check_fragments},
        {"eager messages and fragments of one peer keep their common order", check_mixture},
        {"posts to a peer that doesn't poll become busy, and go on when it does", check_bounds},
        {"has_work says exactly whether poll would yield", check_has_work},
        {"a get brings the bytes, or is refused for good", check_get},
    };
}

void check_conformance(const MakeRig& make) {
    for (const Requirement& requirement : conformance()) {
        const std::unique_ptr<Rig> rig = make();
        INFO(requirement.sentence);
        const std::vector<std::string> wrong = requirement.check(*rig);
        for (const std::string& text : wrong) UNSCOPED_INFO(text);
        CHECK(wrong.empty());
    }
}

}  // namespace dlrt::testing
