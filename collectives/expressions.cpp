// SPDX-License-Identifier: Apache-2.0
/// Hash-consed expressions with contributor sets.
#include "collectives/expressions.hpp"

#include <fmt/format.h>

namespace dlrt::coll {
namespace {

std::uint64_t pair_key(std::uint32_t high, std::uint32_t low) {
    return static_cast<std::uint64_t>(high) << 32 | low;
}

}  // namespace

Expressions::Expressions(std::int32_t size)
    : size_(size),
      words_((static_cast<std::size_t>(size) + 63) / 64),
      leaves_(static_cast<std::size_t>(size)) {
    add({});  // Number 0 is the undefined one.
}

ExpressionId Expressions::add(const Node& node) {
    nodes_.push_back(node);
    contributors_.insert(contributors_.end(), words_, 0);
    return static_cast<ExpressionId>(nodes_.size() - 1);
}

bool Expressions::has(ExpressionId id, std::int32_t rank) const {
    const auto bit = static_cast<std::size_t>(rank);
    return (contributors_[id * words_ + bit / 64] >> (bit % 64) & 1) != 0;
}

ExpressionId Expressions::leaf(std::int32_t rank, std::uint32_t chunk) {
    std::vector<ExpressionId>& row = leaves_[static_cast<std::size_t>(rank)];
    if (row.size() <= chunk) row.resize(chunk + 1, undefined_expression);
    if (row[chunk] != undefined_expression) return row[chunk];
    const ExpressionId id = add({chunk, rank, rank, 1, true});
    const auto bit = static_cast<std::size_t>(rank);
    contributors_[id * words_ + bit / 64] |= std::uint64_t{1} << (bit % 64);
    row[chunk] = id;
    return id;
}

std::optional<ExpressionId> Expressions::combine(ExpressionId left, ExpressionId right) {
    const Node a = nodes_[left];
    if (a.right == right) return a.result;
    const bool is_first = a.right == undefined_expression;
    if (!is_first) {
        const auto known = combinations_.find(pair_key(left, right));
        if (known != combinations_.end()) return known->second;
    }
    const Node b = nodes_[right];
    if (a.chunk != b.chunk) return std::nullopt;
    for (std::size_t i = 0; i < words_; ++i) {
        if ((contributors_[left * words_ + i] & contributors_[right * words_ + i]) != 0)
            return std::nullopt;
    }
    const ExpressionId id = add({
        a.chunk,
        std::min(a.lowest, b.lowest),
        std::max(a.highest, b.highest),
        a.contributor_count + b.contributor_count,
        a.is_by_rank && b.is_by_rank && a.highest < b.lowest,
    });
    for (std::size_t i = 0; i < words_; ++i) {
        contributors_[id * words_ + i] = contributors_[left * words_ + i] |
                                         contributors_[right * words_ + i];
    }
    if (is_first) {
        nodes_[left].right = right;
        nodes_[left].result = id;
    } else {
        combinations_.emplace(pair_key(left, right), id);
    }
    return id;
}

std::string Expressions::text(ExpressionId id) const {
    if (id == undefined_expression) return "nothing";
    std::string text = fmt::format("chunk {} of ranks", nodes_[id].chunk);
    for (std::int32_t rank = 0; rank < size_; ++rank) {
        if (has(id, rank)) text += fmt::format(" {}", rank);
    }
    return text;
}

}  // namespace dlrt::coll
