// SPDX-License-Identifier: Apache-2.0
#include "runtime/host_collective_call.hpp"

#include "collectives/algorithm_rules.hpp"
#include "collectives/contract.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/base/log.hpp"
#include "runtime/communicator.hpp"
#include "runtime/core.hpp"
#include "runtime/host_collective.hpp"

namespace dlrt {
namespace {

void explain(Communicator& comm, const coll::Operation& operation) {
    // Stands for the cells: it isn't used where they are.
    const coll::Algorithm& replaced = coll::choose_algorithm(operation);
    if (comm.rank() != 0 || !comm.collective_state().is_news(replaced, operation.total_bytes)) {
        return;
    }
    write_log_line(
        "explain", fmt::format(
                       "{} of {} bytes on {} ranks: cells, small and all ranks are on one host",
                       coll::name_of(operation.collective), operation.total_bytes, operation.size
                   )
    );
}

/// A measured table knows the algorithms over messages only.
bool has_user_another_wish(const coll::Operation& operation, const coll::Preferences& preferences) {
    if (preferences.empty()) return false;
    const coll::Choice choice = coll::choose_algorithm(operation, preferences);
    return choice.reason != coll::Choice::Reason::table &&
           choice.reason != coll::Choice::Reason::tuned;
}

bool suits(Communicator& comm, const CollectiveCall& call, std::uint64_t total_bytes) {
    // Communicators of tests have no core, and so no user.
    const Core* const core = Core::get();
    if (core == nullptr) return true;
    const CollectiveSettings& settings = core->collective_settings();
    const coll::OperandOrder order = call.reducer != nullptr ? call.reducer->operand_order()
                                                             : coll::OperandOrder::any;
    const coll::Operation operation{
        call.collective, comm.size(), total_bytes, order, comm.collective_state().groups(comm)};
    if (has_user_another_wish(operation, settings.rules)) return false;
    if (settings.is_explaining) [[unlikely]]
        explain(comm, operation);
    return true;
}

/// What the data is made of, the same on all ranks however they have put it together.
void describe_elements(const CollectiveCall& call, HostCall& made) {
    // In place one of them is not there.
    const LayoutRef* const layout = call.input.layout != nullptr ? call.input.layout
                                                                 : call.output.layout;
    made.element = (*layout)->element();
    if (made.element == ElementType::none) {
        made.signature = agreement_of(call, CollectiveForm::blocking).signature;
    }
}

/// The data of a call that goes over cells, in the memory of the communicator's.
Status run_with_data(Communicator& comm, const CollectiveCall& call, std::uint64_t size_bytes) {
    HostCollective& host = *comm.host_collective();
    PieceWorks& pieces = host.pieces();
    HostCall host_call;
    host_call.collective = call.collective;
    host_call.root = call.root;
    host_call.placement = pieces.placement();
    host_call.size_bytes = size_bytes;
    host_call.reducer = call.reducer;
    describe_elements(call, host_call);
    const std::uint64_t staging_bytes = pieces.staging_bytes();
    const std::uint64_t reduction_bytes = call.reducer != nullptr ? call.reducer->memory_bytes()
                                                                  : 0;
    std::byte* const staging = host.staging().at_least(staging_bytes);
    host_call.reduction_memory = host.reduction_memory().at_least(reduction_bytes);
    if ((staging_bytes > 0 && staging == nullptr) ||
        (reduction_bytes > 0 && host_call.reduction_memory == nullptr)) {
        return fail(
            Errc::no_memory, "{}: no memory for {} bytes beside the buffers",
            coll::name_of(call.collective), staging_bytes + reduction_bytes
        );
    }
    pieces.use_staging(staging);
    const Piece piece = pieces.begin();
    host_call.input = piece.input;
    host_call.output = piece.output;
    host_call.number.value = comm.take_operation_numbers(1, Persistence::once);
    const Status status = host.run(host_call);
    if (!status.ok()) return status;
    static_cast<void>(pieces.finish());
    const bool is_plain = call.reducer == nullptr || call.reducer->is_plain();
    const std::uint64_t contribution_bytes = coll::contribution_bytes(
        call.collective, comm.size(), size_bytes
    );
    const bool is_one_piece = size_bytes > 0 && contribution_bytes <= coll::cell_bytes_max;
    host.set_repeatable(is_plain && staging_bytes == 0 && is_one_piece);
    return {};
}

}  // namespace

std::optional<Status> run_over_host_cells(Communicator& comm, const CollectiveCall& call) {
    HostCollective& host = *comm.host_collective();
    host.set_repeatable(false);
    if (call.collective == coll::Collective::barrier) {
        if (!suits(comm, call, 0)) return std::nullopt;
        HostCall barrier;
        barrier.number.value = comm.take_operation_numbers(1, Persistence::once);
        const Status status = host.run(barrier);
        host.set_repeatable(status.ok());
        return status;
    }
    if (call.is_uneven()) return std::nullopt;
    if (call.reducer != nullptr && !call.reducer->is_defined()) return std::nullopt;
    // What is cut into several pieces is too long anyway.
    constexpr std::uint64_t piece_bytes_max = std::uint64_t{1} << 20;
    host.pieces().open(call, comm.size(), comm.rank(), piece_bytes_max);
    const std::uint64_t total_bytes = host.pieces().longest_piece_bytes();
    const std::uint64_t rank_count = coll::has_blocks(call.collective)
                                         ? static_cast<std::uint64_t>(comm.size())
                                         : 1;
    const std::uint64_t size_bytes = total_bytes / rank_count;
    if (!host.takes(call.collective, size_bytes)) return std::nullopt;
    const std::uint64_t unit = call.reducer != nullptr ? call.reducer->unit_bytes() : 1;
    // Elements aren't cut.
    if (coll::contribution_bytes(call.collective, comm.size(), unit) > coll::cell_bytes_max)
        return std::nullopt;
    if (!suits(comm, call, total_bytes)) return std::nullopt;
    return run_with_data(comm, call, size_bytes);
}

}  // namespace dlrt
