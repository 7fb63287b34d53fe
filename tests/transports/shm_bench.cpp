// SPDX-License-Identifier: Apache-2.0
/// What a message between two processes on two cores costs at transport level, without engine and
/// matching: half round trips by each way that the bytes can go (the receiver's copy included), the
/// rate of small messages, and the doorbell. Minima over rounds. Usage: shm_bench
/// [eager|fragments|get|window|rate|bell]…
#include "runtime/base/clock.hpp"
#include "runtime/base/stream_copy.hpp"
#include "tests/transports/shm_area.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <sched.h>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

namespace dlrt::testing {
namespace {

constexpr std::size_t message_bytes_max = 4 * 1024 * 1024;
constexpr int rounds = 9;

void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    ::sched_setaffinity(0, sizeof set, &set);
}

/// One of the two processes.
class Side {
  public:
    Side(const ShmArea& area, std::uint32_t rank)
        : endpoint_(open(area, rank)),
          rank_(rank),
          peer_(PeerIndex{1 - rank}),
          outgoing_(message_bytes_max, std::byte{1}),
          incoming_(message_bytes_max) {}

    [[nodiscard]] bool is_first() const { return rank_ == 0; }

    void send_eager(std::size_t size) {
        const Bytes bytes(outgoing_.data(), size);
        while (endpoint_->post_eager(peer_, {1, size}, bytes) != Post::done) make_progress();
    }
    void send_fragments(std::size_t size, std::size_t fragment) {
        for (std::size_t at = 0; at < size; at += fragment) {
            const Bytes bytes(outgoing_.data() + at, std::min(fragment, size - at));
            while (endpoint_->post_fragment(peer_, {at, size}, bytes, {}) != Post::done) {
                make_progress();
            }
        }
    }
    void send_address() {
        const RemoteMemory memory = endpoint_->describe(outgoing_);
        while (endpoint_->post_eager(peer_, {memory.address, memory.key}, {}) != Post::done) {
            make_progress();
        }
    }
    /// Copies what arrives until `size` bytes and `messages` messages came since the last call.
    void receive(std::size_t size, std::size_t messages) {
        while (received_bytes_ < size || received_messages_ < messages) make_progress();
        received_bytes_ -= size;
        received_messages_ -= messages;
    }
    void get(std::size_t size) {
        receive(0, 1);
        const MutableBytes target(incoming_.data(), size);
        const Post post = endpoint_->post_get(
            peer_, {last_header_.first, last_header_.second}, target, {}
        );
        if (post != Post::done) std::abort();
    }

  private:
    /// As the runtime opens it.
    static std::unique_ptr<Endpoint> open(const ShmArea& area, std::uint32_t rank) {
        shm::Options options = area.options(rank);
        options.ring_fence = register_ring_fence();
        area.doorbells()[rank].adopt(options.ring_fence);
        return *shm::open_endpoint(options);
    }
    void make_progress() {
        std::array<Arrival, 16> arrivals;
        const std::size_t count = endpoint_->poll(arrivals);
        for (std::size_t i = 0; i < count; ++i) {
            const Bytes payload = arrivals[i].payload;
            plain_copy(incoming_.data() + place_, payload.data(), payload.size());
            place_ += payload.size();
            if (place_ >= arrivals[i].header.second) place_ = 0;
            received_bytes_ += payload.size();
            last_header_ = arrivals[i].header;
        }
        received_messages_ += count;
    }

