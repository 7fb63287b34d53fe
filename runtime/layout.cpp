// SPDX-License-Identifier: Apache-2.0
/// The constructors of Layout: check, work out bounds, size and signature, then build the loops.
#include "runtime/layout.hpp"

#include "runtime/base/check.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/layout_build.hpp"
#include "runtime/layout_node.hpp"
#include "runtime/layout_padding.hpp"
#include "runtime/signature.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <utility>

namespace dlrt {

namespace {

using layout_build::Placed;

/// Wide enough for every sum below of products of two 64-bit numbers.
__extension__ using Wide = __int128;

constexpr Wide largest = std::numeric_limits<std::int64_t>::max();
constexpr Wide smallest = std::numeric_limits<std::int64_t>::min();

/// A range of displacements or bounds; empty at first.
struct Range {
    Wide low = 0;
    Wide high = 0;
    bool is_empty = true;

    void include(Wide from, Wide to) {
        low = is_empty ? from : std::min(low, from);
        high = is_empty ? to : std::max(high, to);
        is_empty = false;
    }
    [[nodiscard]] bool fits() const {
        return low >= smallest && high <= largest && high - low <= largest &&
               high - low >= smallest;
    }
};

/// Where the first to the last of `count` steps are. REQUIRES: count > 0
Range steps(std::int64_t count, std::int64_t stride_bytes) {
    Range range;
    range.include(0, 0);
    const Wide last = (Wide{count} - 1) * stride_bytes;
    range.include(last, last);
    return range;
}

Status check_not_negative(const char* what, std::int64_t value) {
    if (value >= 0) return {};
    return fail(Errc::count, "{} is {}; it must be 0 or more", what, value);
}

Status check_list(
    std::span<const std::int64_t> block_lengths, std::size_t displacements, std::size_t olds
) {
    if (block_lengths.size() != displacements || block_lengths.size() != olds) {
        return fail(
            Errc::argument, "{} block lengths, {} displacements and {} types; numbers must agree",
            block_lengths.size(), displacements, olds
        );
    }
    for (std::size_t i = 0; i < block_lengths.size(); ++i) {
        if (block_lengths[i] >= 0) continue;
        return fail(
            Errc::count, "block_lengths[{}] is {}; it must be 0 or more", i, block_lengths[i]
        );
    }
    return {};
}

}  // namespace

/// Gathers what a new Layout consists of.
class LayoutBuilder {
  public:
    using Node = Layout::Node;

    /// `repetitions` of old, the first at places.low or .high, none outside of those.
    void add(const Layout& old, const Range& places, Wide repetitions) {
        if (repetitions == 0 || old.size_bytes_ == 0) empty_element_ = old.element_;
        if (repetitions == 0) return;
        if (old.has_bounds_) {
            const Wide upper = Wide{old.lower_bound_bytes_} + old.extent_bytes_;
            Range& bounds = old.has_explicit_bounds_ ? explicit_bounds_ : bounds_;
            bounds.include(places.low + old.lower_bound_bytes_, places.high + upper);
        }
        if (old.size_bytes_ == 0) return;

        const Wide true_upper = Wide{old.true_lower_bound_bytes_} + old.true_extent_bytes_;
        true_bounds_.include(places.low + old.true_lower_bound_bytes_, places.high + true_upper);
        element_ = size_ == 0 || element_ == old.element_ ? old.element_ : ElementType::none;
        // Capped, so that nothing overflows; what is capped is refused later.
        const Wide added = std::min(repetitions, largest + 1) * static_cast<Wide>(old.size_bytes_);
        size_ = std::min(size_ + added, largest + 1);
        if (size_ > largest) return;
        add_signature(old.signature_, static_cast<std::uint64_t>(repetitions));
    }

    void set_bounds(Wide lower, Wide upper) { explicit_bounds_ = {lower, upper, false}; }

    /// Bounds that were set stay.
    void pad(std::uint32_t alignment) {
        if (!explicit_bounds_.is_empty || bounds_.is_empty) return;
        const Wide rest = (bounds_.high - bounds_.low) % alignment;
        if (rest != 0) bounds_.high += alignment - rest;
    }

