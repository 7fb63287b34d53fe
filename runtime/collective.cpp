// SPDX-License-Identifier: Apache-2.0
#include "runtime/collective.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/collective_comparison.hpp"
#include "runtime/host_collective_call.hpp"

namespace dlrt {
namespace {

using Form = CollectiveOperation::Form;

Result<CollectiveOperation*> open(
    const CommunicatorRef& comm, const CollectiveCall& call, Form form
) {
    CollectiveOperation& operation = comm->collective_state().take();
    const Status status = operation.open(*comm, call, form);
    if (!status.ok()) {
        static_cast<void>(comm->collective_state().give_back(operation));
        return status;
    }
    operation.keep(comm);
    return &operation;
}

/// Of the operation that is about to begin, where others have been waiting for some time.
Status compare_with_waiters(Communicator& comm) {
    if (!comm.engine().has_long_waiters()) [[likely]]
        return {};
    const CallInProgress call{
        comm.everybody().get(), comm.user_context(), comm.next_operation_number(Persistence::once),
        comm.rank_among_all()};
    return compare_with_waiters(comm.engine(), call);
}

}  // namespace

Status take_turn(Communicator& comm, Call call) {
    const Call other = comm.collective_state().enter(call);
    if (other == Call::none) return {};
    return fail(
        Errc::thread,
        "another thread is in {} of the same communicator ({} ranks, context {}): one thread at a "
        "time calls its collectives",
        call_name(other), comm.size(), static_cast<std::uint64_t>(comm.user_context())
    );
}

Status run_collective(Communicator& comm, const CollectiveCall& call) {
    if (comm.host_collective() != nullptr) {
        if (const auto done = run_over_host_cells(comm, call)) return *done;
    }
    if (const Status status = compare_with_waiters(comm); !status.ok()) return status;
    CollectiveOperation& operation = comm.collective_state().blocking();
    const Status status = operation.open(comm, call, Form::blocking);
    return status.ok() ? comm.engine().run(operation) : status;
}

Result<Request*> start_collective(const CommunicatorRef& comm, const CollectiveCall& call) {
    if (const Status status = compare_with_waiters(*comm); !status.ok()) return status;
    const auto operation = open(comm, call, Form::nonblocking);
    if (!operation) return operation.error();
    return comm->engine().start_task(**operation);
}

Result<Request*> init_collective(const CommunicatorRef& comm, const CollectiveCall& call) {
    const auto operation = open(comm, call, Form::persistent);
    if (!operation) return operation.error();
    return comm->engine().task_init(**operation);
}

}  // namespace dlrt
