// SPDX-License-Identifier: Apache-2.0
/// Values of an abstract execution: who contributed to a chunk, and by which expression. Equal
/// expressions have equal numbers, so that "the same bits on every rank" is a comparison of
/// numbers. One thread at a time.
#pragma once

#include "collectives/schedule.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace dlrt::coll {

using ExpressionId = std::uint32_t;
inline constexpr ExpressionId undefined_expression = 0;

class Expressions {
  public:
    explicit Expressions(std::int32_t size);

    [[nodiscard]] std::int32_t size() const { return size_; }
    /// Of all that are known, about.
    [[nodiscard]] std::size_t size_bytes() const {
        return nodes_.size() * (sizeof(Node) + words_ * sizeof(contributors_[0]));
    }

    [[nodiscard]] ExpressionId leaf(std::int32_t rank, std::uint32_t chunk);

    /// left op right. Without a value: different chunks, or a rank that both sides contain.
    /// REQUIRES: neither is undefined.
    [[nodiscard]] std::optional<ExpressionId> combine(ExpressionId left, ExpressionId right);

    [[nodiscard]] std::uint32_t chunk_of(ExpressionId id) const { return nodes_[id].chunk; }
    [[nodiscard]] bool contains_all(ExpressionId id) const {
        return nodes_[id].contributor_count == size_;
    }
    /// Whether its contributors are ranks 0 .. last_rank, and no others.
    [[nodiscard]] bool contains_prefix(ExpressionId id, std::int32_t last_rank) const {
        return nodes_[id].highest == last_rank && nodes_[id].contributor_count == last_rank + 1;
    }
    /// Whether every operation in it has all ranks of its left side below those of its right side.
    [[nodiscard]] bool is_by_rank(ExpressionId id) const { return nodes_[id].is_by_rank; }
    /// "chunk 2 of ranks 0 1 3", for messages.
    [[nodiscard]] std::string text(ExpressionId id) const;

  private:
    struct Node {
        std::uint32_t chunk = 0;
        std::int32_t lowest = 0, highest = 0, contributor_count = 0;
        bool is_by_rank = true;
        /// The right side of the first combination that this is the left one of, and its result.
        ExpressionId right = undefined_expression, result = undefined_expression;
    };
    [[nodiscard]] bool has(ExpressionId id, std::int32_t rank) const;
    ExpressionId add(const Node& node);

    std::int32_t size_;
    std::size_t words_;
    std::vector<Node> nodes_;
    std::vector<std::uint64_t> contributors_;                       ///< words_ per node.
    std::vector<std::vector<ExpressionId>> leaves_;                 ///< By rank and chunk.
    std::unordered_map<std::uint64_t, ExpressionId> combinations_;  ///< All but the first ones.
};

}  // namespace dlrt::coll
