// SPDX-License-Identifier: Apache-2.0
#include "runtime/mpi/collective_site.hpp"

#include "runtime/collective_agreement.hpp"
#include "runtime/mpi/request_site.hpp"

namespace dlrt::mpi {
namespace {

/// The turn of one thread among several in the collectives of a communicator.
class Turn {
  public:
    Turn(const Site& site, Call call) {
        if (!site.surface().is_shared) return;
        refusal_ = take_turn(site.core(), call);
        if (refusal_.ok()) state_ = &site.core().collective_state();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() {
        if (state_ != nullptr) state_->leave();
    }
    [[nodiscard]] Status refusal() const { return refusal_; }

  private:
    CollectiveState* state_ = nullptr;
    Status refusal_;
};

/// The core takes a base of null for none; see use_buffer().
constexpr std::int64_t elsewhere = 64;

CollectiveForm form_of(Form form) {
    switch (form) {
        case Form::blocking:
            return CollectiveForm::blocking;
        case Form::nonblocking:
            return CollectiveForm::nonblocking;
        case Form::persistent:
            break;
    }
    return CollectiveForm::persistent;
}

}  // namespace

CollectiveSite::CollectiveSite(const Entry& entry, MPI_Comm comm, const RecentCall* recent)
    : entry_(entry), recent_(recent), site_(entry.function, comm), code_(site_.error()) {
    if (code_ != MPI_SUCCESS || entry.form == Form::blocking) return;
    const int wrong = site_.require(entry.request, "request");
    if (wrong != MPI_SUCCESS) code_ = site_.raise(wrong);
}

int CollectiveSite::check_root(int root) const {
    if (root >= 0 && root < core().size()) [[likely]]
        return MPI_SUCCESS;
    return site_.bad(MPI_ERR_ROOT, "root {} is not in 0..{}", root, core().size() - 1);
}

int CollectiveSite::set_input(const BufferArguments& buffer) {
    if (const int wrong = use_buffer(site_, buffer, input_use_, input_)) return wrong;
    call_.input = input_.source();
    return MPI_SUCCESS;
}

int CollectiveSite::set_output(const BufferArguments& buffer) {
    if (const int wrong = use_buffer(site_, buffer, output_use_, output_)) return wrong;
    call_.output = output_.target();
    return MPI_SUCCESS;
}

int CollectiveSite::set_list(const ListArguments& list, std::int64_t block_count, List& made) {
    const auto size = static_cast<std::size_t>(block_count);
    const bool has_types = list.type_count == ListArguments::Types::each;
    if (size > 0 && list.counts->is_null()) {
        return site_.bad(MPI_ERR_ARG, "the counts of {} are null", list.name);
    }
    if (size > 0 && has_types && list.types == nullptr) {
        return site_.bad(MPI_ERR_ARG, "the types of {} are null", list.name);
    }
    const bool has_places = list.displacements != nullptr && !list.displacements->is_null();
    if (size > 0 && list.displacements != nullptr && !has_places) {
        return site_.bad(MPI_ERR_ARG, "the displacements of {} are null", list.name);
    }
    made.counts = size > 0 ? list.counts->copy(size) : std::vector<std::int64_t>();
    if (has_places) made.displacements = list.displacements->copy(size);
    // What is pointed to must not move.
    made.uses.resize(has_types ? size : 1);
    for (std::size_t i = 0; i < size; ++i) {
        const std::size_t place = has_types ? i : 0;
        MPI_Datatype type = list.types[place];
        // Nobody looks at the type of nothing.
        if (has_types && made.counts[i] == 0) type = MPI_BYTE;
        // Elements at an absolute address: the displacement, of which the base is taken off again.
        const bool is_absolute = list.base == nullptr && has_places && has_types &&
                                 is_always_there(type);
        if (is_absolute) made.displacements[i] -= elsewhere;
        Transfer block;
        const void* const somewhere = reinterpret_cast<const void*>(elsewhere);
        const int wrong = use_buffer(
            site_, {is_absolute ? somewhere : list.base, made.counts[i], type}, made.uses[place],
            block
        );
        if (wrong != MPI_SUCCESS) return wrong;
        made.size_bytes += block.size_bytes;
    }
    for (const BufferUse& use : made.uses) {
        if (size == 0) break;
        made.layouts.push_back(use.moved != nullptr ? &use.moved : &use.type->layout);
    }
    made.blocks.displacement_unit = has_types ? BlockList::Unit::bytes : BlockList::Unit::extents;
    made.blocks.counts = made.counts;
    made.blocks.displacements = made.displacements;
    made.blocks.layouts = made.layouts;
    return MPI_SUCCESS;
}

int CollectiveSite::set_input_list(const ListArguments& list, std::int64_t block_count) {
    if (const int wrong = set_list(list, block_count, lists_[0])) return wrong;
    const bool is_moved = list.base == nullptr && lists_[0].size_bytes > 0;
    call_.input.address = is_moved ? reinterpret_cast<const void*>(elsewhere) : list.base;
    call_.input_list = &lists_[0].blocks;
    input_.size_bytes = lists_[0].size_bytes;
    return MPI_SUCCESS;
}

int CollectiveSite::set_output_list(const ListArguments& list, std::int64_t block_count) {
    if (const int wrong = set_list(list, block_count, lists_[1])) return wrong;
    const bool is_moved = list.base == nullptr && lists_[1].size_bytes > 0;
    // The core writes to the output only.
    call_.output.address = is_moved ? reinterpret_cast<void*>(elsewhere)
                                    : const_cast<void*>(list.base);
    call_.output_list = &lists_[1].blocks;
    output_.size_bytes = lists_[1].size_bytes;
    return MPI_SUCCESS;
}

int CollectiveSite::set_op(MPI_Op op, MPI_Datatype type) {
    if (const int wrong = site_.use(type, op_use_.type)) return wrong;
    if (op_use_.type->layout == nullptr) {
        return site_.bad(MPI_ERR_TYPE, "{} isn't supported here", op_use_.type->name);
    }
    if (const int wrong = use_op(site_, op, *op_use_.type, type, reducer_)) return wrong;
    call_.reducer = &reducer_;
    return MPI_SUCCESS;
}

int CollectiveSite::refuse_same() const {
    const bool are_both = input_.size_bytes > 0 && output_.size_bytes > 0;
    if (!are_both || call_.is_in_place || call_.input.address != call_.output.address) {
        return MPI_SUCCESS;
    }
    // Different types at MPI_BOTTOM are at different places.
    if (reinterpret_cast<std::uintptr_t>(call_.input.address) == elsewhere) return MPI_SUCCESS;
    return site_.bad(MPI_ERR_BUFFER, "both buffers are the same; pass MPI_IN_PLACE to work in one");
}

int CollectiveSite::refuse_in_place(const void* address) const {
    if (address != MPI_IN_PLACE) return MPI_SUCCESS;
    return site_.bad(MPI_ERR_BUFFER, "MPI_IN_PLACE isn't valid here");
}

int CollectiveSite::run(const FlightRecorder::Operation& record) {
    const Status outcome = run_collective(core(), call_);
    if (!outcome.ok()) return site_.raise(outcome);
    const bool is_kept = recent_ != nullptr && can_be_repeated(*recent_) &&
                         !core().is_between_groups() && site_.surface().is_ready_and_alone();
    if (is_kept) site_.surface().recent_calls.note(*recent_, core(), record);
    return MPI_SUCCESS;
}

int CollectiveSite::make_request(bool is_persistent) {
    const CommunicatorRef& shared = site_.comm().core;
    const Result<Request*> made = is_persistent ? init_collective(shared, call_)
                                                : start_collective(shared, call_);
    if (!made) return class_of(made.error());
    set_comm(**made, site_.comm());
    give_request(**made, entry_.request);
    return MPI_SUCCESS;
}

int CollectiveSite::conclude(int wrong, Call call) {
    if (wrong == MPI_SUCCESS) wrong = refuse_same();
    if (wrong != MPI_SUCCESS) return site_.raise(wrong);
    const Turn turn(site_, call);
    if (!turn.refusal().ok()) return site_.raise(turn.refusal());
    const bool is_persistent = entry_.form == Form::persistent;
    const OperationNumber number = core().next_operation_number(
        is_persistent ? Persistence::persistent : Persistence::once
    );
    const Agreement agreement = agreement_of(call_, form_of(entry_.form));
    const FlightRecorder::Operation record{
        .call = call,
        .place = {agreement.root, number.short_form()},
        .context = static_cast<std::uint64_t>(core().user_context()),
        .size_bytes = input_.size_bytes,
        .arguments_hash = agreement.packed(),
    };
    const FlightMark mark(site_.surface(), record);
    if (entry_.form == Form::blocking) return run(record);
    const int failed = make_request(is_persistent);
    return failed != MPI_SUCCESS ? site_.raise(failed) : MPI_SUCCESS;
}

}  // namespace dlrt::mpi
