// SPDX-License-Identifier: Apache-2.0
#include "runtime/layout_build.hpp"

#include <algorithm>
#include <utility>

namespace dlrt::layout_build {

namespace {

using Node = Layout::Node;

/// The place after `times` strides, modulo 2^64: only compared, so a wrapped one matches nothing
/// that exists.
std::int64_t moved(std::int64_t from, std::uint64_t times, std::int64_t stride_bytes) {
    return static_cast<std::int64_t>(
        static_cast<std::uint64_t>(from) + times * static_cast<std::uint64_t>(stride_bytes)
    );
}

std::int64_t difference(std::int64_t to, std::int64_t from) {
    return static_cast<std::int64_t>(
        static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from)
    );
}

/// Merges an entry with the one before it where it continues that one's stride.
void merge_adjacent(std::vector<Repetitions>& entries, std::int64_t stride_bytes) {
    std::size_t last = 0;
    for (std::size_t i = 1; i < entries.size(); ++i) {
        Repetitions& before = entries[last];
        const std::int64_t end = moved(before.displacement_bytes, before.count, stride_bytes);
        if (entries[i].displacement_bytes == end) {
            before.count += entries[i].count;
        } else {
            entries[++last] = entries[i];
        }
    }
    entries.resize(last + 1);
}

/// Whether the displacements of `count` things are a first one and equal steps.
template<typename DisplacementOf>
bool is_regular(std::size_t count, const DisplacementOf& displacement_of) {
    const std::int64_t step = difference(displacement_of(1), displacement_of(0));
    for (std::size_t i = 2; i < count; ++i) {
        if (moved(displacement_of(i - 1), 1, step) != displacement_of(i)) return false;
    }
    return true;
}

NodeRef blocks_of(
    const std::vector<Repetitions>& entries, std::int64_t stride_bytes, const NodeRef& child
) {
    auto node = std::make_shared<Node>();
    node->kind = Node::Kind::blocks;
    node->depth = child->depth + 1;
    node->child = child;
    node->stride_bytes = stride_bytes;
    node->blocks.reserve(entries.size());
    for (const Repetitions& entry : entries) {
        node->blocks.push_back({entry.displacement_bytes, node->size_bytes});
        node->size_bytes += entry.count * child->size_bytes;
    }
    return node;
}

NodeRef parts_of(const std::vector<Placed>& parts) {
    auto node = std::make_shared<Node>();
    node->kind = Node::Kind::parts;
    node->blocks.reserve(parts.size());
    node->parts.reserve(parts.size());
    for (const Placed& part : parts) {
        node->blocks.push_back({part.displacement_bytes, node->size_bytes});
        node->parts.push_back(part.node);
        node->size_bytes += part.node->size_bytes;
        node->depth = std::max(node->depth, part.node->depth + 1);
    }
    return node;
}

}  // namespace

NodeRef run(std::uint64_t size_bytes) {
    auto node = std::make_shared<Node>();
    node->size_bytes = size_bytes;
    return node;
}

NodeRef repeated(std::uint64_t count, std::int64_t stride_bytes, const NodeRef& node) {
    if (node == nullptr || count == 0) return nullptr;
    if (count == 1) return node;
    if (node->is_dense_at(stride_bytes)) return run(count * node->size_bytes);

    auto loop = std::make_shared<Node>();
    loop->kind = Node::Kind::strided;
    loop->size_bytes = count * node->size_bytes;
    const bool continues_inner = node->kind == Node::Kind::strided &&
                                 moved(0, node->count, node->stride_bytes) == stride_bytes;
    loop->count = continues_inner ? count * node->count : count;
    loop->stride_bytes = continues_inner ? node->stride_bytes : stride_bytes;
    loop->child = continues_inner ? node->child : node;
    loop->depth = loop->child->depth + 1;
    return loop;
}

Placed listed(std::vector<Repetitions> entries, std::int64_t stride_bytes, const NodeRef& node) {
    if (node == nullptr || entries.empty()) return {};
    merge_adjacent(entries, stride_bytes);
    const Repetitions first = entries.front();
    if (entries.size() == 1) {
        return {repeated(first.count, stride_bytes, node), first.displacement_bytes};
    }
    const auto has_first_count = [&](const Repetitions& entry) {
        return entry.count == first.count;
    };
    const auto displacement_of = [&](std::size_t i) { return entries[i].displacement_bytes; };
    if (std::all_of(entries.begin(), entries.end(), has_first_count) &&
        is_regular(entries.size(), displacement_of)) {
        const std::int64_t step = difference(displacement_of(1), displacement_of(0));
        const NodeRef block = repeated(first.count, stride_bytes, node);
        return {repeated(entries.size(), step, block), first.displacement_bytes};
    }
    return {blocks_of(entries, stride_bytes, node), 0};
}

Placed joined(std::vector<Placed> parts) {
    if (parts.empty()) return {};
    const auto is_run = [](const Placed& part) { return part.node->is_run(); };
    if (std::all_of(parts.begin(), parts.end(), is_run)) {
        std::vector<Repetitions> entries;
        entries.reserve(parts.size());
        for (const Placed& part : parts) {
            entries.push_back({part.displacement_bytes, part.node->size_bytes});
        }
        return listed(std::move(entries), 1, run(1));
    }
    const NodeRef first = parts.front().node;
    const auto is_first = [&](const Placed& part) { return part.node == first; };
    if (std::all_of(parts.begin(), parts.end(), is_first)) {
        // At stride 0 only parts at the same place merge; they may overlap.
        std::vector<Repetitions> entries;
        entries.reserve(parts.size());
        for (const Placed& part : parts) entries.push_back({part.displacement_bytes, 1});
        return listed(std::move(entries), 0, first);
    }
    std::vector<Placed> merged;
    for (Placed& part : parts) {
        const bool touches = !merged.empty() && is_run(merged.back()) && is_run(part) &&
                             moved(
                                 merged.back().displacement_bytes, merged.back().node->size_bytes, 1
                             ) == part.displacement_bytes;
        if (touches) {
            merged.back().node = run(merged.back().node->size_bytes + part.node->size_bytes);
        } else {
            merged.push_back(std::move(part));
        }
    }
    if (merged.size() == 1) return merged.front();
    return {parts_of(merged), 0};
}

}  // namespace dlrt::layout_build
