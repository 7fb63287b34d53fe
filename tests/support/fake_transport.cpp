// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_transport.hpp"

#include "runtime/base/check.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>
#include <numeric>
#include <random>
#include <unistd.h>
#include <utility>
#include <vector>

namespace dlrt::testing {
namespace {

struct Message {
    MessageHeader header;
    std::vector<std::byte> owned;
    Bytes borrowed;  ///< Of a pending fragment: read when the message is delivered.
    OperationId id{};
    bool is_pending = false;
    std::uint64_t due_poll = 0;
};

struct PendingGet {
    RemoteMemory source;
    MutableBytes target;
    OperationId id{};
    std::uint64_t due_poll = 0;
};

struct Rank {
    std::vector<std::deque<Message>> from;  ///< By source.
    std::deque<Completion> completions;
    std::deque<PendingGet> gets;
    std::uint64_t polls = 0;
    std::uint32_t gets_granted = 0;
};

constexpr std::uint32_t gets_before_refusal = 3;

}  // namespace

struct FakeNetwork::State {
    std::mutex mutex;
    FakeOptions options;
    std::mt19937_64 random;
    std::vector<Rank> ranks;

    [[nodiscard]] bool happens(std::uint32_t percent) { return random() % 100 < percent; }
    [[nodiscard]] std::uint64_t due_poll(const Rank& rank) {
        return rank.polls + random() % (options.delay_polls_max + 1);
    }
    void wake(std::uint32_t rank) const {
        if (!options.sleep_descriptors.empty()) {
            const std::uint64_t one = 1;
            [[maybe_unused]] const ssize_t size = ::write(
                options.sleep_descriptors.at(rank), &one, sizeof one
            );
        }
        if (options.wake) options.wake(rank);
    }
};

namespace {

class FakeEndpoint final : public Endpoint {
  public:
    FakeEndpoint(FakeNetwork::State& state, std::uint32_t rank)
        : state_(state), rank_(rank), was_busy_(state.ranks.size()) {
        capabilities_.eager_bytes_max = state.options.eager_bytes_max;
        capabilities_.fragment_bytes_max = state.options.fragment_bytes_max;
        capabilities_.can_get = state.options.get != FakeGet::absent;
        if (!state.options.sleep_descriptors.empty()) {
            capabilities_.sleep_descriptor = state.options.sleep_descriptors.at(rank);
        }
    }

    [[nodiscard]] std::string_view name() const override { return "fake"; }
    [[nodiscard]] const Capabilities& capabilities() const override { return capabilities_; }
    [[nodiscard]] Post post_eager(PeerIndex peer, MessageHeader header, Bytes payload) override;
    [[nodiscard]] Post post_fragment(
        PeerIndex peer, MessageHeader header, Bytes payload, OperationId id
    ) override;
    [[nodiscard]] RemoteMemory describe(Bytes memory) override;
    [[nodiscard]] Post post_get(
        PeerIndex peer, RemoteMemory source, MutableBytes target, OperationId id
    ) override;
    [[nodiscard]] std::size_t poll(std::span<Arrival> out) override;
    [[nodiscard]] std::size_t poll_completions(std::span<Completion> out) override;
    /// Counts what is delayed as well: only polling lets it come due.
    [[nodiscard]] bool has_work() override;
    [[nodiscard]] bool can_load(PeerIndex, const RemoteMemory&, std::uint64_t) override {
        return false;
    }
    [[nodiscard]] LargeProtocol choose_large(
        PeerIndex peer, std::uint64_t size_bytes, Traffic traffic
    ) const override;
    [[nodiscard]] std::uint32_t fragment_bytes(std::uint64_t message_size_bytes) const override;

  private:
    [[nodiscard]] Rank& self() { return state_.ranks[rank_]; }
    void finish_gets();
    void deliver(Message message, std::uint32_t source, Arrival& out);

