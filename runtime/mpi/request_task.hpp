// SPDX-License-Identifier: Apache-2.0
/// Requests that are tasks of the engine: each keeps itself until the engine has retired it.
#pragma once

#include "runtime/engine_task.hpp"
#include "runtime/mpi/request_site.hpp"

#include <memory>
#include <string>
#include <utility>

namespace dlrt::mpi {

class RequestTask : public RequestNote, public EngineTask {
  public:
    /// `call`: what it is, for those who wonder why it waits.
    RequestTask(Comm& comm, const char* call)
        : RequestNote(comm), comm_keeper_(comm.shared_from_this()), call_(call) {}

    void compare_calls(EngineInside&) override {}
    [[nodiscard]] std::string describe_wait(EngineInside&) const override { return call_; }
    void retire(EngineInside&) override {
        const std::shared_ptr<RequestTask> last = std::move(self_);
    }

  protected:
    ~RequestTask() override = default;

  private:
    friend Request* start_task(std::shared_ptr<RequestTask> task);
    CommRef comm_keeper_;
    const char* call_;
    std::shared_ptr<RequestTask> self_;
};

/// Begins it; the request has no handle yet.
[[nodiscard]] inline Request* start_task(std::shared_ptr<RequestTask> task) {
    RequestTask& running = *task;
    running.self_ = task;
    Request* const request = Surface::get().engine->start_task(running);
    set_note(*request, std::move(task));
    return request;
}

}  // namespace dlrt::mpi
