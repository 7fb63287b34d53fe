// SPDX-License-Identifier: Apache-2.0
/// Generalised requests: the program says when they are complete. For the engine each is a task
/// that waits for a message of the process to itself, so that completing one wakes whoever waits.
#include "runtime/mpi/request_task.hpp"

#include <atomic>
#include <mpi_functions.hpp>

namespace dlrt::mpi {
namespace {

struct GeneralFunctions {
    MPI_Grequest_query_function* query = nullptr;
    MPI_Grequest_free_function* free = nullptr;
    MPI_Grequest_cancel_function* cancel = nullptr;
    void* extra_state = nullptr;
};

/// A context that is only used for these messages.
ContextId wake_context(const Core* core) {
    static std::mutex mutex;
    static const Core* known_core = nullptr;
    static ContextId context{};
    const std::scoped_lock guard(mutex);
    if (known_core != core) context = new_context();
    known_core = core;
    return context;
}

class GeneralRequest final : public RequestTask {
  public:
    GeneralRequest(Comm& comm, const GeneralFunctions& functions, Route route)
        : RequestTask(comm, "generalised request"), functions_(functions), route_(route) {}

    void complete() {
        is_over_.store(true, std::memory_order_release);
        Engine& engine = *Surface::get().engine;
        const LayoutRef& byte = Layout::of(ElementType::byte);
        engine.release(engine.isend(SendMode::standard, route_, {nullptr, 0, &byte}));
        if (is_let_go_) static_cast<void>(call_free());
    }

    [[nodiscard]] bool is_special() const override { return true; }
    [[nodiscard]] int report(const Request&, MPI_Status& status) override {
        write_sent_status(&status);
        const int said = functions_.query != nullptr
                             ? functions_.query(functions_.extra_state, &status)
                             : MPI_SUCCESS;
        return said;
    }
    [[nodiscard]] int cancel(Request&) override {
        if (functions_.cancel == nullptr) return MPI_SUCCESS;
        const bool is_over = is_over_.load(std::memory_order_acquire);
        return functions_.cancel(functions_.extra_state, is_over ? 1 : 0);
    }
    [[nodiscard]] int let_go() override {
        is_let_go_ = true;
        return is_over_.load(std::memory_order_acquire) ? call_free() : MPI_SUCCESS;
    }

    void restart(EngineInside& inside) override {
        receive_ = &inside.irecv(route_, {nullptr, 0, &Layout::of(ElementType::byte)}, 0);
    }
    Progress advance(EngineInside& inside) override {
        if (receive_ == nullptr) return Progress::over;
        if (!is_complete(*receive_)) return Progress::waiting;
        inside.release(*receive_);
        receive_ = nullptr;
        return Progress::over;
    }
    [[nodiscard]] Status outcome() const override { return {}; }

  private:
    int call_free() {
        return functions_.free != nullptr ? functions_.free(functions_.extra_state) : MPI_SUCCESS;
    }

    GeneralFunctions functions_;
    Route route_;
    Request* receive_ = nullptr;
    std::atomic<bool> is_over_{false};
    bool is_let_go_ = false;
};

}  // namespace

int MPI_Grequest_start(
    MPI_Grequest_query_function* query_fn, MPI_Grequest_free_function* free_fn,
    MPI_Grequest_cancel_function* cancel_fn, void* extra_state, MPI_Request* request
) {
    const Site site("MPI_Grequest_start");
    if (!site.ok()) return site.error();
    if (const int wrong = site.require(request, "request")) return site.raise(wrong);
    static std::atomic<Tag> next_tag{0};
    const Tag tag = next_tag.fetch_add(1, std::memory_order_relaxed) & 0x7fffffff;
    const Route route{wake_context(Core::get()), site.surface().world->core->rank(), tag};
    auto made = std::make_shared<GeneralRequest>(
        *site.surface().world, GeneralFunctions{query_fn, free_fn, cancel_fn, extra_state}, route
    );
    give_request(*start_task(std::move(made)), request);
    return MPI_SUCCESS;
}

int MPI_Grequest_complete(MPI_Request request) {
    const Site site("MPI_Grequest_complete");
    if (!site.ok()) return site.error();
    Request* found = nullptr;
    if (const int wrong = find_request(site, &request, found)) return site.raise(wrong);
    auto* const general = found != nullptr ? dynamic_cast<GeneralRequest*>(note_of(*found))
                                           : nullptr;
    if (general == nullptr) {
        return site.raise(MPI_ERR_REQUEST, "the request isn't a generalised one");
    }
    general->complete();
    return MPI_SUCCESS;
}

}  // namespace dlrt::mpi
