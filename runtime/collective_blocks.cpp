// SPDX-License-Identifier: Apache-2.0
#include "runtime/collective_blocks.hpp"

#include <numeric>

namespace dlrt {
namespace {

const LayoutRef* bytes_layout() {
    return &Layout::of(ElementType::byte);
}

TypedBlock bytes_block(std::uint64_t size_bytes) {
    return {nullptr, size_bytes, bytes_layout(), size_bytes};
}

/// The blocks of a list, each where it lies.
void find_blocks(void* base, const BlockList& list, std::vector<TypedBlock>& blocks) {
    std::int64_t next = 0;
    for (std::size_t i = 0; i < list.counts.size(); ++i) {
        const LayoutRef* const layout = list.layouts[list.layouts.size() == 1 ? 0 : i];
        const std::int64_t extent = (*layout)->extent_bytes();
        const bool is_counted = list.displacement_unit == BlockList::Unit::extents;
        const std::int64_t offset = list.displacements.empty()
                                        ? next
                                        : list.displacements[i] * (is_counted ? extent : 1);
        const auto count = static_cast<std::uint64_t>(list.counts[i]);
        // Where all counts are 0 there need not be a base.
        std::byte* const address = base == nullptr ? nullptr
                                                   : static_cast<std::byte*>(base) + offset;
        blocks.push_back({address, count, layout, count * (*layout)->size_bytes()});
        next += list.counts[i] * extent;
    }
}

void find_only_block(
    void* address, std::uint64_t count, const LayoutRef* layout, std::vector<TypedBlock>& blocks
) {
    if (layout == nullptr) return;
    blocks.push_back(
        {static_cast<std::byte*>(address), count, layout, count * (*layout)->size_bytes()}
    );
}

/// The runner only reads blocks of an input.
void* writable(const void* address) {
    return const_cast<void*>(address);
}

void place_one_by_one(std::byte* next, std::vector<TypedBlock>& blocks) {
    for (TypedBlock& block : blocks) {
        block.address = next;
        if (next != nullptr) next += block.size_bytes;
    }
}

}  // namespace

void BlockWorks::open(
    const CollectiveCall& call, std::size_t rank, std::int32_t contributor_count
) {
    call_ = call;
    carriage_ = {};
    input_.clear();
    output_.clear();
    unstaged_.clear();
    layouts_.clear();
    is_input_staged_ = is_output_staged_ = false;
    staging_bytes_ = own_bytes_ = scratch_chunk_bytes_ = own_first_ = 0;
    contributor_count_ = static_cast<std::uint32_t>(contributor_count);
    is_reduction_ = call.reducer != nullptr;
    is_whole_ = is_reduction_ && call.is_between_groups;
    if (is_whole_) {
        open_whole_reduction(rank);
    } else if (is_reduction_) {
        open_reduction(rank);
    } else {
        open_movement();
    }
    // The lists are the caller's.
    call_.input_list = call_.output_list = nullptr;
}

void BlockWorks::open_movement() {
    void* const input = writable(call_.input.address);
    if (call_.input_list != nullptr) {
        find_blocks(input, *call_.input_list, input_);
    } else {
        find_only_block(input, call_.input.count, call_.input.layout, input_);
    }
    if (call_.output_list != nullptr) {
        find_blocks(call_.output.address, *call_.output_list, output_);
    } else {
        find_only_block(call_.output.address, call_.output.count, call_.output.layout, output_);
    }
    layouts_.reserve(input_.size() + output_.size());
    for (std::vector<TypedBlock>* const blocks : {&input_, &output_}) {
        for (TypedBlock& block : *blocks) block.layout = &layouts_.emplace_back(*block.layout);
    }
    const bool is_exchange = call_.collective == coll::Collective::alltoall;
    const bool is_in_place = call_.is_in_place && !is_exchange;
    placement_ = is_in_place ? coll::Placement::in_place : coll::Placement::separate;
    if (!call_.is_in_place || !is_exchange) return;
    // What arrives would overwrite what is still to be sent.
    is_input_staged_ = true;
    unstaged_ = output_;
    input_.clear();
    for (const TypedBlock& block : output_) {
        input_.push_back(bytes_block(block.size_bytes));
        staging_bytes_ += block.size_bytes;
    }
}

void BlockWorks::open_reduction(std::size_t rank) {
    placement_ = coll::Placement::separate;
    element_layout_ = call_.is_in_place ? *call_.output.layout : *call_.input.layout;
    carriage_ = carriage_of(*call_.reducer);
    const std::uint64_t elements_each = element_layout_->size_bytes() / carriage_.stored_bytes();
    element_count_ = 0;
    std::uint64_t total_count = 0;
    for (const std::int64_t count : call_.input_list->counts) {
        const std::uint64_t elements = static_cast<std::uint64_t>(count) * elements_each;
        input_.push_back(bytes_block(elements * carriage_.carried_bytes()));
        element_count_ += elements;
        total_count += static_cast<std::uint64_t>(count);
    }
    const auto own_count = static_cast<std::uint64_t>(call_.input_list->counts[rank]);
    own_element_count_ = own_count * elements_each;
    own_bytes_ = own_element_count_ * carriage_.carried_bytes();
    scratch_chunk_bytes_ = own_bytes_;
    output_.push_back(bytes_block(own_bytes_));
    // In place the result would overwrite blocks that are still to be sent.
    const bool is_in_place = call_.is_in_place;
    call_.input = {
        is_in_place ? call_.output.address : call_.input.address, total_count, &element_layout_};
    call_.output = {call_.output.address, own_count, &element_layout_};
    is_input_staged_ = is_in_place || needs_staging(element_layout_, carriage_);
    is_output_staged_ = needs_staging(element_layout_, carriage_);
    staging_bytes_ = (is_input_staged_ ? element_count_ * carriage_.carried_bytes() : 0) +
                     (is_output_staged_ ? own_bytes_ : 0) +
                     (carriage_.is_widening() ? element_count_ * carriage_.stored_bytes() : 0);
}

void BlockWorks::open_whole_reduction(std::size_t rank) {
    const bool has_input = call_.input.layout != nullptr;
    const bool has_output = call_.output.layout != nullptr;
    if (!has_input && !has_output) return;
    element_layout_ = has_input ? *call_.input.layout : *call_.output.layout;
    carriage_ = carriage_of(*call_.reducer);
    const std::uint64_t elements_each = element_layout_->size_bytes() / carriage_.stored_bytes();
    std::uint64_t count = has_input ? call_.input.count : call_.output.count;
    std::uint64_t own_count = count;
    if (call_.input_list != nullptr) {
        const std::span<const std::int64_t> counts = call_.input_list->counts;
        const auto first = std::accumulate(counts.begin(), counts.begin() + rank, std::int64_t{0});
        const auto all = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
        own_first_ = static_cast<std::uint64_t>(first) * elements_each;
        own_count = static_cast<std::uint64_t>(counts[rank]);
        count = static_cast<std::uint64_t>(all);
    }
    element_count_ = count * elements_each;
    own_element_count_ = own_count * elements_each;
    own_bytes_ = own_element_count_ * carriage_.carried_bytes();
    scratch_chunk_bytes_ = element_count_ * carriage_.carried_bytes();
    if (has_input) {
        input_.push_back(bytes_block(scratch_chunk_bytes_));
        call_.input = {call_.input.address, count, &element_layout_};
    }
    if (has_output) {
        output_.push_back(bytes_block(scratch_chunk_bytes_));
        call_.output = {call_.output.address, own_count, &element_layout_};
    }
    const bool needs_copy = needs_staging(element_layout_, carriage_);
    is_input_staged_ = has_input && needs_copy;
    is_output_staged_ = has_output && (needs_copy || own_count != count);
    staging_bytes_ = (is_input_staged_ ? scratch_chunk_bytes_ : 0) +
                     (is_output_staged_ ? scratch_chunk_bytes_ : 0) +
                     (carriage_.is_widening() ? element_count_ * carriage_.stored_bytes() : 0);
}

void BlockWorks::use_whole_staging(std::byte* staging) {
    std::byte* next = staging;
    const auto place = [&](TypedBlock& block) {
        block.address = next;
        if (next != nullptr) next += scratch_chunk_bytes_;
    };
    if (is_output_staged_) {
        place(output_[0]);
    } else if (!output_.empty()) {
        output_[0].address = address_of(call_.output, carriage_, 0);
    }
    if (is_input_staged_) {
        place(input_[0]);
    } else if (!input_.empty()) {
        const std::byte* const input = address_of(call_.input, carriage_, 0);
        input_[0].address = static_cast<std::byte*>(writable(input));
    }
    packing_ = next;
}

std::byte* BlockWorks::own_result() const {
    // Without data there need not be memory.
    if (own_bytes_ == 0) return output_[0].address;
    return output_[0].address + own_first_ * carriage_.carried_bytes();
}

void BlockWorks::use_staging(std::byte* staging) {
    if (is_whole_) return use_whole_staging(staging);
    if (!is_reduction_) {
        if (is_input_staged_) place_one_by_one(staging, input_);
        return;
    }
    std::byte* next = staging;
    if (is_output_staged_) {
        output_[0].address = next;
        if (next != nullptr) next += own_bytes_;
    } else {
        output_[0].address = address_of(call_.output, carriage_, 0);
    }
    if (is_input_staged_) {
        place_one_by_one(next, input_);
        if (next != nullptr) next += element_count_ * carriage_.carried_bytes();
    } else {
        const std::byte* const input = address_of(call_.input, carriage_, 0);
        place_one_by_one(static_cast<std::byte*>(writable(input)), input_);
    }
    packing_ = next;
}

void BlockWorks::begin() {
    if (!is_input_staged_) return;
    if (is_reduction_) {
        dlrt::load(call_.input, carriage_, {0, element_count_}, packing_, input_[0].address);
        return;
    }
    for (std::size_t i = 0; i < unstaged_.size(); ++i) {
        const TypedBlock& block = unstaged_[i];
        if (block.size_bytes == 0) continue;
        pack(**block.layout, block.count, block.address, 0, {input_[i].address, block.size_bytes});
    }
}

void BlockWorks::finish() {
    if (is_reduction_ && !output_.empty()) {
        call_.reducer->finish(own_result(), own_bytes_, contributor_count_);
    }
    if (!is_output_staged_) return;
    dlrt::store(call_.output, carriage_, {0, own_element_count_}, packing_, own_result());
}

void BlockWorks::let_go() {
    layouts_.clear();
    element_layout_.reset();
}

}  // namespace dlrt
