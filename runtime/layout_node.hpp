// SPDX-License-Identifier: Apache-2.0
/// The normalised loops inside a Layout, for layout.cpp, which builds them, and pack.cpp, which
/// walks them. Immutable once built.
///
/// A node says where its bytes lie relative to where it is placed; the places are in the node above
/// (or in the Layout, for the root), so equal shapes share nodes. Normal form: no loop of one
/// round, no loop over runs that touch, no loop directly inside a loop of which it is a longer
/// form.
#pragma once

#include "runtime/layout.hpp"

#include <cstdint>
#include <vector>

namespace dlrt {

class Layout::Node {
  public:
    enum class Kind : std::uint8_t {
        run,      ///< size_bytes bytes.
        strided,  ///< `count` times `child`, stride_bytes apart.
        blocks,   ///< Block i: whole repetitions of `child`, stride_bytes apart.
        parts,    ///< Block i: parts[i], once.
    };
    using Ref = std::shared_ptr<const Node>;

    /// Where a block lies, and where it begins in the packed stream. It ends where the next begins.
    struct Block {
        std::int64_t displacement_bytes = 0;
        std::uint64_t start_bytes = 0;
    };

    Kind kind = Kind::run;
    std::uint32_t depth = 1;
    std::uint64_t size_bytes = 0;  ///< Packed; never 0.
    std::uint64_t count = 0;
    std::int64_t stride_bytes = 0;
    Ref child;
    std::vector<Block> blocks;
    std::vector<Ref> parts;

    [[nodiscard]] bool is_run() const { return kind == Kind::run; }
    /// Whether repetitions of this node at that stride are one run.
    [[nodiscard]] bool is_dense_at(std::int64_t stride) const {
        return is_run() && stride == static_cast<std::int64_t>(size_bytes);
    }
    [[nodiscard]] std::uint64_t end_of_block(std::size_t block) const {
        return block + 1 < blocks.size() ? blocks[block + 1].start_bytes : size_bytes;
    }
};

}  // namespace dlrt
