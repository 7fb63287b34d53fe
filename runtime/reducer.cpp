// SPDX-License-Identifier: Apache-2.0
/// A user's function writes into its right operand and expects the user's layout; operands are
/// brought there and back batch by batch, so that the memory for it stays small.
#include "runtime/reducer.hpp"

#include "runtime/base/check.hpp"
#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace dlrt {
namespace {

__extension__ using Wide = __int128;

constexpr Wide batch_bytes_wanted = Wide{64} << 10;
constexpr Wide batch_count_max = 8192;
// More than there is: asking for it fails, as it should.
constexpr Wide area_bytes_max = std::numeric_limits<std::int64_t>::max() / 4;
constexpr Wide alignment_bytes = no_sharing_bytes;

/// The next multiple of the alignment that is not less; also of negative numbers.
Wide aligned_up(Wide bytes) {
    const Wide rest = bytes % alignment_bytes;
    return bytes - rest + (rest > 0 ? alignment_bytes : 0);
}

}  // namespace

Reducer::Reducer(ReduceOp op, ElementType element)
    : op_(op), stored_(element), carried_(carried_type(op, element)) {
}

Reducer::Reducer(UserOpRef op, LayoutRef layout, Handle type)
    : user_op_(std::move(op)), layout_(std::move(layout)), type_(type), batch_(batch_of_layout()) {
    DLRT_ASSERT(user_op_ != nullptr && layout_ != nullptr);
}

bool Reducer::is_defined() const {
    return is_user() || dlrt::is_defined(op_, stored_);
}

coll::OperandOrder Reducer::operand_order() const {
    const bool keeps_order = is_user() && !user_op_->is_commutative;
    return keeps_order ? coll::OperandOrder::by_rank : coll::OperandOrder::any;
}

std::string Reducer::description() const {
    if (is_user()) return "the user's reduction";
    return fmt::format("{} of {}", reduce_op_name(op_), element_name(stored_));
}

std::uint64_t Reducer::unit_bytes() const {
    const std::uint64_t size = is_user() ? layout_->size_bytes() : element_size_bytes(carried_);
    return std::max<std::uint64_t>(size, 1);
}

std::uint64_t Reducer::memory_bytes() const {
    if (!is_user()) return 0;
    return layout_->is_contiguous() ? batch_.area_bytes : 2 * batch_.area_bytes;
}

void Reducer::apply(
    const std::byte* left, const std::byte* right, std::byte* target, std::uint64_t bytes,
    std::byte* memory
) const {
    if (bytes == 0) return;
    DLRT_ASSERT(bytes % unit_bytes() == 0);
    if (!is_user()) {
        reduce_elements(op_, carried_, left, right, target, bytes / unit_bytes());
    } else if (layout_->is_contiguous()) {
        apply_dense(left, right, target, bytes, memory);
    } else {
        apply_gapped(left, right, target, bytes, memory);
    }
}

void Reducer::finish(std::byte* result, std::uint64_t bytes, std::uint32_t rank_count) const {
    if (op_ != ReduceOp::average || bytes == 0) return;
    divide_elements(carried_, result, bytes / unit_bytes(), rank_count);
}

Reducer::Batch Reducer::batch_of_layout() const {
    // Gaps within the bounds count too: a function may well copy whole structs.
    const Layout& layout = *layout_;
    const Wide lower = layout.lower_bound_bytes(), true_lower = layout.true_lower_bound_bytes();
    const Wide upper = lower + layout.extent_bytes();
    const Wide true_upper = true_lower + layout.true_extent_bytes();
    Wide low = std::min({lower, upper, true_lower});
    Wide high = std::max({lower, upper, true_upper});
    const Wide step = layout.extent_bytes();
    const Wide step_bytes = std::max<Wide>(step < 0 ? -step : step, 1);
    const Wide room = std::max<Wide>(batch_bytes_wanted - (high - low), 0);
    const Wide count = std::min(1 + room / step_bytes, batch_count_max);
    low += std::min<Wide>((count - 1) * step, 0);
    high += std::max<Wide>((count - 1) * step, 0);
    const Wide origin = aligned_up(-low);
    const Wide area = std::min(aligned_up(origin + high), area_bytes_max);
    return {
        static_cast<std::uint64_t>(count), static_cast<std::uint64_t>(area),
        static_cast<std::int64_t>(origin)};
}

void Reducer::call(const std::byte* left, std::byte* right, std::uint64_t count) const {
    user_op_->function(left, right, static_cast<std::int64_t>(count), type_);
}

void Reducer::apply_dense(
    const std::byte* left, const std::byte* right, std::byte* target, std::uint64_t bytes,
    std::byte* memory
) const {
    const std::uint64_t size = layout_->size_bytes();
    const std::int64_t start = layout_->true_lower_bound_bytes();
    if (target != left) {
        if (target != right) std::memcpy(target, right, bytes);
        return call(left - start, target - start, bytes / size);
    }
    // The right operand stays what it is: work on a copy.
    const std::uint64_t batch_bytes = batch_.count * size;
    std::byte* const copy = memory + batch_.origin_bytes;
    for (std::uint64_t done = 0; done < bytes; done += batch_bytes) {
        const std::uint64_t now = std::min(batch_bytes, bytes - done);
        std::memcpy(copy + start, right + done, now);
        call(left + done - start, copy, now / size);
        std::memcpy(target + done, copy + start, now);
    }
}

void Reducer::apply_gapped(
    const std::byte* left, const std::byte* right, std::byte* target, std::uint64_t bytes,
    std::byte* memory
) const {
    const std::uint64_t size = layout_->size_bytes();
    const std::uint64_t batch_bytes = batch_.count * size;
    std::byte* const left_copy = memory + batch_.origin_bytes;
    std::byte* const right_copy = left_copy + batch_.area_bytes;
    for (std::uint64_t done = 0; done < bytes; done += batch_bytes) {
        const std::uint64_t now = std::min(batch_bytes, bytes - done);
        unpack(*layout_, now / size, left_copy, 0, {left + done, now});
        unpack(*layout_, now / size, right_copy, 0, {right + done, now});
        call(left_copy, right_copy, now / size);
        pack(*layout_, now / size, right_copy, 0, {target + done, now});
    }
}

}  // namespace dlrt
