// SPDX-License-Identifier: Apache-2.0
#include "runtime/mpi/exchange.hpp"

#include "runtime/engine_task.hpp"
#include "runtime/mpi/request_site.hpp"

namespace dlrt::mpi {
namespace {

class Exchange final : public RequestNote, public EngineTask {
  public:
    Exchange(Comm& comm, const ExchangeSides& sides, std::unique_ptr<std::byte[]> copy)
        : RequestNote(comm),
          comm_keeper_(comm.shared_from_this()),
          sides_(sides),
          copy_(std::move(copy)) {
        keep_layout(sides_.source_buffer.layout, source_layout_);
        keep_layout(sides_.target_buffer.layout, target_layout_);
    }

    /// Of the engine until it has retired the task.
    void keep(std::shared_ptr<Exchange> self) { self_ = std::move(self); }

    [[nodiscard]] bool is_special() const override { return true; }
    [[nodiscard]] int report(const Request& request, MPI_Status& status) override {
        if (sides_.source) {
            write_found(found_, *comm().core, &status);
        } else {
            write_no_peer_status(&status);
        }
        return request.error == 0 ? MPI_SUCCESS : class_of(outcome());
    }
    [[nodiscard]] int cancel(Request&) override { return MPI_SUCCESS; }

    void restart(EngineInside& inside) override {
        if (sides_.source) receive_ = &inside.irecv(*sides_.source, sides_.target_buffer, 0);
        if (sides_.target) send_ = &inside.isend(*sides_.target, sides_.source_buffer, 0);
    }
    Progress advance(EngineInside& inside) override {
        if (receive_ != nullptr && is_complete(*receive_)) {
            found_ = status_of(*receive_);
            note(*receive_);
            inside.release(*receive_);
            receive_ = nullptr;
        }
        if (send_ != nullptr && is_complete(*send_)) {
            note(*send_);
            inside.release(*send_);
            send_ = nullptr;
        }
        return receive_ == nullptr && send_ == nullptr ? Progress::over : Progress::waiting;
    }
    [[nodiscard]] Status outcome() const override {
        return error_ == Errc::ok ? Status{} : store_failure(error_, 0, words_);
    }
    void compare_calls(EngineInside&) override {}
    void retire(EngineInside&) override { const std::shared_ptr<Exchange> last = std::move(self_); }

  private:
    static void keep_layout(const LayoutRef*& layout, LayoutRef& keeper) {
        if (layout == nullptr) return;
        keeper = *layout;
        layout = &keeper;
    }
    void note(const Request& request) {
        const Status failed = outcome_of(request);
        if (failed.ok() || error_ != Errc::ok) return;
        error_ = failed.code;
        words_ = last_error_text();
    }

    CommRef comm_keeper_;
    ExchangeSides sides_;
    std::unique_ptr<std::byte[]> copy_;
    LayoutRef source_layout_, target_layout_;
    Request* receive_ = nullptr;
    Request* send_ = nullptr;
    MessageStatus found_;
    Errc error_ = Errc::ok;
    std::string words_;
    std::shared_ptr<Exchange> self_;
};

}  // namespace

Request* start_exchange(Comm& comm, const ExchangeSides& sides, std::unique_ptr<std::byte[]> copy) {
    auto made = std::make_shared<Exchange>(comm, sides, std::move(copy));
    made->keep(made);
    Request* const request = Surface::get().engine->start_task(*made);
    set_note(*request, std::move(made));
    return request;
}

}  // namespace dlrt::mpi