    std::unique_ptr<Endpoint> endpoint_;
    std::uint32_t rank_;
    PeerIndex peer_;
    std::vector<std::byte> outgoing_;
    std::vector<std::byte> incoming_;
    std::size_t place_ = 0;
    std::size_t received_bytes_ = 0;
    std::size_t received_messages_ = 0;
    MessageHeader last_header_;
};

/// Nanoseconds per call of `exchange`, in the best of the rounds. Both sides run it.
template<typename Exchange>
double best_ns(int repetitions, const Exchange& exchange) {
    double best = 1e18;
    for (int round = 0; round < rounds; ++round) {
        const std::uint64_t begin = monotonic_ns();
        for (int i = 0; i < repetitions; ++i) exchange();
        best = std::min(best, double(monotonic_ns() - begin) / repetitions);
    }
    return best;
}

template<typename Send, typename Receive>
double half_round_trip_ns(Side& side, int repetitions, const Send& send, const Receive& receive) {
    const double both = best_ns(repetitions, [&] {
        if (side.is_first()) {
            send();
            receive();
        } else {
            receive();
            send();
        }
    });
    return both / 2;
}

int repetitions_for(std::size_t size) {
    return static_cast<int>(std::clamp<std::size_t>(20'000'000 / (size + 1000), 10, 10'000));
}

void report(const Side& side, std::string_view what, std::size_t size, double ns) {
    if (!side.is_first()) return;
    fmt::print(
        "{:<22} {:>9} B {:>10.3f} us {:>8.2f} GB/s\n", what, size, ns / 1000, double(size) / ns
    );
    std::fflush(stdout);
}

void run_eager(Side& side) {
    for (const std::size_t size : {8, 40, 64, 256, 1024, 2048, 4096, 8192}) {
        const double ns = half_round_trip_ns(
            side, repetitions_for(size), [&] { side.send_eager(size); },
            [&] { side.receive(size, 1); }
        );
        report(side, "eager", size, ns);
    }
}

void run_fragments(Side& side) {
    for (const std::size_t fragment : {8192, 16384, 32768, 65536}) {
        for (std::size_t size = 8192; size <= message_bytes_max; size *= 2) {
            if (fragment > size || size / fragment > 128) continue;
            const double ns = half_round_trip_ns(
                side, repetitions_for(size), [&] { side.send_fragments(size, fragment); },
                [&] { side.receive(size, size / fragment); }
            );
            report(side, fmt::format("fragments of {}", fragment), size, ns);
        }
    }
}

void run_get(Side& side) {
    for (std::size_t size = 4096; size <= message_bytes_max; size *= 2) {
        const double ns = half_round_trip_ns(
            side, repetitions_for(size), [&] { side.send_address(); }, [&] { side.get(size); }
        );
        report(side, "get", size, ns);
    }
}

/// Windows of 64 messages one way, then one back.
void run_window(Side& side, std::string_view what, std::initializer_list<std::size_t> sizes) {
    constexpr int window = 64;
    for (const std::size_t size : sizes) {
        const double ns = best_ns(repetitions_for(size * window), [&] {
            if (side.is_first()) {
                for (int i = 0; i < window; ++i) side.send_eager(size);
                side.receive(8, 1);
            } else {
                side.receive(size * window, window);
                side.send_eager(8);
            }
        });
        report(side, what, size, ns / window);
        if (side.is_first()) fmt::print("{:>70.2f} M/s\n", 1000 / (ns / window));
    }
}

void run_bell(const ShmArea& area) {
    Doorbell& bell = area.doorbells()[1];
    for (const RingFence fence : {RingFence::full, register_ring_fence()}) {
        const bool is_full = fence == RingFence::full;
        const double ns = best_ns(1'000'000, [&] { static_cast<void>(bell.ring(fence)); });
        fmt::print("ring an awake peer, {}: {:.2f} ns\n", is_full ? "fenced" : "membarrier", ns);
    }
}

/// With many peers that have spoken once: what an idle poll costs.
void run_idle() {
    for (const std::uint32_t size : {2u, 8u, 33u, 128u}) {
        const ShmArea area(size);
        const std::unique_ptr<Endpoint> receiver = area.open(0);
        std::array<Arrival, 16> arrivals;
        for (std::uint32_t rank = 1; rank < size; ++rank) {
            static_cast<void>(area.open(rank)->post_eager(PeerIndex{0}, {}, {}));
        }
        while (receiver->has_work()) static_cast<void>(receiver->poll(arrivals));
        const double poll_ns = best_ns(100'000, [&] {
            static_cast<void>(receiver->poll(arrivals));
        });
        const double work_ns = best_ns(100'000, [&] { static_cast<void>(receiver->has_work()); });
        fmt::print(
            "idle, {:>3} senders: poll {:.1f} ns, has_work {:.1f} ns\n", size - 1, poll_ns, work_ns
        );
    }
}

void play(const ShmArea& area, std::uint32_t rank, const std::vector<std::string_view>& wanted) {
    pin(static_cast<int>(rank));
    const auto is_wanted = [&](std::string_view name) {
        return wanted.empty() || std::ranges::find(wanted, name) != wanted.end();
    };
    Side side(area, rank);
    if (is_wanted("eager")) run_eager(side);
    if (is_wanted("fragments")) run_fragments(side);
    if (is_wanted("get")) run_get(side);
    if (is_wanted("window")) run_window(side, "window", {8, 64, 256, 1024, 4096, 8192});
    if (is_wanted("rate")) run_window(side, "window", {8});
    if (side.is_first() && is_wanted("bell")) run_bell(area);
    if (side.is_first() && is_wanted("idle")) run_idle();
}

}  // namespace
}  // namespace dlrt::testing

int main(int argc, char** argv) {
    using namespace dlrt::testing;
    const std::vector<std::string_view> wanted(argv + 1, argv + argc);
    const ShmArea area(2);
    const pid_t child = ::fork();
    if (child == 0) {
        play(area, 1, wanted);
        std::_Exit(0);
    }
    play(area, 0, wanted);
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
}
