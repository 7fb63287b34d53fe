// SPDX-License-Identifier: Apache-2.0
/// Several engines in one process, a thread each, over one host segment: for tests of the engine.
#pragma once

#include "runtime/base/error_text.hpp"
#include "runtime/base/fd.hpp"
#include "runtime/engine.hpp"
#include "runtime/wireup/host_segment.hpp"
#include "tests/support/fake_transport.hpp"
#include "transports/loopback/loopback.hpp"
#include "transports/shm/shm.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace dlrt::testing {

/// What the engines are connected by.
struct Wiring {
    std::optional<FakeOptions> fake;  ///< None: shm.
    bool allow_cross_memory = true;
    /// Of the fake: on descriptors of its own, as a network does.
    bool has_sleep_descriptors = false;
    ThreadMode thread_mode = ThreadMode::single;
    /// False: each process opens its own engine after fork().
    bool is_one_process = true;
    WaitBudget budget{.spin_rounds = 0, .yield_rounds = 8, .shared_yield_ns = 1200};
};

inline Wiring over_fake(std::uint64_t seed, FakeGet get = FakeGet::granted) {
    Wiring wiring;
    wiring.fake = FakeOptions{};
    wiring.fake->seed = seed;
    wiring.fake->get = get;
    return wiring;
}

class Cluster {
  public:
    Cluster(std::uint32_t size, Wiring wiring)
        : size_(size), wiring_(std::move(wiring)), segment_(make_segment(size)), fence_(fence()) {
        if (wiring_.has_sleep_descriptors) make_descriptors();
        if (wiring_.fake) {
            if (!wiring_.has_sleep_descriptors) {
                wiring_.fake->wake = [this](std::uint32_t rank) {
                    static_cast<void>(segment_.doorbell(rank).ring(fence_));
                };
            }
            network_.emplace(size, *wiring_.fake);
        }
        engines_.resize(size);
        for (std::uint32_t rank = 0; rank < size && wiring_.is_one_process; ++rank) open(rank);
    }

    Engine& open(std::uint32_t rank) {
        engines_[rank] = make_engine(rank);
        return *engines_[rank];
    }
    [[nodiscard]] std::uint32_t size() const { return size_; }
    [[nodiscard]] Engine& engine(std::uint32_t rank) { return *engines_[rank]; }
    [[nodiscard]] HostSegment& segment() { return segment_; }

    /// Runs body(rank, engine) on a thread per rank and hands its messages over; passes the first
    /// exception on.
    void run(const std::function<void(WorldRank, Engine&)>& body) {
        std::vector<std::string> errors(size_);
        std::vector<std::thread> threads;
        for (std::uint32_t rank = 0; rank < size_; ++rank) {
            threads.emplace_back([&, rank] {
                try {
                    Engine& engine = *engines_[rank];
                    body(static_cast<WorldRank>(rank), engine);
                    // As finalize does: others may still need what this rank has queued.
                    engine.wait_until([&] { return !engine.has_outgoing(); });
                } catch (const std::exception& error) {
                    errors[rank] = error.what();
                    // The others must not wait for this rank for ever.
                    static_cast<void>(segment_.raise_abort(1, rank, error.what()));
                }
            });
        }
        for (std::thread& thread : threads) thread.join();
        std::string all;
        for (std::uint32_t rank = 0; rank < size_; ++rank) {
            if (!errors[rank].empty())
                all += "rank " + std::to_string(rank) + ": " + errors[rank] + "; ";
        }
        if (!all.empty()) throw std::runtime_error(all);
    }

