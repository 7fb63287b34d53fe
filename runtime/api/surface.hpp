// SPDX-License-Identifier: Apache-2.0
/// What the functions of dlrt.h share: the tables behind its handles, and a short way to the core.
///
/// A process has one Surface beside its one Core. It outlives every init and finalize, so that a
/// handle of an earlier round is still recognised as stale. Threads: as dlrt.h says; the tables
/// lock at DLRT_THREAD_MULTIPLE only.
#pragma once

#include "runtime/base/error_text.hpp"
#include "runtime/core.hpp"
#include "runtime/handle_table.hpp"
#include "runtime/include/dlrt.h"
#include "runtime/reducer.hpp"
#include "runtime/request_state.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <string>

namespace dlrt {
class RecentCalls;
}  // namespace dlrt

namespace dlrt::api {

enum class Direction : std::uint8_t { send, receive };

struct MessageEntry {
    MatchedMessage* message = nullptr;
    GroupRef translation;
};

/// One of each ReduceOp, the null one among them.
inline constexpr std::uint32_t built_in_op_count = 14;

class Surface {
  public:
    Surface();
    [[nodiscard]] static Surface& get() { return *instance_; }

    /// Makes the core's objects reachable in one load each. Once per init.
    void attach(Core& core);
    /// Forgets all handles, after finalize.
    void detach();
    [[nodiscard]] bool is_attached_to(const Core* core) const {
        // Pairs with the store in attach().
        return core_.load(std::memory_order_acquire) == core;
    }
    /// Whether a call may take the short way: the runtime is there, for one thread at a time.
    [[nodiscard]] bool is_ready_and_alone() const {
        const Core* const core = Core::get();
        // Pairs with the store in attach().
        return core != nullptr && core == core_alone_.load(std::memory_order_acquire);
    }

    /// Groups of calls that are open, in whatever thread. While there are any no call takes the
    /// short way.
    [[nodiscard]] std::uint32_t open_call_groups() const {
        return open_call_groups_.load(std::memory_order_relaxed);
    }
    void call_group_opened() { count_call_groups(1); }
    void call_group_closed() { count_call_groups(-1); }

    HandleTable<CommunicatorRef> communicators{3};
    HandleTable<GroupRef> groups{2};
    HandleTable<LayoutRef> types{element_type_count};
    HandleTable<MessageEntry> messages{2};
    HandleTable<UserOpRef> ops{built_in_op_count};
    const GroupRef empty_group = std::make_shared<const Group>(std::vector<WorldRank>{});

    /// The communicator that point-to-point calls used last, or the world: found at once by the
    /// next. REQUIRES of all three: not shared.
    [[nodiscard]] const Communicator* find_recent(dlrt_comm handle) const {
        return std::bit_cast<std::uint64_t>(handle) == recent_handle_ ? recent_ : nullptr;
    }
    void note_recent(dlrt_comm handle, const Communicator* comm) {
        recent_handle_ = std::bit_cast<std::uint64_t>(handle);
        recent_ = comm;
    }
    /// Before a communicator goes.
    void forget_recent();
    [[nodiscard]] RecentCalls& recent_calls() { return *recent_calls_; }

    // Valid while attached.
    Communicator* world = nullptr;
    Communicator* self = nullptr;
    Engine* engine = nullptr;
    RequestPool* requests = nullptr;  ///< Its requests are what request handles stand for.
    FlightRecorder* flight = nullptr;
    bool is_shared = false;  ///< Several threads may be inside.
    std::array<const LayoutRef*, element_type_count> elements{};

  private:
    void count_call_groups(std::int32_t change);
    /// REQUIRES: attach_mutex_ is held.
    void choose_short_way(Core* core);