    FakeNetwork::State& state_;
    std::uint32_t rank_;
    Capabilities capabilities_;
    std::vector<std::vector<std::byte>> handed_out_;
    std::vector<bool> was_busy_;  ///< By peer: the last post to it.
};

Post FakeEndpoint::post_eager(PeerIndex peer, MessageHeader header, Bytes payload) {
    DLRT_ASSERT(payload.size() <= capabilities_.eager_bytes_max);
    const auto to = static_cast<std::uint32_t>(peer);
    {
        const std::lock_guard lock(state_.mutex);
        Rank& target = state_.ranks.at(to);
        std::deque<Message>& queue = target.from[rank_];
        if (queue.size() >= state_.options.queued_messages_max ||
            state_.happens(state_.options.busy_percent)) {
            was_busy_[to] = true;
            return Post::busy;
        }
        was_busy_[to] = false;
        Message message;
        message.header = header;
        message.owned.assign(payload.begin(), payload.end());
        message.due_poll = state_.due_poll(target);
        queue.push_back(std::move(message));
    }
    state_.wake(to);
    return Post::done;
}

Post FakeEndpoint::post_fragment(
    PeerIndex peer, MessageHeader header, Bytes payload, OperationId id
) {
    DLRT_ASSERT(payload.size() <= capabilities_.fragment_bytes_max);
    const auto to = static_cast<std::uint32_t>(peer);
    Post outcome = Post::done;
    {
        const std::lock_guard lock(state_.mutex);
        Rank& target = state_.ranks.at(to);
        std::deque<Message>& queue = target.from[rank_];
        if (queue.size() >= state_.options.queued_messages_max ||
            state_.happens(state_.options.busy_percent)) {
            was_busy_[to] = true;
            return Post::busy;
        }
        was_busy_[to] = false;
        Message message;
        message.header = header;
        message.id = id;
        if (state_.happens(state_.options.pending_percent)) {
            message.borrowed = payload;
            message.is_pending = true;
            outcome = Post::pending;
        } else {
            message.owned.assign(payload.begin(), payload.end());
        }
        message.due_poll = state_.due_poll(target);
        queue.push_back(std::move(message));
    }
    state_.wake(to);
    return outcome;
}

RemoteMemory FakeEndpoint::describe(Bytes memory) {
    return {.address = reinterpret_cast<std::uintptr_t>(memory.data()), .key = rank_};
}

void copy_remote(RemoteMemory source, MutableBytes target) {
    if (target.empty()) return;
    const auto address = static_cast<std::uintptr_t>(source.address);
    std::memcpy(target.data(), reinterpret_cast<const void*>(address), target.size());
}

Post FakeEndpoint::post_get(
    PeerIndex peer, RemoteMemory source, MutableBytes target, OperationId id
) {
    const std::lock_guard lock(state_.mutex);
    DLRT_ASSERT(source.key == static_cast<std::uint32_t>(peer));
    const FakeGet policy = state_.options.get;
    if (policy == FakeGet::refused || policy == FakeGet::absent) return Post::refused;
    if (policy == FakeGet::refused_later && self().gets_granted >= gets_before_refusal) {
        return Post::refused;
    }
    if (state_.happens(state_.options.busy_percent)) {
        was_busy_[static_cast<std::uint32_t>(peer)] = true;
        return Post::busy;
    }
    was_busy_[static_cast<std::uint32_t>(peer)] = false;
    ++self().gets_granted;
    if (state_.happens(state_.options.pending_percent)) {
        self().gets.push_back({source, target, id, state_.due_poll(self())});
        return Post::pending;
    }
    copy_remote(source, target);
    return Post::done;
}

void FakeEndpoint::finish_gets() {
    std::deque<PendingGet>& gets = self().gets;
    for (std::size_t left = gets.size(); left != 0; --left) {
        const PendingGet get = gets.front();
        gets.pop_front();
        if (get.due_poll > self().polls) {
            gets.push_back(get);
            continue;
        }
        copy_remote(get.source, get.target);
        self().completions.push_back({get.id, {}});
    }
}

void FakeEndpoint::deliver(Message message, std::uint32_t source, Arrival& out) {
    if (message.is_pending) {
        message.owned.assign(message.borrowed.begin(), message.borrowed.end());
        state_.ranks[source].completions.push_back({message.id, {}});
    }
    handed_out_.push_back(std::move(message.owned));
    out = {static_cast<PeerIndex>(source), message.header, handed_out_.back()};
}

std::size_t FakeEndpoint::poll(std::span<Arrival> out) {
    std::vector<std::uint32_t> woken;
    std::size_t count = 0;
    if (capabilities_.sleep_descriptor >= 0) {
        std::uint64_t rings = 0;
        // Empty before the look at what it tells of: what comes after that rings again.
        [[maybe_unused]] const ssize_t size = ::read(
            capabilities_.sleep_descriptor, &rings, sizeof rings
        );
    }
    {
        const std::lock_guard lock(state_.mutex);
        // Whoever looks at a payload for too long sees this instead.
        for (std::vector<std::byte>& old : handed_out_) std::ranges::fill(old, std::byte{0xdb});
        handed_out_.clear();
        ++self().polls;
        finish_gets();
        std::vector<std::uint32_t> sources(state_.ranks.size());
        std::iota(sources.begin(), sources.end(), 0u);
        std::ranges::shuffle(sources, state_.random);
        for (const std::uint32_t source : sources) {
            std::deque<Message>& queue = self().from[source];
            while (count < out.size() && !queue.empty() && queue.front().due_poll <= self().polls) {
                if (queue.front().is_pending) woken.push_back(source);
                deliver(std::move(queue.front()), source, out[count++]);
                queue.pop_front();
                if (state_.happens(30)) break;
            }
        }
    }
    for (const std::uint32_t rank : woken) state_.wake(rank);
    return count;
}

std::size_t FakeEndpoint::poll_completions(std::span<Completion> out) {
    const std::lock_guard lock(state_.mutex);
    std::size_t count = 0;
    for (; count < out.size() && !self().completions.empty(); ++count) {
        out[count] = self().completions.front();
        self().completions.pop_front();
    }
    return count;
}

bool FakeEndpoint::has_work() {
    const std::lock_guard lock(state_.mutex);
    // Busy at random means that the next try may go.
    return std::ranges::find(was_busy_, true) != was_busy_.end() || !self().completions.empty() ||
           !self().gets.empty() ||
           std::ranges::any_of(self().from, [](const auto& queue) { return !queue.empty(); });
}

LargeProtocol FakeEndpoint::choose_large(PeerIndex peer, std::uint64_t size_bytes, Traffic) const {
    if (!capabilities_.can_get) return LargeProtocol::rendezvous_stream;
    const std::uint64_t mixed = size_bytes * 31 + static_cast<std::uint32_t>(peer) + rank_;
    return mixed % 2 == 0 ? LargeProtocol::rendezvous_read : LargeProtocol::rendezvous_stream;
}

std::uint32_t FakeEndpoint::fragment_bytes(std::uint64_t message_size_bytes) const {
    // Odd sizes find whoever counts on round ones.
    const std::uint64_t wanted = message_size_bytes / 3 + 1;
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(wanted, capabilities_.fragment_bytes_max)
    );
}

}  // namespace

FakeNetwork::FakeNetwork(std::uint32_t size, FakeOptions options)
    : state_(std::make_unique<State>()) {
    state_->random.seed(options.seed);
    state_->options = std::move(options);
    state_->ranks.resize(size);
    for (Rank& rank : state_->ranks) rank.from.resize(size);
}

FakeNetwork::~FakeNetwork() = default;

std::unique_ptr<Endpoint> FakeNetwork::open_endpoint(std::uint32_t rank) {
    return std::make_unique<FakeEndpoint>(*state_, rank);
}

}  // namespace dlrt::testing
