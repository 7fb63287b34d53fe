// SPDX-License-Identifier: Apache-2.0
/// What the functions of mpi.h share: the objects behind its handles, and the short way to the
/// core.
///
/// A process has one Surface beside its one Core, which outlives MPI_Finalize. Threads: as the
/// standard says; the tables lock at MPI_THREAD_MULTIPLE only, except those of objects that may be
/// used before MPI_Init.
#pragma once

#include "runtime/core.hpp"
#include "runtime/handle_table.hpp"
#include "runtime/mpi/comm.hpp"
#include "runtime/mpi/handles.hpp"
#include "runtime/mpi/op.hpp"
#include "runtime/mpi/type.hpp"
#include "runtime/recent_calls.hpp"
#include "runtime/request_state.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

namespace dlrt::mpi {

struct MessageEntry {
    MatchedMessage* message = nullptr;
    CommRef comm;
};

/// An object that one call uses. Where threads share the tables it is kept until the call is over.
template<typename T>
struct Use {
    T* pointer = nullptr;
    std::shared_ptr<T> keeper;
    [[nodiscard]] T& operator*() const { return *pointer; }
    [[nodiscard]] T* operator->() const { return pointer; }
};

class Surface {
  public:
    enum class Phase : std::uint8_t { before, inside, after };

    Surface();
    [[nodiscard]] static Surface& get() { return *instance_; }

    /// Makes the core's objects reachable. Once.
    void attach(Core& core);
    /// Forgets all objects of the job, after finalize.
    void detach();
    [[nodiscard]] Phase phase() const { return phase_.load(std::memory_order_acquire); }
    /// Whether a call may take the short way: there is a core, for one thread at a time.
    [[nodiscard]] bool is_ready_and_alone() const {
        const Core* const core = Core::get();
        return core != nullptr && core == core_alone_;
    }
    [[nodiscard]] bool is_ready() const {
        return phase() == Phase::inside && Core::get() != nullptr;
    }

    HandleTable<CommRef> comms{first_own_index};
    HandleTable<GroupRef> groups{first_own_index};
    HandleTable<TypeRef> types{first_own_index};
    HandleTable<MessageEntry> messages{first_own_index};
    HandleTable<OpRef> ops{first_own_index};
    HandleTable<InfoRef> infos{first_own_index};
    HandleTable<ErrorHandlerRef> error_handlers{first_own_index};
    const InfoRef environment_info = std::make_shared<Info>();  ///< MPI_INFO_ENV.
    const GroupRef empty_group = std::make_shared<const Group>(std::vector<WorldRank>{});

    /// Null for what is no communicator.
    [[nodiscard]] Comm* find(MPI_Comm handle, CommRef& keeper);
    [[nodiscard]] CommRef share(MPI_Comm handle);
    [[nodiscard]] TypeRef share(MPI_Datatype handle);
    /// The communicator that calls used last: found at once by the next. REQUIRES: not shared.
    [[nodiscard]] Comm* find_recent(MPI_Comm handle) const {
        return handle == recent_handle_ ? recent_ : nullptr;
    }
    void note_recent(MPI_Comm handle, Comm* comm) {
        if (is_shared) return;
        recent_handle_ = handle;
        recent_ = comm;
    }
    /// Before a communicator goes.
    void forget_recent() {
        recent_calls.forget();
        recent_handle_ = MPI_COMM_NULL;
        recent_ = nullptr;
    }

    /// The small collectives that were made last.
    RecentCalls recent_calls;

    /// By number less 0x200; null where a message needs more than a look. Never changes.
    std::array<const LayoutRef*, predefined_type_count> layouts{};

    // Valid from MPI_Init to MPI_Finalize.
    CommRef world, self;
    Engine* engine = nullptr;
    RequestPool* requests = nullptr;  ///< Its requests are what request handles stand for.
    FlightRecorder* flight = nullptr;
    bool is_shared = false;  ///< Several threads may be inside.
    bool owns_core = false;  ///< MPI_Init has made it.

  private:
    static Surface* const instance_;
    std::atomic<Phase> phase_{Phase::before};
    Core* core_alone_ = nullptr;
    MPI_Comm recent_handle_ = MPI_COMM_NULL;
    Comm* recent_ = nullptr;
};

/// One call of a function of mpi.h: knows its name and whose error handler decides, and finds what
/// its handles stand for. Its functions return MPI_SUCCESS or an error class with words stored.
class Site {
  public:
    /// For what is about no communicator.
    explicit Site(const char* function) : function_(function), surface_(Surface::get()) {
        if (!surface_.is_ready()) [[unlikely]]
            refuse_time();
    }
    Site(const char* function, MPI_Comm comm) : function_(function), surface_(Surface::get()) {
        if (surface_.is_ready_and_alone()) [[likely]] {
            comm_.pointer = surface_.find_recent(comm);
            if (comm_.pointer != nullptr) [[likely]]
                return;
        }
        open(comm);
    }
    /// May be called before MPI_Init and after MPI_Finalize too.
    enum class Time : std::uint8_t { any };
    Site(const char* function, Time) : function_(function), surface_(Surface::get()) {}

