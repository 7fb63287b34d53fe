// SPDX-License-Identifier: Apache-2.0
/// What is behind the Core while it is in a job. Private to core*.cpp. Thread: as core.hpp says.
#pragma once

#include "runtime/base/config.hpp"
#include "runtime/core.hpp"
#include "runtime/heap.hpp"
#include "runtime/progress_thread.hpp"
#include "transports/tcp/tcp.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace dlrt {

/// How a rank leaves.
enum class Farewell : std::uint8_t {
    met_all,
    alone,  ///< Others must not wait for it in vain.
};

class Core::State {
  public:
    /// Numbers of the contexts that exist without being asked for; a rank's own begin after them.
    static constexpr std::uint32_t world_number = 0;
    static constexpr std::uint32_t meeting_number = 2;
    static constexpr std::uint32_t self_number = 4;
    static constexpr std::uint32_t first_free_number = 6;

    /// Everything from the environment to the world communicator. Errors: see Core::init.
    [[nodiscard]] static Result<std::unique_ptr<State>> open(
        ThreadLevel required, ProgressBy progress, std::optional<KeyValueStore> store
    );

    /// Waits for all ranks and for what is in flight; what goes wrong is logged, the way out is
    /// open.
    /// Fails when a rank has gone without coming here.
    [[nodiscard]] Status meet_all();
    /// Closes the engine, marks the rank finalized or departed, and leaves the source.
    void leave(Farewell farewell);
    /// Whether what this rank sends was handed over in that time.
    [[nodiscard]] bool hand_over(std::int64_t timeout_ms);
    void abort(int status, std::string_view text);
    /// In a forked child: only system calls.
    void abandon() noexcept {
        source_->abandon();
        if (tcp_ != nullptr) tcp_->abandon();
    }

    [[nodiscard]] Engine& engine() { return *engine_; }
    [[nodiscard]] FlightRecorder& flight() { return *flight_; }
    [[nodiscard]] Heap& heap() { return *heap_; }
    [[nodiscard]] ThreadLevel thread_level() const { return thread_level_; }
    [[nodiscard]] const JobMap& job_map() const { return membership_->map; }
    [[nodiscard]] const Settings& settings() const { return settings_; }
    [[nodiscard]] const CollectiveSettings& collective_settings() const {
        return collective_settings_;
    }
    [[nodiscard]] const CommunicatorRef& world() const { return world_; }
    [[nodiscard]] const CommunicatorRef& self() const { return self_; }
    /// generation (12 bits) | leader's rank (20) | its running number (32). The generation keeps
    /// apart what ranks say before and after they have finalized and initialised again.
    [[nodiscard]] ContextId context(std::uint32_t number, std::uint32_t leader) const;
    [[nodiscard]] ContextId new_context() {
        return context(next_number_.fetch_add(2, std::memory_order_relaxed), membership_->rank);
    }

  private:
    State(Settings settings, CollectiveSettings collective_settings, ThreadLevel level)
        : settings_(std::move(settings)),
          collective_settings_(std::move(collective_settings)),
          thread_level_(level) {}
    Status join(std::optional<KeyValueStore> store);
    Status open_engine();
    Status open_endpoints(Engine::Options& options);
    [[nodiscard]] Result<std::unique_ptr<tcp::TcpEndpoint>> open_tcp();
    [[nodiscard]] std::string tcp_name() const;
    /// What the last error says, to all that count on this rank.
    [[nodiscard]] Status fail_others(Status status);
    [[nodiscard]] WaitBudget choose_budget() const;
    void claim_rank();
    void make_communicators();
    void report_unreceived();
    [[nodiscard]] const RankEntry& place() const {
        return membership_->map.ranks[membership_->rank];
    }
    [[nodiscard]] LifeCell& life() const { return membership_->segment.life(place().local_rank); }

    Settings settings_;
    CollectiveSettings collective_settings_;
    ThreadLevel thread_level_;
    ProgressBy progress_by_ = ProgressBy::callers;
    std::unique_ptr<WireupSource> source_;
    std::optional<Membership> membership_;
    std::optional<FlightRecorder> flight_;
    RingFence ring_fence_ = RingFence::full;
    std::uint32_t generation_ = 0;
    std::unique_ptr<Heap> heap_;  ///< Its endpoints read out of it.
    std::unique_ptr<Engine> engine_;
    bool has_put_address_ = false;
    tcp::TcpEndpoint* tcp_ = nullptr;  ///< The engine's; null where all ranks are on this host.
    std::unique_ptr<ProgressThread> progress_thread_;
    CommunicatorRef world_;
    CommunicatorRef self_;
    std::atomic<std::uint32_t> next_number_{first_free_number};
};

}  // namespace dlrt
