// SPDX-License-Identifier: Apache-2.0
#include "runtime/collective.hpp"

#include "collectives/algorithm_rules.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/base/log.hpp"
#include "runtime/collective_buffer.hpp"
#include "runtime/core.hpp"

#include <algorithm>
#include <numeric>

namespace dlrt {
namespace {

// Longer vectors are done piece by piece, so that scratch stays within bounds. All ranks cut alike:
// the carried bytes of the vector are the same everywhere.
constexpr std::uint64_t piece_bytes_max = std::uint64_t{32} << 20;
// Chunks of long vectors begin at multiples of this, for the reduction's sake.
constexpr std::uint64_t chunk_unit_bytes = 64;
constexpr std::uint64_t aligned_chunk_bytes_min = 1024;

/// One schedule's worth of work, in memory as it is carried.
struct Piece {
    coll::Collective collective = coll::Collective::barrier;
    std::int32_t root = 0;
    coll::Placement placement = coll::Placement::separate;
    std::uint64_t bytes = 0;  ///< Of the vector, or of one block.
    const std::byte* input = nullptr;
    std::byte* output = nullptr;
    const Reducer* reducer = nullptr;
};

bool has_blocks(coll::Collective collective) {
    return collective == coll::Collective::gather || collective == coll::Collective::scatter ||
           collective == coll::Collective::allgather;
}

Status no_memory(coll::Collective collective, std::uint64_t bytes) {
    return fail(
        Errc::no_memory, "{}: no memory for {} bytes beside the buffers", coll::name_of(collective),
        bytes
    );
}

coll::ChunkSizes chunk_sizes(const Piece& piece, const coll::Schedule& schedule) {
    if (schedule.chunk_rule == coll::ChunkRule::block) return coll::ChunkSizes::block(piece.bytes);
    const bool is_long = piece.bytes >= schedule.chunk_count * aligned_chunk_bytes_min;
    const std::uint64_t unit = piece.reducer != nullptr ? piece.reducer->unit_bytes() : 1;
    const std::uint64_t aligned = std::lcm(unit, chunk_unit_bytes);
    const bool aligns = is_long && unit < chunk_unit_bytes && aligned <= aligned_chunk_bytes_min;
    return coll::ChunkSizes::split(piece.bytes, aligns ? aligned : unit, schedule.chunk_count);
}

std::string_view words_for(coll::Choice::Reason reason) {
    switch (reason) {
        case coll::Choice::Reason::rule:
            return "DLRT_ALGO names it";
        case coll::Choice::Reason::table:
            return "the usual one for this size";
        case coll::Choice::Reason::exclusion:
            return "DLRT_ALGO excludes the usual one";
    }
    return "";
}

const coll::Algorithm& choose(Communicator& comm, const coll::Operation& operation) {
    // Communicators of tests have no core, and so no user.
    const Core* const core = Core::get();
    if (core == nullptr) return coll::choose_algorithm(operation);
    const CollectiveSettings& settings = core->collective_settings();
    const coll::Choice choice = coll::choose_algorithm(operation, settings.rules);
    const bool is_told = settings.is_explaining && comm.rank() == 0 &&
                         comm.collective_state().is_news(*choice.algorithm, operation.total_bytes);
    if (is_told) {
        write_log_line(
            "explain", fmt::format(
                           "{} of {} bytes on {} ranks: {}, {}",
                           coll::name_of(operation.collective), operation.total_bytes,
                           operation.size, choice.algorithm->name, words_for(choice.reason)
                       )
        );
    }
    return *choice.algorithm;
}

Status run(Communicator& comm, const Piece& piece) {
    const auto size = static_cast<std::uint64_t>(comm.size());
    const std::uint64_t total_bytes = piece.bytes * (has_blocks(piece.collective) ? size : 1);
    const Reducer* const reducer = piece.reducer;
    const coll::OperandOrder order = reducer != nullptr ? reducer->operand_order()
                                                        : coll::OperandOrder::any;
    const coll::Algorithm& algorithm = choose(
        comm, {piece.collective, comm.size(), total_bytes, order}
    );
    CollectiveState& state = comm.collective_state();
    const coll::Schedule& schedule = state.schedule(
        algorithm, {comm.size(), comm.rank(), piece.root, piece.placement}
    );
    const coll::ChunkSizes sizes = chunk_sizes(piece, schedule);
    const std::uint64_t scratch_bytes = schedule.scratch_chunks * sizes.full_bytes();
    std::byte* scratch = state.scratch().at_least(scratch_bytes);
    if (scratch == nullptr && scratch_bytes > 0) return no_memory(piece.collective, scratch_bytes);
    const ScheduleChannel channel{
        &comm.engine(), comm.group().get(), comm.collective_context(),
        comm.next_collective_sequence()};
    const std::uint64_t memory_bytes = reducer != nullptr ? reducer->memory_bytes() : 0;
    std::byte* memory = memory_bytes > 0 ? state.reduction_memory().at_least(memory_bytes)
                                         : nullptr;
    if (memory == nullptr && memory_bytes > 0) return no_memory(piece.collective, memory_bytes);
    const ScheduleBinding binding{&schedule, sizes,   piece.input, piece.output,
                                  scratch,   reducer, memory};
    state.runner().start(channel, binding);
    return state.runner().finish();
}

ConstBuffer as_const(const Buffer& buffer) {
    return {buffer.address, buffer.count, buffer.layout};
}

/// A collective over one vector: bcast, reduce, allreduce. What a rank doesn't have is null.
struct VectorCall {
    coll::Collective collective = coll::Collective::bcast;
    std::int32_t root = 0;
    const ConstBuffer* input = nullptr;
    const Buffer* output = nullptr;
    bool has_output_before = false;  ///< The output's content counts: bcast's root, in place.
    bool has_output_after = false;
    const Reducer* reducer = nullptr;
    Carriage carriage;
};

/// Input and output lie where the user has them or in staging memory. One place of that is enough,
/// because a staged input is loaded into the output's place and worked on there.
Status run_window(Communicator& comm, const VectorCall& call, const Window& window) {
    const Carriage& carriage = call.carriage;
    const bool stages_input = call.input != nullptr && needs_staging(*call.input->layout, carriage);
    const bool stages_output = call.output != nullptr &&
                               needs_staging(*call.output->layout, carriage);
    const std::uint64_t carried_bytes = window.count * carriage.carried_bytes();
    std::byte* staged = nullptr;
    if ((stages_input || stages_output) && window.count > 0) {
        const std::uint64_t bytes = carried_bytes + window.count * carriage.stored_bytes();
        staged = comm.collective_state().staging().at_least(bytes);
        if (staged == nullptr) return no_memory(call.collective, bytes);
    }
    std::byte* packing = staged == nullptr ? nullptr : staged + carried_bytes;

    Piece piece{call.collective, call.root,   coll::Placement::separate, carried_bytes, nullptr,
                nullptr,         call.reducer};
    if (call.output != nullptr) {
        piece.output = stages_output ? staged : address_of(*call.output, carriage, window.first);
    }
    if (stages_input) {
        std::byte* loaded = call.output != nullptr ? piece.output : staged;
        load(*call.input, carriage, window, packing, loaded);
        piece.input = loaded;
        if (call.output != nullptr) piece.placement = coll::Placement::in_place;
    } else if (call.input != nullptr) {
        piece.input = address_of(*call.input, carriage, window.first);
    } else {
        piece.placement = coll::Placement::in_place;
    }
    if (call.has_output_before && stages_output) {
        load(as_const(*call.output), carriage, window, packing, piece.output);
    }
    const Status status = run(comm, piece);
    if (!status.ok()) return status;
    if (call.has_output_after && call.reducer != nullptr) {
        const auto rank_count = static_cast<std::uint32_t>(comm.size());
        call.reducer->finish(piece.output, carried_bytes, rank_count);
    }
    if (call.has_output_after && stages_output) {
        store(*call.output, carriage, window, packing, piece.output);
    }
    return status;
}

Status run_vector(Communicator& comm, const VectorCall& call, std::uint64_t element_count) {
    const std::uint64_t count_max = std::max<std::uint64_t>(
        piece_bytes_max / call.carriage.carried_bytes(), 1
    );
    Window window;
    do {
        window.count = std::min(count_max, element_count - window.first);
        const Status status = run_window(comm, call, window);
        if (!status.ok()) return status;
        window.first += window.count;
    } while (window.first < element_count);
    return {};
}

Status run_reduction(Communicator& comm, const ReduceArguments& arguments, VectorCall call) {
    const bool has_output = call.output != nullptr;
    const bool is_in_place = has_output && arguments.is_in_place;
    const ConstBuffer own = is_in_place ? as_const(arguments.output) : arguments.input;
    const Layout& layout = **own.layout;
    if (!arguments.reducer.is_defined()) {
        return fail(
            Errc::op, "{}: {} is not defined", coll::name_of(call.collective),
            arguments.reducer.description()
        );
    }
    call.input = is_in_place ? nullptr : &arguments.input;
    call.has_output_before = is_in_place;
    call.has_output_after = has_output;
    call.reducer = &arguments.reducer;
    call.carriage = carriage_of(arguments.reducer);
    return run_vector(comm, call, own.count * layout.size_bytes() / call.carriage.stored_bytes());
}

/// gather's root and every rank of an allgather: one block in, all blocks out.
Status collect_blocks(Communicator& comm, const BlockArguments& arguments, Piece piece) {
    const Carriage plain;
    const auto size = static_cast<std::uint64_t>(comm.size());
    const Buffer& block = arguments.output;
    const Buffer all{block.address, block.count * size, block.layout};
    piece.bytes = block.count * (*block.layout)->size_bytes();
    const Window own{static_cast<std::uint64_t>(comm.rank()) * piece.bytes, piece.bytes};
    const bool stages_output = needs_staging(block.layout[0], plain);
    if (stages_output && piece.bytes > 0) {
        piece.output = comm.collective_state().staging().at_least(size * piece.bytes);
        if (piece.output == nullptr) return no_memory(piece.collective, size * piece.bytes);
    } else if (!stages_output) {
        piece.output = address_of(block, plain, 0);
    }
    if (arguments.is_in_place) {
        piece.placement = coll::Placement::in_place;
        if (stages_output) load(as_const(all), plain, own, nullptr, piece.output + own.first);
    } else if (needs_staging(*arguments.input.layout, plain)) {
        piece.placement = coll::Placement::in_place;
        load(arguments.input, plain, {0, own.count}, nullptr, piece.output + own.first);
    } else {
        piece.input = address_of(arguments.input, plain, 0);
    }
    const Status status = run(comm, piece);
    if (!status.ok()) return status;
    if (stages_output) store(all, plain, {0, size * piece.bytes}, nullptr, piece.output);
    return status;
}

/// scatter's root: all blocks in, one block out.
Status deal_blocks(Communicator& comm, const BlockArguments& arguments, Piece piece) {
    const Carriage plain;
    const auto size = static_cast<std::uint64_t>(comm.size());
    const ConstBuffer& block = arguments.input;
    const ConstBuffer all{block.address, block.count * size, block.layout};
    piece.bytes = block.count * (*block.layout)->size_bytes();
    if (!needs_staging(*block.layout, plain)) {
        piece.input = address_of(block, plain, 0);
    } else if (piece.bytes > 0) {
        std::byte* packed = comm.collective_state().staging().at_least(size * piece.bytes);
        if (packed == nullptr) return no_memory(piece.collective, size * piece.bytes);
        load(all, plain, {0, size * piece.bytes}, nullptr, packed);
        piece.input = packed;
    }
    const bool stages_output = !arguments.is_in_place &&
                               needs_staging(*arguments.output.layout, plain);
    if (arguments.is_in_place || stages_output) {
        piece.placement = coll::Placement::in_place;
    } else {
        piece.output = address_of(arguments.output, plain, 0);
    }
    const Status status = run(comm, piece);
    if (!status.ok()) return status;
    if (stages_output) {
        const auto rank = static_cast<std::uint64_t>(comm.rank());
        const std::byte* own = piece.input + rank * piece.bytes;
        store(arguments.output, plain, {0, piece.bytes}, nullptr, own);
    }
    return status;
}

}  // namespace

Status barrier(Communicator& comm) {
    return run(comm, Piece{});
}

Status bcast(Communicator& comm, const Buffer& buffer, std::int32_t root) {
    VectorCall call;
    call.root = root;
    call.output = &buffer;
    call.has_output_before = comm.rank() == root;
    call.has_output_after = comm.rank() != root;
    return run_vector(comm, call, buffer.count * (*buffer.layout)->size_bytes());
}

Status reduce(Communicator& comm, const ReduceArguments& arguments, std::int32_t root) {
    VectorCall call;
    call.collective = coll::Collective::reduce;
    call.root = root;
    if (comm.rank() == root) call.output = &arguments.output;
    return run_reduction(comm, arguments, call);
}

Status allreduce(Communicator& comm, const ReduceArguments& arguments) {
    VectorCall call;
    call.collective = coll::Collective::allreduce;
    call.output = &arguments.output;
    return run_reduction(comm, arguments, call);
}

Status gather(Communicator& comm, const BlockArguments& arguments, std::int32_t root) {
    Piece piece;
    piece.collective = coll::Collective::gather;
    piece.root = root;
    if (comm.rank() == root) return collect_blocks(comm, arguments, piece);
    const ConstBuffer& block = arguments.input;
    piece.bytes = block.count * (*block.layout)->size_bytes();
    if (!needs_staging(*block.layout, {})) {
        piece.input = address_of(block, {}, 0);
    } else if (piece.bytes > 0) {
        std::byte* packed = comm.collective_state().staging().at_least(piece.bytes);
        if (packed == nullptr) return no_memory(piece.collective, piece.bytes);
        load(block, {}, {0, piece.bytes}, nullptr, packed);
        piece.input = packed;
    }
    return run(comm, piece);
}

Status scatter(Communicator& comm, const BlockArguments& arguments, std::int32_t root) {
    Piece piece;
    piece.collective = coll::Collective::scatter;
    piece.root = root;
    if (comm.rank() == root) return deal_blocks(comm, arguments, piece);
    const Buffer& block = arguments.output;
    piece.bytes = block.count * (*block.layout)->size_bytes();
    const bool stages_output = needs_staging(*block.layout, {});
    if (!stages_output) {
        piece.output = address_of(block, {}, 0);
    } else if (piece.bytes > 0) {
        piece.output = comm.collective_state().staging().at_least(piece.bytes);
        if (piece.output == nullptr) return no_memory(piece.collective, piece.bytes);
    }
    const Status status = run(comm, piece);
    if (status.ok() && stages_output) store(block, {}, {0, piece.bytes}, nullptr, piece.output);
    return status;
}

Status allgather(Communicator& comm, const BlockArguments& arguments) {
    Piece piece;
    piece.collective = coll::Collective::allgather;
    return collect_blocks(comm, arguments, piece);
}

}  // namespace dlrt
