// SPDX-License-Identifier: Apache-2.0
/// The life of the one runtime: join, open, leave, abort, and what a forked child finds.
#include "runtime/core.hpp"

#include "runtime/base/check.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/base/log.hpp"
#include "runtime/collective.hpp"
#include "runtime/core_state.hpp"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <pthread.h>
#include <unistd.h>
#include <utility>

namespace dlrt {
namespace {

/// Between init and finalize a process is in the job; afterwards it may come again.
enum class Phase : std::uint8_t { before, inside, after, forked };
constinit std::atomic<Phase> phase{Phase::before};
/// Held by init and finalize: two threads that call them at once are told, not mixed.
constinit std::mutex entry_mutex;

}  // namespace

constinit std::atomic<Core*> Core::instance_{nullptr};

Core::Core() = default;
Core::~Core() = default;

namespace {

/// The parent's, in a forked child: still reachable, so that nobody takes it for a leak. Atomic,
/// for a plain one that nobody reads isn't written either.
constinit std::atomic<const Core*> left_by_parent{nullptr};

/// The child shares sockets and memory with its parent and must touch neither.
void forget_in_child(Core::State* state) noexcept {
    if (state != nullptr) state->abandon();
    phase.store(Phase::forked, std::memory_order_relaxed);
}

}  // namespace

void Core::on_fork_child() noexcept {
    Core* core = instance_.exchange(nullptr, std::memory_order_relaxed);
    left_by_parent.store(core, std::memory_order_relaxed);
    if (core != nullptr) forget_in_child(core->state_.get());
}

Status Core::enter(Wish wish, std::optional<KeyValueStore> store) {
    const std::lock_guard lock(entry_mutex);
    if (phase.load(std::memory_order_relaxed) == Phase::forked) return absence();
    if (get() != nullptr) {
        return fail(Errc::already_initialized, "dlrt is initialised; finalize it first");
    }
    static const int registered = ::pthread_atfork(nullptr, nullptr, [] { on_fork_child(); });
    if (registered != 0) return fail_errno(registered, "register a handler for fork");

    Result<std::unique_ptr<State>> state = State::open(wish.level, wish.progress, std::move(store));
    if (!state) return state.error();
    auto core = std::unique_ptr<Core>(new Core);
    core->state_ = std::move(*state);
    phase.store(Phase::inside, std::memory_order_relaxed);
    // Publishes all of the above; pairs with get(). Owned by the process from here to finalize.
    instance_.store(core.release(), std::memory_order_release);
    return {};
}

Status Core::init(ThreadLevel required, ProgressBy progress) {
    return enter({required, progress}, std::nullopt);
}

Status Core::init_with_store(ThreadLevel required, KeyValueStore store, ProgressBy progress) {
    return enter({required, progress}, std::move(store));
}

template<typename Part>
Status Core::end_after(const char* call, const Part& part) {
    const std::unique_lock lock(entry_mutex, std::try_to_lock);
    if (!lock.owns_lock()) {
        return fail(Errc::thread, "another thread is inside init or finalize");
    }
    Core* core = get();
    if (core == nullptr) return absence();
    if (core->flight().has_other_threads_inside()) {
        return fail(Errc::thread, "{} while other threads are inside calls of dlrt", call);
    }
    Status outcome;
    const Farewell farewell = part(*core->state_, outcome);
    const std::string reason = outcome.ok() ? std::string() : last_error_text();
    instance_.store(nullptr, std::memory_order_release);
    phase.store(Phase::after, std::memory_order_relaxed);
    const std::unique_ptr<Core> owned(core);
    owned->state_->leave(farewell);
    if (outcome.ok()) return {};
    return store_failure(outcome.code, 0, fmt::format("this rank has left, but {}", reason));
}

Status Core::finalize() {
    return end_after("finalize", [](State& state, Status& outcome) {
        const Status met = state.meet_all();
        if (met.ok()) return Farewell::met_all;
        outcome = store_failure(
            met.code, 0, fmt::format("not all others came: {}", last_error_text())
        );
        return Farewell::alone;
    });
}

Status Core::leave(std::int64_t timeout_ms) {
    return end_after("leave", [timeout_ms](State& state, Status& outcome) {
        if (!state.hand_over(timeout_ms)) {
            outcome = fail(
                Errc::timeout, "not all that it sends has been received within {} ms", timeout_ms
            );
        }
        return Farewell::alone;
    });
}

Status Core::absence() {
    switch (phase.load(std::memory_order_relaxed)) {
        case Phase::forked:
            return fail(
                Errc::forked,
                "this process was forked from a rank after init; only the rank itself "
                "may call dlrt"
            );
        case Phase::after:
            return fail(Errc::not_initialized, "dlrt has been finalized");
        case Phase::before:
        case Phase::inside:
            break;
    }
    return fail(Errc::not_initialized, "dlrt has not been initialised");
}

bool Core::is_finalized() {
    return phase.load(std::memory_order_relaxed) == Phase::after;
}

void Core::abort(std::int32_t code, std::string_view text) {
    const int low_bits = static_cast<int>(static_cast<std::uint32_t>(code) & 0xffU);
    const int status = low_bits != 0 ? low_bits : 1;
    if (Core* core = get(); core != nullptr) {
        core->state_->abort(status, text);
    } else {
        write_log_line("abort", fmt::format("status {}: {}", status, text));
    }
    // What the program has printed should be seen, but no lock of a stuck thread may keep us.
    if (::ftrylockfile(stdout) == 0) ::fflush_unlocked(stdout);
    ::_exit(status);
}

Engine& Core::engine() {
    return state_->engine();
}

FlightRecorder& Core::flight() {
    return state_->flight();
}

Heap& Core::heap() {
    return state_->heap();
}

ThreadLevel Core::thread_level() const {
    return state_->thread_level();
}

const JobMap& Core::job_map() const {
    return state_->job_map();
}

const Settings& Core::settings() const {
    return state_->settings();
}

const CollectiveSettings& Core::collective_settings() const {
    return state_->collective_settings();
}

const CommunicatorRef& Core::world() const {
    return state_->world();
}

const CommunicatorRef& Core::self() const {
    return state_->self();
}

ContextId Core::new_context() {
    return state_->new_context();
}

ContextId Core::meeting_context() const {
    return state_->context(State::meeting_number, 0);
}

}  // namespace dlrt