    /// To be called before any node is built.
    Status check() const {
        if (size_ <= largest && bounds().fits() && true_bounds_.fits()) return {};
        return fail(Errc::type, "the size or extent of the type is beyond 2^63 - 1 bytes");
    }

    Result<LayoutRef> finish(const Placed& root) const {
        if (root.node != nullptr && root.node->depth > layout_build::max_depth) {
            return fail(
                Errc::limit, "the type nests {} irregular levels; the limit is {}",
                root.node->depth, layout_build::max_depth
            );
        }
        auto layout = std::make_shared<Layout>();
        layout->size_bytes_ = static_cast<std::uint64_t>(size_);
        layout->lower_bound_bytes_ = static_cast<std::int64_t>(bounds().low);
        layout->extent_bytes_ = static_cast<std::int64_t>(bounds().high - bounds().low);
        layout->true_lower_bound_bytes_ = static_cast<std::int64_t>(true_bounds_.low);
        layout->true_extent_bytes_ = static_cast<std::int64_t>(
            true_bounds_.high - true_bounds_.low
        );
        layout->is_contiguous_ = root.node == nullptr ||
                                 root.node->is_dense_at(layout->extent_bytes_);
        layout->has_bounds_ = !bounds().is_empty;
        layout->has_explicit_bounds_ = !explicit_bounds_.is_empty;
        layout->element_ = size_ == 0 ? empty_element_ : element_;
        const Signature signature = concatenate(signature_, repeat(piece_, piece_repetitions_));
        layout->signature_hash_ = fold(signature);
        layout->signature_ = signature;
        layout->root_ = root.node;
        layout->root_offset_bytes_ = root.displacement_bytes;
        return LayoutRef(std::move(layout));
    }

    static Placed root_of(const Layout& layout) {
        return {layout.root_, layout.root_offset_bytes_};
    }

    static LayoutRef predefined(ElementType type) {
        const std::uint32_t size = element_size_bytes(type);
        auto layout = std::make_shared<Layout>();
        layout->size_bytes_ = size;
        layout->extent_bytes_ = layout->true_extent_bytes_ = size;
        layout->element_ = type;
        if (size == 0) return layout;
        const Signature signature = signature_of_element(static_cast<std::uint32_t>(type));
        layout->has_bounds_ = true;
        layout->signature_hash_ = fold(signature);
        layout->signature_ = signature;
        layout->root_ = layout_build::run(size);
        return layout;
    }

    /// An element type whose value is followed by an index, `index_offset_bytes` from its start.
    static LayoutRef predefined_pair(
        ElementType type, const LayoutRef& value, const LayoutRef& index,
        std::int64_t index_offset_bytes, std::int64_t extent_bytes
    ) {
        LayoutBuilder builder;
        builder.add(*value, steps(1, 0), 1);
        Range place;
        place.include(index_offset_bytes, index_offset_bytes);
        builder.add(*index, place, 1);
        builder.bounds_.include(0, extent_bytes);
        builder.element_ = type;
        const Placed parts[] = {{value->root_, 0}, {index->root_, index_offset_bytes}};
        return *builder.finish(layout_build::joined({std::begin(parts), std::end(parts)}));
    }

  private:
    [[nodiscard]] const Range& bounds() const {
        return explicit_bounds_.is_empty ? bounds_ : explicit_bounds_;
    }

    /// Runs of the same piece are gathered: a list of a million blocks of one type is one of them.
    void add_signature(Signature piece, std::uint64_t repetitions) {
        if (piece != piece_) {
            signature_ = concatenate(signature_, repeat(piece_, piece_repetitions_));
            piece_ = piece;
            piece_repetitions_ = 0;
        }
        piece_repetitions_ += repetitions;
    }

