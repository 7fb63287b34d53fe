// SPDX-License-Identifier: Apache-2.0
#include "runtime/mpi/exchange.hpp"

#include "runtime/mpi/request_task.hpp"

namespace dlrt::mpi {
namespace {

class Exchange final : public RequestTask {
  public:
    Exchange(Comm& comm, const ExchangeSides& sides, std::unique_ptr<std::byte[]> copy)
        : RequestTask(comm, "isendrecv"), sides_(sides), copy_(std::move(copy)) {
        keep_layout(sides_.source_buffer.layout, source_layout_);
        keep_layout(sides_.target_buffer.layout, target_layout_);
    }

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

    ExchangeSides sides_;
    std::unique_ptr<std::byte[]> copy_;
    LayoutRef source_layout_, target_layout_;
    Request* receive_ = nullptr;
    Request* send_ = nullptr;
    MessageStatus found_;
    Errc error_ = Errc::ok;
    std::string words_;
};

}  // namespace

Request* start_exchange(Comm& comm, const ExchangeSides& sides, std::unique_ptr<std::byte[]> copy) {
    return start_task(std::make_shared<Exchange>(comm, sides, std::move(copy)));
}

}  // namespace dlrt::mpi
