// SPDX-License-Identifier: Apache-2.0
/// The one runtime of a process, whatever surfaces it has loaded: joins the job, opens transports,
/// owns the engine, the world and self communicators, and leaves.
///
/// init, init_with_store, finalize: one thread. get(): any thread, one load.
#pragma once

#include "runtime/base/export.hpp"
#include "runtime/collective_settings.hpp"
#include "runtime/communicator.hpp"
#include "runtime/flight_recorder.hpp"
#include "runtime/wireup_source.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <string_view>

namespace dlrt {

class Heap;
struct Settings;

enum class ThreadLevel : std::uint8_t { single, funneled, serialized, multiple };
/// Who advances operations that don't block: those who call, or a thread beside them.
enum class ProgressBy : std::uint8_t { callers, thread };

class DLRT_CORE Core {
  public:
    /// A thread that makes progress, wanted here or by DLRT_PROGRESS_THREAD, raises the level to
    /// multiple. Joins through choose_source(), or through the caller's store. Errors:
    /// already_initialized, wireup, forked.
    static Status init(ThreadLevel required, ProgressBy progress = ProgressBy::callers);
    static Status init_with_store(
        ThreadLevel required, KeyValueStore store, ProgressBy progress = ProgressBy::callers
    );
    /// Completes what is in flight, waits for all ranks, leaves. Errors: not_initialized; thread
    /// when other threads are inside a call.
    static Status finalize();
    /// Leaves without meeting anybody, as a process that ends, when what it sends has been handed
    /// over or the time is up. Errors: those of finalize; timeout: it has left all the same.
    static Status leave(std::int64_t timeout_ms);
    /// Null before init, after finalize and in a child forked after init.
    [[nodiscard]] static Core* get() { return instance_.load(std::memory_order_acquire); }
    /// Why get() is null: not_initialized or forked, with text.
    static Status absence();
    [[nodiscard]] static bool is_finalized();
    /// Ends the job. Never returns; works without init too (then it only ends this process).
    [[noreturn]] static void abort(std::int32_t code, std::string_view text);

    [[nodiscard]] Engine& engine();
    [[nodiscard]] FlightRecorder& flight();
    [[nodiscard]] Heap& heap();
    [[nodiscard]] ThreadLevel thread_level() const;
    [[nodiscard]] const JobMap& job_map() const;
    [[nodiscard]] const Settings& settings() const;
    [[nodiscard]] const CollectiveSettings& collective_settings() const;
    [[nodiscard]] const CommunicatorRef& world() const;
    [[nodiscard]] const CommunicatorRef& self() const;
    /// A context pair (see communicator.hpp) that this process has never used before. Any thread.
    [[nodiscard]] ContextId new_context();
    /// For creations that have no parent communicator: a context on which every world rank listens.
    [[nodiscard]] ContextId meeting_context() const;

    ~Core();

    class State;

  private:
    Core();
    /// `part` of the state is done first, and says how this rank leaves.
    template<typename Part>
    static Status end_after(const char* call, const Part& part);
    struct Wish {
        ThreadLevel level;
        ProgressBy progress;
    };
    static Status enter(Wish wish, std::optional<KeyValueStore> store);
    static void on_fork_child() noexcept;

    static std::atomic<Core*> instance_;
    std::unique_ptr<State> state_;
};

}  // namespace dlrt
