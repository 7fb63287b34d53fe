// SPDX-License-Identifier: Apache-2.0
/// How the data of an operation comes out of the user's buffers and back: as it lies where that can
/// be sent, else through staging memory; long vectors in several pieces, so that staging and
/// scratch stay within bounds. Calls whose blocks are all alike only. One thread at a time.
#pragma once

#include "collectives/schedule.hpp"
#include "runtime/collective_buffer.hpp"
#include "runtime/collective_call.hpp"

#include <cstddef>
#include <cstdint>

namespace dlrt {

/// One schedule's worth of data as it is carried.
struct Piece {
    std::uint64_t size_bytes = 0;  ///< Of the vector, or of one block.
    const std::byte* input = nullptr;
    std::byte* output = nullptr;
};

class PieceWorks {
  public:
    /// `piece_bytes_max`: no vector is carried in longer pieces; the same on all ranks.
    void open(
        const CollectiveCall& call, std::int32_t size, std::int32_t rank,
        std::uint64_t piece_bytes_max
    );

    [[nodiscard]] coll::Placement placement() const { return placement_; }
    [[nodiscard]] const Carriage& carriage() const { return carriage_; }
    /// How much of the vector, or of all ranks' blocks together, its longest piece carries.
    [[nodiscard]] std::uint64_t longest_piece_bytes() const;
    [[nodiscard]] std::uint64_t piece_count() const;
    [[nodiscard]] std::uint64_t staging_bytes() const;
    /// So many bytes, where staging_bytes() isn't 0.
    void use_staging(std::byte* staging) { staging_ = staging; }

    void restart() { window_ = {}; }
    /// The number of the piece at hand, counted from 0.
    [[nodiscard]] std::uint64_t piece_number() const;
    /// Takes the data at hand out of the buffers.
    [[nodiscard]] Piece begin();
    /// Puts the result of what begin() returned where the user wants it, and turns to the next
    /// piece. False: that was the last.
    [[nodiscard]] bool finish();

  private:
    void find_roles(std::int32_t size, std::int32_t rank);
    [[nodiscard]] std::uint64_t window_max() const;
    [[nodiscard]] ConstBuffer all_input() const;
    [[nodiscard]] Buffer all_output() const;
    void load_into_output(std::byte* output, std::byte* packing);

    CollectiveCall call_;
    Carriage carriage_;
    coll::Placement placement_ = coll::Placement::separate;
    bool has_vector_ = true;  ///< And no blocks.
    std::uint64_t piece_bytes_max_ = 0;
    std::uint64_t size_ = 1;
    std::uint64_t rank_ = 0;
    /// Elements as they are carried: of the vector, or of one block.
    std::uint64_t element_count_ = 0;
    std::uint64_t input_blocks_ = 0;   ///< In the input of its own; 0: there is none.
    std::uint64_t output_blocks_ = 0;  ///< That the schedule may write; 0: there is no output.
    std::uint64_t result_blocks_ = 0;  ///< Of the output, that hold the result afterwards.
    bool stages_input_ = false;
    bool stages_output_ = false;
    bool loads_output_ = false;  ///< What is in the output counts.
    bool moves_input_to_output_ = false;
    Window window_;
    std::byte* staging_ = nullptr;
    std::byte* loaded_output_ = nullptr;
};

}  // namespace dlrt