    [[nodiscard]] bool ok() const { return error_ == MPI_SUCCESS; }
    /// What the function has to return where it isn't ok.
    [[nodiscard]] int error() const { return error_; }
    [[nodiscard]] Surface& surface() const { return surface_; }
    [[nodiscard]] Engine& engine() const { return *surface_.engine; }
    [[nodiscard]] const char* function() const { return function_; }
    /// REQUIRES: ok(), and it is of a communicator.
    [[nodiscard]] Comm& comm() const { return *comm_.pointer; }
    [[nodiscard]] Communicator& core() const { return *comm_.pointer->core; }

    /// Stores the words; the class is to be raised.
    template<typename... Args>
    [[gnu::cold, gnu::noinline]] int bad(
        int error_class, fmt::format_string<Args...> format, Args&&... args
    ) const {
        store_words(fmt::format(format, std::forward<Args>(args)...));
        return error_class;
    }
    /// Calls the error handler. The words are those stored last.
    [[gnu::cold]] int raise(int code) const;
    template<typename... Args>
    [[gnu::cold, gnu::noinline]] int raise(
        int error_class, fmt::format_string<Args...> format, Args&&... args
    ) const {
        return raise(bad(error_class, format, std::forward<Args>(args)...));
    }
    /// Of the core; MPI_SUCCESS where it is none.
    int raise(Status status) const { return status.ok() ? MPI_SUCCESS : raise(class_of(status)); }
    int require(const void* pointer, const char* name, int error_class = MPI_ERR_ARG) const {
        if (pointer != nullptr) [[likely]]
            return MPI_SUCCESS;
        return bad(error_class, "{} is null", name);
    }
    int require_not_negative(std::int64_t number, const char* name, int error_class) const {
        if (number >= 0) [[likely]]
            return MPI_SUCCESS;
        return bad(error_class, "{} {} is negative", name, number);
    }

    int use(MPI_Comm handle, Use<Comm>& use, const char* name = "comm") const;
    /// Any type, committed or not.
    int use(MPI_Datatype handle, Use<Type>& use, const char* name = "datatype") const;
    int use(MPI_Group handle, GroupRef& group, const char* name = "group") const;
    int use(MPI_Info handle, InfoRef& info) const;
    int use(MPI_Errhandler handle, ErrorHandlerRef& handler) const;
    int use(MPI_Op handle, OpRef& op) const;

    /// Puts an object behind a new handle.
    int give(CommRef comm, MPI_Comm* handle) const;
    int give(TypeRef type, MPI_Datatype* handle) const;
    int give(GroupRef group, MPI_Group* handle) const;
    int give(MessageEntry entry, MPI_Message* handle) const;
    int give(OpRef op, MPI_Op* handle) const;
    int give(InfoRef info, MPI_Info* handle) const;
    int give(ErrorHandlerRef handler, MPI_Errhandler* handle) const;

  private:
    void open(MPI_Comm comm);
    [[gnu::cold]] void refuse_time();
    void store_words(std::string words) const;

    const char* function_;
    Surface& surface_;
    Use<Comm> comm_;
    int error_ = MPI_SUCCESS;
};

/// Calls the handler of a communicator; null: the one that holds where there is none.
[[gnu::cold]] int raise_on(Comm* comm, const char* function, int code);

/// The call's record in the flight ring, from here to the end of the scope.
class FlightMark {
  public:
    FlightMark(const Surface& surface, const FlightRecorder::Operation& operation)
        : flight_(*surface.flight), sequence_(flight_.enter(operation)) {}
    FlightMark(const FlightMark&) = delete;
    FlightMark& operator=(const FlightMark&) = delete;
    ~FlightMark() { flight_.finish(sequence_); }

  private:
    FlightRecorder& flight_;
    std::uint64_t sequence_;
};

[[nodiscard]] inline FlightRecorder::Operation record_of(Call call, const Communicator& comm) {
    return {.call = call, .context = static_cast<std::uint64_t>(comm.user_context())};
}

inline ContextId new_context() {
    return Core::get()->new_context();
}

/// A communicator of MPI around one of the core's, with the parent's error handler, behind a
/// handle; MPI_COMM_NULL where the core made none for this rank.
int give_created(
    const Site& site, const Result<CommunicatorRef>& made, const Comm& parent, MPI_Comm* handle
);
[[nodiscard]] CommRef wrap(CommunicatorRef core, const ErrorHandlerRef& handler);

}  // namespace dlrt::mpi
