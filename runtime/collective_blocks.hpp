// SPDX-License-Identifier: Apache-2.0
/// The data of an operation whose blocks differ in size, place or type: each block travels from
/// where it lies; only reductions, and exchanges in place, need memory beside. One thread at a
/// time.
#pragma once

#include "collectives/schedule.hpp"
#include "runtime/collective_buffer.hpp"
#include "runtime/collective_call.hpp"
#include "runtime/typed_block.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dlrt {

class BlockWorks {
  public:
    /// Copies the lists and keeps the layouts until let_go().
    /// `contributor_count`: operands of a reduction.
    void open(const CollectiveCall& call, std::size_t rank, std::int32_t contributor_count);
    void let_go();

    [[nodiscard]] coll::Placement placement() const { return placement_; }
    [[nodiscard]] const Carriage& carriage() const { return carriage_; }
    [[nodiscard]] std::uint64_t staging_bytes() const { return staging_bytes_; }
    void use_staging(std::byte* staging);
    /// What schedules keep in scratch are reductions of the own block, or of the whole vector
    /// between groups.
    [[nodiscard]] std::uint64_t scratch_chunk_bytes() const { return scratch_chunk_bytes_; }

    /// Takes the data out of the buffers where it can't travel as it lies.
    void begin();
    /// Puts the result where the user wants it.
    void finish();
    [[nodiscard]] const TypedBlock* input() const { return input_.data(); }
    [[nodiscard]] const TypedBlock* output() const { return output_.data(); }

  private:
    void open_movement();
    void open_reduction(std::size_t rank);
    void open_whole_reduction(std::size_t rank);
    void use_whole_staging(std::byte* staging);
    [[nodiscard]] std::byte* own_result() const;

    CollectiveCall call_;
    Carriage carriage_;
    coll::Placement placement_ = coll::Placement::separate;
    std::vector<TypedBlock> input_, output_;
    std::vector<TypedBlock> unstaged_;  ///< What a staged exchange sends, where it lies.
    std::vector<LayoutRef> layouts_;
    LayoutRef element_layout_;
    bool is_reduction_ = false;
    bool is_whole_ = false;  ///< Of a reduction between groups: one block is the whole vector.
    std::uint32_t contributor_count_ = 0;
    std::uint64_t scratch_chunk_bytes_ = 0;
    std::uint64_t own_first_ = 0;  ///< Of a whole vector: where the own result begins.
    bool is_input_staged_ = false;
    bool is_output_staged_ = false;
    std::uint64_t element_count_ = 0;      ///< Of a reduction's input, as carried.
    std::uint64_t own_element_count_ = 0;  ///< Of its result.
    std::uint64_t own_bytes_ = 0;
    std::uint64_t staging_bytes_ = 0;
    std::byte* packing_ = nullptr;
};

}  // namespace dlrt