    static Surface* const instance_;
    std::uint64_t recent_handle_ = 0;
    const Communicator* recent_ = nullptr;
    RecentCalls* const recent_calls_;  ///< As the surface, never destroyed.
    std::atomic<Core*> core_{nullptr};
    std::atomic<Core*> core_alone_{nullptr};  ///< The same unless shared or in a group.
    std::atomic<std::uint32_t> open_call_groups_{0};
    std::mutex attach_mutex_;
};

[[nodiscard]] inline dlrt_err to_c(Status status) {
    return static_cast<dlrt_err>(status.code);
}

/// An entry that one call uses. Where threads share the tables it is a copy, which outlives a
/// removal.
template<typename T>
struct Use {
    T* pointer = nullptr;
    std::shared_ptr<T> keeper;
};
/// The engine takes a layout by the address of its reference.
struct LayoutUse {
    const LayoutRef* reference = nullptr;
    LayoutRef keeper;
    [[nodiscard]] const Layout& layout() const { return **reference; }
};

/// One call of a function of dlrt.h: knows its name, decides its errors.
class Site {
  public:
    explicit Site(const char* function) : function_(function), surface_(Surface::get()) {
        Core* core = Core::get();
        if (core != nullptr && surface_.is_attached_to(core)) [[likely]]
            return;
        enter_slowly(core);
    }
    /// False: the runtime is not there; error() says why.
    [[nodiscard]] bool is_ready() const { return error_.ok(); }
    [[nodiscard]] dlrt_err error() const { return to_c(error_); }

    [[nodiscard]] Surface& surface() const { return surface_; }
    [[nodiscard]] Engine& engine() const { return *surface_.engine; }
    [[nodiscard]] const char* function() const { return function_; }

    /// Decides an error of this call, its text starting with the function's name.
    template<typename... Args>
    [[gnu::cold, gnu::noinline]] Status fail(
        Errc code, fmt::format_string<Args...> format, Args&&... args
    ) const {
        const std::string text = fmt::format(format, std::forward<Args>(args)...);
        return store_failure(code, 0, fmt::format("{}: {}", function_, text));
    }
    /// Passes on an error that the core has just decided, with the function's name before its text.
    [[gnu::cold]] Status pass(Status status) const;

    /// A result or another pointer that must not be null. Errors: Errc::argument.
    Status require(const void* pointer, const char* name) const {
        if (pointer != nullptr) [[likely]]
            return {};
        return fail(Errc::argument, "{} is null", name);
    }

    Status use(dlrt_comm handle, Use<Communicator>& use) const {
        if (handle.index == 1 && handle.generation == 0) [[likely]] {
            use.pointer = surface_.world;
            return {};
        }
        return use_other(handle, use);
    }
    Status use(dlrt_type handle, LayoutUse& use) const {
        if (handle.generation == 0 && handle.index - 1 < element_type_count - 1) [[likely]] {
            use.reference = surface_.elements[handle.index];
            return {};
        }
        return use_other(handle, use);
    }
    Status use(dlrt_group handle, GroupRef& group) const;
    /// Those of users only.
    Status use(dlrt_op handle, UserOpRef& op) const;

    /// Puts a new object behind a handle. Errors: Errc::limit.
    Status give(CommunicatorRef comm, dlrt_comm* handle) const;
    Status give(GroupRef group, dlrt_group* handle) const;
    Status give(LayoutRef layout, dlrt_type* handle) const;
    Status give(MessageEntry entry, dlrt_message* handle) const;
    Status give(UserOpRef op, dlrt_op* handle) const;

  private:
    [[gnu::cold]] void enter_slowly(Core* core);
    Status use_other(dlrt_comm handle, Use<Communicator>& use) const;
    Status use_other(dlrt_type handle, LayoutUse& use) const;

    const char* function_;
    Surface& surface_;
    Status error_;
};

/// The call's record in the flight ring, from here to the end of the scope.
class FlightMark {
  public:
    FlightMark(const Surface& surface, const FlightRecorder::Operation& operation)
        : flight_(*surface.flight), sequence_(flight_.enter(operation)) {}
    FlightMark(const Site& site, const FlightRecorder::Operation& operation)
        : FlightMark(site.surface(), operation) {}
    FlightMark(const FlightMark&) = delete;
    FlightMark& operator=(const FlightMark&) = delete;
    ~FlightMark() { flight_.finish(sequence_); }

  private:
    FlightRecorder& flight_;
    std::uint64_t sequence_;
};

/// The same on the short way. REQUIRES: the surface is not shared.
class LoneFlightMark {
  public:
    LoneFlightMark(const Surface& surface, const FlightRecorder::Operation& operation)
        : flight_(*surface.flight), sequence_(flight_.enter_alone(operation)) {}
    LoneFlightMark(const LoneFlightMark&) = delete;
    LoneFlightMark& operator=(const LoneFlightMark&) = delete;
    ~LoneFlightMark() { flight_.finish_alone(sequence_); }

  private:
    FlightRecorder& flight_;
    std::uint64_t sequence_;
};

[[nodiscard]] inline Handle to_handle(auto handle) {
    return {handle.index, handle.generation};
}

}  // namespace dlrt::api
