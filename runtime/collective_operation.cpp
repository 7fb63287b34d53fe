// SPDX-License-Identifier: Apache-2.0
#include "runtime/collective_operation.hpp"

#include "collectives/algorithm_rules.hpp"
#include "runtime/base/check.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/base/log.hpp"
#include "runtime/communicator.hpp"
#include "runtime/core.hpp"

#include <numeric>

namespace dlrt {
namespace {

// Longer vectors are done piece by piece. All ranks cut alike: what is carried of the vector is the
// same everywhere. What goes on in the background is cut finer, so that others have their turn.
constexpr std::uint64_t piece_bytes_max = std::uint64_t{32} << 20;
constexpr std::uint64_t background_piece_bytes_max = std::uint64_t{4} << 20;
// Chunks of long vectors begin at multiples of this, for the reduction's sake.
constexpr std::uint64_t chunk_unit_bytes = 64;
constexpr std::uint64_t aligned_chunk_bytes_min = 1024;

std::string_view words_for(coll::Choice::Reason reason) {
    switch (reason) {
        case coll::Choice::Reason::rule:
            return "DLRT_ALGO names it";
        case coll::Choice::Reason::table:
            return "the usual one for this size";
        case coll::Choice::Reason::exclusion:
            return "DLRT_ALGO excludes the usual one";
        case coll::Choice::Reason::tuned:
            return "measured best on this host";
        case coll::Choice::Reason::fixed:
            return "the one with the same bits for every size";
    }
    return "";
}

/// Rank 0 tells of each kind and size once. `what`: of what data.
void tell(
    Communicator& comm, coll::Collective collective, const coll::Choice& choice,
    std::uint64_t size_bytes, std::string_view what
) {
    if (comm.rank() != 0) return;
    if (!comm.collective_state().is_news(*choice.algorithm, size_bytes)) return;
    std::string text = fmt::format(
        "{} {} on {} ranks: {}, {}", coll::name_of(collective), what, comm.size(),
        choice.algorithm->name, words_for(choice.reason)
    );
    if (choice.without_groups != nullptr) {
        text += fmt::format(
            "; {} {}", choice.without_groups->name, groups_restriction(*choice.without_groups)
        );
    }
    write_log_line("explain", text);
}

const coll::Algorithm& choose(Communicator& comm, const coll::Operation& operation) {
    // Communicators of tests have no core, and so no user.
    const Core* const core = Core::get();
    if (core == nullptr) return coll::choose_algorithm(operation);
    const CollectiveSettings& settings = core->collective_settings();
    const coll::Choice choice = coll::choose_algorithm(operation, settings.rules);
    if (settings.is_explaining) [[unlikely]] {
        const std::string what = fmt::format("of {} bytes", operation.total_bytes);
        tell(comm, operation.collective, choice, operation.total_bytes, what);
    }
    return *choice.algorithm;
}

/// For lists of counts.
const coll::Algorithm& choose_uneven(Communicator& comm, coll::Collective collective) {
    const Core* const core = Core::get();
    if (core == nullptr) return coll::choose_for_uneven_blocks(collective, comm.size());
    const CollectiveSettings& settings = core->collective_settings();
    const coll::Choice choice = coll::choose_for_uneven_blocks(
        collective, comm.size(), settings.rules.rules
    );
    constexpr std::uint64_t no_size = ~std::uint64_t{0};
    if (settings.is_explaining) [[unlikely]]
        tell(comm, collective, choice, no_size, "with lists of counts");
    return *choice.algorithm;
}

coll::ChunkSizes chunk_sizes(
    const coll::Schedule& schedule, std::uint64_t bytes, const Reducer* reducer
) {
    if (schedule.chunk_rule == coll::ChunkRule::block) return coll::ChunkSizes::block(bytes);
    const bool is_long = bytes >= schedule.chunk_count * aligned_chunk_bytes_min;
    const std::uint64_t unit = reducer != nullptr ? reducer->unit_bytes() : 1;
    if (!is_long || unit >= chunk_unit_bytes) {
        return coll::ChunkSizes::split(bytes, unit, schedule.chunk_count);
    }
    const std::uint64_t aligned = std::lcm(unit, chunk_unit_bytes);
    const bool aligns = aligned <= aligned_chunk_bytes_min;
    return coll::ChunkSizes::split(bytes, aligns ? aligned : unit, schedule.chunk_count);
}

}  // namespace

Status CollectiveOperation::open(Communicator& comm, const CollectiveCall& call, Form form) {
    call_ = call;
    comm_ = &comm;
    form_ = form;
    if (form != Form::blocking) hold_layouts();
    channel_.group = comm.everybody().get();
    channel_.context = comm.collective_context();
    channel_.number.persistence = form == Form::persistent ? Persistence::persistent
                                                           : Persistence::once;
    Status status;
    if (call.reducer != nullptr) {
        reducer_ = *call.reducer;
        call_.reducer = &reducer_;
        if (!reducer_.is_defined()) {
            return fail(
                Errc::op, "{}: {} is not defined", coll::name_of(call.collective),
                reducer_.description()
            );
        }
    }
    is_uneven_ = call_.is_uneven();
    if (!is_uneven_) {
        const bool is_background = form != Form::blocking;
        pieces_.open(
            call_, comm.size(), comm.rank(),
            is_background ? background_piece_bytes_max : piece_bytes_max
        );
        status = open_even(comm);
    } else {
        blocks_.open(call_, static_cast<std::size_t>(comm.rank()), comm.peer_count());
        status = open_uneven(comm);
    }
    if (!status.ok()) return status;
    // Between neighbours and between groups there is but one.
    const auto algorithm = static_cast<std::uint32_t>(
        algorithm_ != nullptr ? algorithm_ - coll::algorithms().data() : 0
    );
    channel_.check = agreement_of(call, form).check(algorithm);
    first_number_ = comm.take_operation_numbers(
        is_uneven_ ? 1 : pieces_.piece_count(), channel_.number.persistence
    );
    return {};
}

void CollectiveOperation::hold_layouts() {
    const auto hold = [](const LayoutRef*& layout, LayoutRef& held) {
        if (layout == nullptr) return;
        held = *layout;
        layout = &held;
    };
    hold(call_.input.layout, held_layouts_[0]);
    hold(call_.output.layout, held_layouts_[1]);
}

Status CollectiveOperation::no_memory(std::uint64_t bytes) const {
    return fail(
        Errc::no_memory, "{}: no memory for {} bytes beside the buffers",
        coll::name_of(call_.collective), bytes
    );
}

void CollectiveOperation::take_schedule(
    Communicator& comm, const coll::Algorithm& algorithm, coll::Placement placement
) {
    coll::Shape shape{comm.size(), comm.rank(), call_.root, placement};
    if (algorithm.groups_need != coll::GroupsNeed::none)
        shape.groups = comm.collective_state().groups(comm);
    if (&algorithm == algorithm_ && schedule_->shape == shape) return;
    schedule_ = comm.collective_state().schedule(algorithm, shape);
    algorithm_ = &algorithm;
}

Status CollectiveOperation::take_memory(std::uint64_t scratch_bytes, std::uint64_t staging_bytes) {
    if (scratch_.at_least(scratch_bytes) == nullptr && scratch_bytes > 0) {
        return no_memory(scratch_bytes);
    }
    if (staging_.at_least(staging_bytes) == nullptr && staging_bytes > 0) {
        return no_memory(staging_bytes);
    }
    const std::uint64_t reduction_bytes = call_.reducer != nullptr ? reducer_.memory_bytes() : 0;
    if (reduction_memory_.at_least(reduction_bytes) == nullptr && reduction_bytes > 0) {
        return no_memory(reduction_bytes);
    }
    return {};
}

Status CollectiveOperation::open_even(Communicator& comm) {
    const std::uint64_t longest_bytes = pieces_.longest_piece_bytes();
    const coll::OperandOrder order = call_.reducer != nullptr ? reducer_.operand_order()
                                                              : coll::OperandOrder::any;
    const coll::Algorithm& algorithm = choose(
        comm,
        {call_.collective, comm.size(), longest_bytes, order, comm.collective_state().groups(comm)}
    );
    take_schedule(comm, algorithm, pieces_.placement());
    const bool has_blocks = schedule_->chunk_rule == coll::ChunkRule::block;
    const std::uint64_t bytes = has_blocks ? longest_bytes / static_cast<std::uint64_t>(comm.size())
                                           : longest_bytes;
    const coll::ChunkSizes sizes = chunk_sizes(*schedule_, bytes, call_.reducer);
    const std::uint64_t staging_bytes = pieces_.staging_bytes();
    const Status status = take_memory(
        schedule_->scratch_chunks * sizes.full_bytes(), staging_bytes
    );
    if (status.ok() && staging_bytes > 0) pieces_.use_staging(staging_.at_least(staging_bytes));
    return status;
}

Status CollectiveOperation::open_uneven(Communicator& comm) {
    if (call_.is_between_groups) {
        schedule_ = comm.collective_state().schedule_between(
            call_.collective, comm.two_groups(call_.root)
        );
        algorithm_ = nullptr;
    } else if (coll::is_neighbour_exchange(call_.collective)) {
        schedule_ = comm.topology()->schedule(call_.collective);
        algorithm_ = nullptr;
    } else {
        take_schedule(comm, choose_uneven(comm, call_.collective), blocks_.placement());
    }
    const std::uint64_t staging_bytes = blocks_.staging_bytes();
    const Status status = take_memory(
        schedule_->scratch_chunks * blocks_.scratch_chunk_bytes(), staging_bytes
    );
    if (status.ok()) blocks_.use_staging(staging_.at_least(staging_bytes));
    return status;
}

void CollectiveOperation::restart(EngineInside& inside) {
    if (!is_uneven_) pieces_.restart();
    begin_piece(inside);
}

void CollectiveOperation::begin_piece(EngineInside& inside) {
    ScheduleBinding binding;
    binding.schedule = schedule_.get();
    binding.reducer = call_.reducer;
    binding.reduction_memory = reduction_memory_.memory();
    binding.scratch = scratch_.memory();
    std::uint64_t piece_number = 0;
    if (is_uneven_) {
        blocks_.begin();
        binding.sizes = coll::ChunkSizes::block(blocks_.scratch_chunk_bytes());
        binding.input_blocks = blocks_.input();
        binding.output_blocks = blocks_.output();
    } else {
        piece_number = pieces_.piece_number();
        const Piece piece = pieces_.begin();
        binding.sizes = chunk_sizes(*schedule_, piece.size_bytes, call_.reducer);
        binding.input = piece.input;
        binding.output = piece.output;
    }
    channel_.number.value = first_number_ + piece_number;
    runner_.bind(channel_, binding);
    runner_.restart(inside);
}

EngineTask::Progress CollectiveOperation::advance(EngineInside& inside) {
    const Progress progress = runner_.advance(inside);
    if (progress != Progress::over || !runner_.has_succeeded()) return progress;
    if (inside.has_waiting()) look_for_leftovers(inside);
    if (form_ == Form::nonblocking && runner_.has_succeeded()) runner_.look_at_targets(inside);
    if (runner_.is_suspicious()) return Progress::waiting;
    if (!runner_.has_succeeded()) return progress;
    if (is_uneven_) {
        blocks_.finish();
        return Progress::over;
    }
    if (!pieces_.finish()) return Progress::over;
    begin_piece(inside);
    return Progress::unfinished;
}

void CollectiveOperation::look_for_leftovers(EngineInside& inside) {
    // Among several in flight an older one may still receive what has come for it.
    if (form_ == Form::persistent) return;
    const std::size_t own_count = form_ == Form::blocking ? 0 : 1;
    if (comm_->collective_state().count_out() == own_count) runner_.look_for_leftovers(inside);
}

void CollectiveOperation::retire(EngineInside& inside) {
    held_layouts_[0].reset();
    held_layouts_[1].reset();
    blocks_.let_go();
    reducer_ = {};
    // It may be the last to hold the communicator, and with it this operation.
    const std::shared_ptr<Communicator> keeper = std::move(keeper_);
    const bool is_last = keeper->collective_state().give_back(*this);
    if (is_last && keeper->is_retired()) inside.drop_context(keeper->collective_context());
}

}  // namespace dlrt
