// SPDX-License-Identifier: Apache-2.0
/// Makes the nodes of a layout in normal form; the arithmetic of sizes has been checked by the
/// caller. Pure.
#pragma once

#include "runtime/layout_node.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace dlrt::layout_build {

using NodeRef = Layout::Node::Ref;

/// Nesting of loops that the normal form can't collapse; bounds the recursion of the walkers.
inline constexpr std::uint32_t max_depth = 64;

/// A node and where it is; null when there is no data.
struct Placed {
    NodeRef node;
    std::int64_t displacement_bytes = 0;
};

[[nodiscard]] NodeRef run(std::uint64_t size_bytes);
/// `count` times node (may be null), stride_bytes apart.
[[nodiscard]] NodeRef repeated(std::uint64_t count, std::int64_t stride_bytes, const NodeRef& node);

/// `count` repetitions of one node from a displacement on.
struct Repetitions {
    std::int64_t displacement_bytes = 0;
    std::uint64_t count = 0;
};
/// Each entry: repetitions of `node`, stride_bytes apart. No entry is empty.
[[nodiscard]] Placed listed(
    std::vector<Repetitions> entries, std::int64_t stride_bytes, const NodeRef& node
);
/// One after the other. No node is null.
[[nodiscard]] Placed joined(std::vector<Placed> parts);

}  // namespace dlrt::layout_build
