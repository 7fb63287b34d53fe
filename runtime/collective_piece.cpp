// SPDX-License-Identifier: Apache-2.0
#include "runtime/collective_piece.hpp"

#include "collectives/contract.hpp"

#include <algorithm>

namespace dlrt {
namespace {

ConstBuffer as_const(const Buffer& buffer) {
    return {buffer.address, buffer.count, buffer.layout};
}

}  // namespace

void PieceWorks::open(
    const CollectiveCall& call, std::int32_t size, std::int32_t rank, std::uint64_t piece_bytes_max
) {
    call_ = call;
    piece_bytes_max_ = piece_bytes_max;
    size_ = static_cast<std::uint64_t>(size);
    rank_ = static_cast<std::uint64_t>(rank);
    window_ = {};
    staging_ = nullptr;
    carriage_ = {};
    has_vector_ = !coll::has_blocks(call.collective);
    find_roles(size, rank);
    const bool has_data = call.collective != coll::Collective::barrier;
    if (!has_data) return;
    const bool takes_output = input_blocks_ == 0 && output_blocks_ != 0;
    const ConstBuffer own = takes_output ? as_const(call.output) : call.input;
    const Layout& layout = **own.layout;
    if (call.reducer != nullptr) carriage_ = carriage_of(*call.reducer);
    element_count_ = own.count * layout.size_bytes() / carriage_.stored_bytes();
    stages_input_ = input_blocks_ != 0 && needs_staging(*call.input.layout, carriage_);
    stages_output_ = output_blocks_ != 0 && needs_staging(*call.output.layout, carriage_);
    // One place is enough where the input has its own in the output.
    moves_input_to_output_ = stages_input_ && output_blocks_ != 0 &&
                             (has_vector_ || output_blocks_ > input_blocks_);
    placement_ = input_blocks_ == 0 || moves_input_to_output_ || call.is_in_place
                     ? coll::Placement::in_place
                     : coll::Placement::separate;
}

void PieceWorks::find_roles(std::int32_t size, std::int32_t rank) {
    const auto all = static_cast<std::uint64_t>(size);
    const bool is_root = call_.root == rank;
    std::uint64_t input = 0;
    std::uint64_t output = 0;
    loads_output_ = call_.is_in_place;
    switch (call_.collective) {
        case coll::Collective::barrier:
            break;
        case coll::Collective::bcast:
            output = 1;
            loads_output_ = is_root;
            break;
        case coll::Collective::reduce:
            input = 1;
            output = is_root ? 1 : 0;
            break;
        case coll::Collective::allreduce:
        case coll::Collective::scan:
            input = output = 1;
            break;
        case coll::Collective::exscan:
            input = 1;
            output = rank == 0 && !call_.is_in_place ? 0 : 1;
            break;
        case coll::Collective::gather:
            input = 1;
            output = is_root ? all : 0;
            break;
        case coll::Collective::scatter:
            input = is_root ? all : 0;
            output = is_root && call_.is_in_place ? 0 : 1;
            loads_output_ = false;
            break;
        case coll::Collective::allgather:
            input = 1;
            output = all;
            break;
        case coll::Collective::reduce_scatter:
            input = all;
            output = call_.is_in_place ? all : 1;
            break;
        case coll::Collective::alltoall:
            input = output = all;
            break;
        case coll::Collective::neighbor_allgather:
        case coll::Collective::neighbor_alltoall:
            // Blocks of its own for each rank: done by BlockWorks.
            break;
    }
    if (call_.is_in_place && call_.collective != coll::Collective::scatter) input = 0;
    input_blocks_ = input;
    output_blocks_ = output;
    result_blocks_ = call_.collective == coll::Collective::reduce_scatter ? 1 : output;
    if (call_.collective == coll::Collective::bcast && is_root) result_blocks_ = 0;
}

std::uint64_t PieceWorks::window_max() const {
    if (!has_vector_) return element_count_;
    const std::uint64_t most = std::max<std::uint64_t>(
        piece_bytes_max_ / carriage_.carried_bytes(), 1
    );
    return std::min(most, element_count_);
}

std::uint64_t PieceWorks::longest_piece_bytes() const {
    const std::uint64_t blocks = has_vector_ ? 1 : size_;
    return window_max() * blocks * carriage_.carried_bytes();
}

std::uint64_t PieceWorks::piece_count() const {
    const std::uint64_t longest = window_max();
    return longest == 0 ? 1 : (element_count_ + longest - 1) / longest;
}

std::uint64_t PieceWorks::piece_number() const {
    return window_.first == 0 ? 0 : window_.first / window_max();
}

std::uint64_t PieceWorks::staging_bytes() const {
    if (!stages_input_ && !stages_output_) return 0;
    const std::uint64_t input = stages_input_ && !moves_input_to_output_ ? input_blocks_ : 0;
    const std::uint64_t output = stages_output_ ? output_blocks_ : 0;
    const std::uint64_t packing = carriage_.is_widening() ? std::max(input_blocks_, output_blocks_)
                                                          : 0;
    return window_max() *
           ((input + output) * carriage_.carried_bytes() + packing * carriage_.stored_bytes());
}

ConstBuffer PieceWorks::all_input() const {
    return {call_.input.address, call_.input.count * input_blocks_, call_.input.layout};
}

Buffer PieceWorks::all_output() const {
    return {call_.output.address, call_.output.count * output_blocks_, call_.output.layout};
}

Piece PieceWorks::begin() {
    Piece piece;
    if (call_.collective == coll::Collective::barrier) return piece;
    window_.count = std::min(window_max(), element_count_ - window_.first);
    piece.size_bytes = window_.count * carriage_.carried_bytes();
    std::byte* free = staging_;
    if (output_blocks_ != 0) {
        if (stages_output_) {
            piece.output = free;
            free += output_blocks_ * piece.size_bytes;
        } else {
            piece.output = address_of(all_output(), carriage_, window_.first);
        }
    }
    std::byte* const input_place = free;
    if (stages_input_ && !moves_input_to_output_) free += input_blocks_ * piece.size_bytes;
    if (loads_output_ && stages_output_) load_into_output(piece.output, free);
    if (moves_input_to_output_) {
        const std::uint64_t block = has_vector_ ? 0 : rank_;
        std::byte* const home = piece.output + block * piece.size_bytes;
        dlrt::load(call_.input, carriage_, window_, free, home);
    } else if (stages_input_) {
        const Window all{window_.first, window_.count * input_blocks_};
        dlrt::load(all_input(), carriage_, all, free, input_place);
        piece.input = input_place;
    } else if (input_blocks_ != 0) {
        piece.input = address_of(all_input(), carriage_, window_.first);
    }
    loaded_output_ = piece.output;
    return piece;
}

void PieceWorks::load_into_output(std::byte* output, std::byte* packing) {
    Window held{window_.first, window_.count * output_blocks_};
    std::uint64_t block = 0;
    // Of a collection only the own block is there.
    const bool is_collection = call_.collective == coll::Collective::gather ||
                               call_.collective == coll::Collective::allgather;
    if (is_collection) {
        block = rank_;
        held = {rank_ * window_.count, window_.count};
    }
    std::byte* const target = output + block * window_.count * carriage_.carried_bytes();
    dlrt::load(as_const(all_output()), carriage_, held, packing, target);
}

bool PieceWorks::finish() {
    if (call_.collective == coll::Collective::barrier) return false;
    if (call_.reducer != nullptr && result_blocks_ != 0) {
        const std::uint64_t bytes = window_.count * result_blocks_ * carriage_.carried_bytes();
        call_.reducer->finish(loaded_output_, bytes, static_cast<std::uint32_t>(size_));
    }
    if (stages_output_ && result_blocks_ != 0) {
        const Window results{window_.first, window_.count * result_blocks_};
        std::byte* const packing = staging_ + staging_bytes() -
                                   window_max() * std::max(input_blocks_, output_blocks_) *
                                       carriage_.stored_bytes();
        dlrt::store(
            all_output(), carriage_, results, carriage_.is_widening() ? packing : nullptr,
            loaded_output_
        );
    }
    window_.first += window_.count;
    return window_.first < element_count_;
}

}  // namespace dlrt