    Wide size_ = 0;
    Range bounds_;
    Range explicit_bounds_;
    Range true_bounds_;
    ElementType element_ = ElementType::none;
    ElementType empty_element_ = ElementType::none;
    Signature signature_;  ///< Of all but the last run of pieces.
    Signature piece_;
    std::uint64_t piece_repetitions_ = 0;
};

namespace {

using Predefined = std::array<LayoutRef, element_type_count>;

/// REQUIRES: the layouts of its parts are there.
template<typename Value>
void add_pair(Predefined& layouts, ElementType type, ElementType value) {
    struct Pair {
        Value value;
        std::int32_t index;
    };
    layouts[static_cast<std::size_t>(type)] = LayoutBuilder::predefined_pair(
        type, layouts[static_cast<std::size_t>(value)],
        layouts[static_cast<std::size_t>(ElementType::int32)], offsetof(Pair, index), sizeof(Pair)
    );
}

Predefined make_predefined() {
    using enum ElementType;
    Predefined layouts;
    for (std::size_t i = 0; i < dense_element_type_count; ++i) {
        layouts[i] = LayoutBuilder::predefined(static_cast<ElementType>(i));
    }
    add_pair<float>(layouts, float32_int32, float32);
    add_pair<double>(layouts, float64_int32, float64);
    add_pair<std::int32_t>(layouts, int32_int32, int32);
    add_pair<std::int64_t>(layouts, int64_int32, int64);
    add_pair<std::int16_t>(layouts, int16_int32, int16);
    add_pair<long double>(layouts, long_double_int32, long_double);
    return layouts;
}

}  // namespace

const LayoutRef& Layout::of(ElementType type) {
    static const Predefined predefined = make_predefined();
    DLRT_ASSERT(static_cast<std::size_t>(type) < element_type_count);
    return predefined[static_cast<std::size_t>(type)];
}

std::uint32_t Layout::signature_hash(std::uint64_t count) const {
    return fold(repeat(signature_, count));
}

Result<LayoutRef> Layout::contiguous(std::int64_t count, const LayoutRef& old) {
    return vector(1, count, 0, old);
}

Result<LayoutRef> Layout::vector(
    std::int64_t count, std::int64_t block_length, std::int64_t stride_bytes, const LayoutRef& old
) {
    if (Status status = check_not_negative("count", count); !status.ok()) return status;
    if (Status status = check_not_negative("block_length", block_length); !status.ok()) {
        return status;
    }
    LayoutBuilder builder;
    Range places;
    if (count != 0 && block_length != 0) {
        const Range blocks = steps(count, stride_bytes);
        const Range within = steps(block_length, old->extent_bytes_);
        places.include(blocks.low + within.low, blocks.high + within.high);
    }
    builder.add(*old, places, Wide{count} * block_length);
    if (Status status = builder.check(); !status.ok()) return status;

    const Placed inner = LayoutBuilder::root_of(*old);
    const auto block = layout_build::repeated(
        static_cast<std::uint64_t>(block_length), old->extent_bytes_, inner.node
    );
    return builder.finish(
        {layout_build::repeated(static_cast<std::uint64_t>(count), stride_bytes, block),
         inner.displacement_bytes}
    );
}

Result<LayoutRef> Layout::indexed(
    std::span<const std::int64_t> block_lengths, std::span<const std::int64_t> displacements_bytes,
    const LayoutRef& old
) {
    const Status checked = check_list(
        block_lengths, displacements_bytes.size(), block_lengths.size()
    );
    if (!checked.ok()) return checked;
    LayoutBuilder builder;
    builder.add(*old, {}, 0);
    for (std::size_t i = 0; i < block_lengths.size(); ++i) {
        if (block_lengths[i] == 0) continue;
        Range places = steps(block_lengths[i], old->extent_bytes_);
        places.low += displacements_bytes[i];
        places.high += displacements_bytes[i];
        builder.add(*old, places, block_lengths[i]);
    }
    if (Status status = builder.check(); !status.ok()) return status;

    const Placed inner = LayoutBuilder::root_of(*old);
    std::vector<layout_build::Repetitions> entries;
    entries.reserve(block_lengths.size());
    for (std::size_t i = 0; i < block_lengths.size(); ++i) {
        if (block_lengths[i] == 0 || inner.node == nullptr) continue;
        entries.push_back(
            {displacements_bytes[i] + inner.displacement_bytes,
             static_cast<std::uint64_t>(block_lengths[i])}
        );
    }
    return builder.finish(layout_build::listed(std::move(entries), old->extent_bytes_, inner.node));
}

Result<LayoutRef> Layout::structure(
    std::span<const std::int64_t> block_lengths, std::span<const std::int64_t> displacements_bytes,
    std::span<const LayoutRef> olds
) {
    const Status checked = check_list(block_lengths, displacements_bytes.size(), olds.size());
    if (!checked.ok()) return checked;
    LayoutBuilder builder;
    for (std::size_t i = 0; i < olds.size(); ++i) {
        Range places;
        if (block_lengths[i] != 0) {
            places = steps(block_lengths[i], olds[i]->extent_bytes_);
            places.low += displacements_bytes[i];
            places.high += displacements_bytes[i];
        }
        builder.add(*olds[i], places, block_lengths[i]);
    }
    if (Status status = builder.check(); !status.ok()) return status;

    std::vector<Placed> parts;
    for (std::size_t i = 0; i < olds.size(); ++i) {
        const Placed inner = LayoutBuilder::root_of(*olds[i]);
        auto node = layout_build::repeated(
            static_cast<std::uint64_t>(block_lengths[i]), olds[i]->extent_bytes_, inner.node
        );
        if (node == nullptr) continue;
        parts.push_back({std::move(node), displacements_bytes[i] + inner.displacement_bytes});
    }
    return builder.finish(layout_build::joined(std::move(parts)));
}

Result<LayoutRef> Layout::resized(
    std::int64_t lower_bound_bytes, std::int64_t extent_bytes, const LayoutRef& old
) {
    LayoutBuilder builder;
    Range places;
    places.include(0, 0);
    builder.add(*old, places, 1);
    builder.set_bounds(lower_bound_bytes, Wide{lower_bound_bytes} + extent_bytes);
    if (Status status = builder.check(); !status.ok()) return status;
    return builder.finish(LayoutBuilder::root_of(*old));
}

Result<LayoutRef> pad_to_alignment(const LayoutRef& layout, std::uint32_t alignment_bytes) {
    LayoutBuilder builder;
    Range places;
    places.include(0, 0);
    builder.add(*layout, places, 1);
    builder.pad(alignment_bytes);
    if (Status status = builder.check(); !status.ok()) return status;
    return builder.finish(LayoutBuilder::root_of(*layout));
}

Result<LayoutRef> Layout::subarray(
    std::span<const std::int64_t> sizes, std::span<const std::int64_t> subsizes,
    std::span<const std::int64_t> starts, Order order, const LayoutRef& old
) {
    const std::size_t dimensions = sizes.size();
    if (dimensions == 0 || subsizes.size() != dimensions || starts.size() != dimensions) {
        return fail(
            Errc::argument, "a subarray has 1 dimension or more; {} sizes, {} subsizes, {} starts",
            dimensions, subsizes.size(), starts.size()
        );
    }
    LayoutRef result = old;
    Wide offset = 0;
    Wide stride = old->extent_bytes_;
    for (std::size_t i = 0; i < dimensions; ++i) {
        const std::size_t d = order == Order::row_major ? dimensions - 1 - i : i;
        if (sizes[d] < 0) return check_not_negative("a size", sizes[d]);
        if (subsizes[d] < 0) return check_not_negative("a subsize", subsizes[d]);
        if (starts[d] < 0 || subsizes[d] > sizes[d] || starts[d] > sizes[d] - subsizes[d]) {
            return fail(
                Errc::argument, "dimension {}: {} elements from {} are not within 0..{}", d,
                subsizes[d], starts[d], sizes[d]
            );
        }
        auto row = vector(subsizes[d], 1, static_cast<std::int64_t>(stride), result);
        if (!row) return row.error();
        result = *std::move(row);
        offset += starts[d] * stride;
        stride *= sizes[d];
        if (stride < smallest || stride > largest || offset < smallest || offset > largest) {
            return fail(Errc::type, "the extent of the array is beyond 2^63 - 1 bytes");
        }
    }
    const std::int64_t one = 1;
    const auto at = static_cast<std::int64_t>(offset);
    auto placed = structure({&one, 1}, {&at, 1}, {&result, 1});
    if (!placed) return placed.error();
    return resized(0, static_cast<std::int64_t>(stride), *placed);
}

}  // namespace dlrt