  private:
    static HostSegment make_segment(std::uint32_t size) {
        std::vector<std::uint32_t> ranks(size);
        std::iota(ranks.begin(), ranks.end(), 0u);
        auto made = HostSegment::create(
            {.job_id = "test", .host_index = 0, .usable_cpu_count = 1, .world_ranks = ranks}
        );
        if (!made) throw std::runtime_error(last_error_text());
        return std::move(*made);
    }
    void make_descriptors() {
        const auto make = [](std::vector<Fd>& into) {
            into.emplace_back(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
            if (!into.back().is_open()) throw std::runtime_error("no eventfd");
        };
        for (std::uint32_t rank = 0; rank < size_; ++rank) {
            make(doorbells_);
            make(sleep_descriptors_);
            wiring_.fake->sleep_descriptors.push_back(sleep_descriptors_.back().get());
        }
        segment_.set_wake_descriptor([this](std::uint32_t rank) {
            const std::uint64_t one = 1;
            [[maybe_unused]] const ssize_t size = ::write(doorbells_[rank].get(), &one, sizeof one);
        });
    }
    static RingFence fence() {
        static const RingFence registered = register_ring_fence();
        return registered;
    }

    std::unique_ptr<Endpoint> open_remote(std::uint32_t rank) {
        if (network_) return network_->open_endpoint(rank);
        shm::Options options;
        options.area = segment_.transport_area();
        options.local_rank = rank;
        options.local_size = size_;
        options.doorbells = &segment_.doorbell(0);
        options.ring_fence = fence_;
        options.copy_table = shm::builtin_copy_table();
        options.allow_cross_memory = wiring_.allow_cross_memory;
        auto endpoint = shm::open_endpoint(std::move(options));
        if (!endpoint) throw std::runtime_error(last_error_text());
        return std::move(*endpoint);
    }

    std::unique_ptr<Engine> make_engine(std::uint32_t rank) {
        Engine::Options options;
        options.rank = static_cast<WorldRank>(rank);
        options.local_rank = rank;
        options.segment = &segment_;
        options.ring_fence = fence_;
        options.wait_budget = wiring_.budget;
        if (!doorbells_.empty()) options.doorbell_descriptor = doorbells_[rank].get();
        options.endpoints.push_back(loopback::open_endpoint());
        options.endpoints.push_back(open_remote(rank));
        for (std::uint32_t other = 0; other < size_; ++other) {
            const bool is_self = other == rank;
            options.routes.push_back({is_self ? 0u : 1u, PeerIndex{is_self ? 0u : other}});
            options.world_rank_of_local.push_back(static_cast<WorldRank>(other));
        }
        auto engine = std::make_unique<Engine>(std::move(options));
        engine->set_thread_mode(wiring_.thread_mode);
        return engine;
    }

    std::uint32_t size_;
    Wiring wiring_;
    HostSegment segment_;
    RingFence fence_;
    std::vector<Fd> doorbells_;          ///< By rank; empty without sleep descriptors.
    std::vector<Fd> sleep_descriptors_;  ///< The same.
    std::optional<FakeNetwork> network_;
    std::vector<std::unique_ptr<Engine>> engines_;
};

/// Like REQUIRE, on any thread.
inline void demand(bool holds, const char* what) {
    if (!holds) throw std::runtime_error(std::string("not so: ") + what);
}
#define DLRT_DEMAND(condition) ::dlrt::testing::demand((condition), #condition)

inline constexpr ContextId test_context{8};

inline ConstBuffer bytes_to_send(const std::vector<std::byte>& data) {
    return {data.data(), data.size(), &Layout::of(ElementType::byte)};
}
inline Buffer bytes_to_fill(std::vector<std::byte>& data) {
    return {data.data(), data.size(), &Layout::of(ElementType::byte)};
}

/// Byte i of a message with this seed, as in case B05.
inline std::byte pattern_byte(std::uint64_t seed, std::uint64_t i) {
    return static_cast<std::byte>(static_cast<std::uint32_t>((i + seed) * 2654435761u) >> 24);
}
inline std::vector<std::byte> pattern(std::uint64_t seed, std::size_t size) {
    std::vector<std::byte> made(size);
    for (std::size_t i = 0; i < size; ++i) made[i] = pattern_byte(seed, i);
    return made;
}

}  // namespace dlrt::testing
