// SPDX-License-Identifier: Apache-2.0
/// A reduction together with what it works on: one of dlrt's own over an element type, or a user's
/// over whole elements of a layout. A value; copies share the user's function and layout, and keep
/// them. Any thread.
///
/// Works on data as collectives carry it: packed, narrow floats widened.
#pragma once

#include "collectives/schedule.hpp"
#include "runtime/base/export.hpp"
#include "runtime/handle_table.hpp"
#include "runtime/layout.hpp"
#include "runtime/reduce_op.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace dlrt {

struct UserOp {
    /// right[i] = left[i] op right[i] for count > 0 elements, which lie in memory as the layout
    /// says that `type` stands for. Doesn't throw.
    using Function = std::function<
        void(const void* left, void* right, std::int64_t count, Handle type)>;
    Function function;
    bool is_commutative = false;
};
using UserOpRef = std::shared_ptr<const UserOp>;

class DLRT_CORE Reducer {
  public:
    /// None: is_defined() is false.
    Reducer() = default;
    Reducer(ReduceOp op, ElementType element);
    /// `type` is the surface's handle of the layout, for the function.
    Reducer(UserOpRef op, LayoutRef layout, Handle type);

    [[nodiscard]] bool is_defined() const;
    [[nodiscard]] coll::OperandOrder operand_order() const;
    /// For messages: "sum of double".
    [[nodiscard]] std::string description() const;

    /// What an element is for dlrt's own reductions, in the user's memory and on its way.
    [[nodiscard]] ElementType stored() const { return stored_; }
    [[nodiscard]] ElementType carried() const { return carried_; }
    /// null of a user's.
    [[nodiscard]] ReduceOp op() const { return op_; }
    [[nodiscard]] bool is_user() const { return user_op_ != nullptr; }
    /// Of elements as they lie in the user's memory, and finish() does nothing.
    [[nodiscard]] bool is_plain() const {
        return !is_user() && op_ != ReduceOp::average && stored_ == carried_;
    }
    /// Never cut within so many bytes, counted from the start of the carried data; not 0.
    [[nodiscard]] std::uint64_t unit_bytes() const;

    /// Memory that apply() needs beside its operands, aligned as an Arena is; often 0.
    [[nodiscard]] std::uint64_t memory_bytes() const;
    /// target = left op right, in this order. target may be left or right, else it doesn't overlap
    /// them. REQUIRES: `bytes` is a multiple of unit_bytes().
    void apply(
        const std::byte* left, const std::byte* right, std::byte* target, std::uint64_t bytes,
        std::byte* memory
    ) const;
    /// What is left to do once, on a result that has the values of all `rank_count` ranks in it.
    void finish(std::byte* result, std::uint64_t bytes, std::uint32_t rank_count) const;

  private:
    /// A user's elements outside of the user's memory: how many there may be at a time, the bytes
    /// they take, and how far from the start of those the first one's origin is.
    struct Batch {
        std::uint64_t count = 0;
        std::uint64_t area_bytes = 0;
        std::int64_t origin_bytes = 0;
    };
    [[nodiscard]] Batch batch_of_layout() const;
    void call(const std::byte* left, std::byte* right, std::uint64_t count) const;
    void apply_dense(
        const std::byte* left, const std::byte* right, std::byte* target, std::uint64_t bytes,
        std::byte* memory
    ) const;
    void apply_gapped(
        const std::byte* left, const std::byte* right, std::byte* target, std::uint64_t bytes,
        std::byte* memory
    ) const;

    ReduceOp op_ = ReduceOp::null;
    ElementType stored_ = ElementType::none;
    ElementType carried_ = ElementType::none;
    UserOpRef user_op_;
    LayoutRef layout_;
    Handle type_;
    Batch batch_;
};

}  // namespace dlrt
