// SPDX-License-Identifier: Apache-2.0
/// Element-wise reductions of host memory.
#pragma once

#include "runtime/base/export.hpp"
#include "runtime/base/status.hpp"
#include "runtime/layout.hpp"

#include <cstdint>

namespace dlrt {

/// The numbers are those of dlrt_op.
enum class ReduceOp : std::uint8_t {
    null = 0,
    sum = 1,
    product,
    minimum,
    maximum,
    logical_and,
    logical_or,
    logical_xor,
    bit_and,
    bit_or,
    bit_xor,
    minimum_location,
    maximum_location,
    average,
};

/// Whether the reduction is defined for the element type (see dlrt.h at dlrt_op).
[[nodiscard]] DLRT_CORE bool is_defined(ReduceOp op, ElementType type);
/// Whether scans may use it: an average has no meaning before everybody's value is in.
[[nodiscard]] DLRT_CORE bool is_defined_for_prefix(ReduceOp op);
[[nodiscard]] DLRT_CORE const char* reduce_op_name(ReduceOp op);

/// target[i] = left[i] op right[i] for count elements; target may be left or right, else it doesn't
/// overlap them. No alignment is needed. Operands keep their order. In minimum and maximum NaN wins
/// (left's, if both are) and -0 is less than +0; integers wrap; logical results are 0 or 1. half
/// and bfloat16 are computed in float and rounded to nearest even. Pairs are taken without gaps;
/// of equal values, zeros of either sign among them, and of two NaN the smaller index wins. An
/// average is summed here, and divided by divide_elements(). REQUIRES: is_defined(op, type).
void reduce_elements(
    ReduceOp op, ElementType type, const void* left, const void* right, void* target,
    std::uint64_t count
);

/// What reduce_elements() does for that operation and type; null where it isn't defined.
using ReduceKernel =
    void (*)(const std::byte* left, const std::byte* right, std::byte* target, std::uint64_t count);
[[nodiscard]] ReduceKernel reduce_kernel(ReduceOp op, ElementType type);

/// Divides each of `count` floats or complex numbers.
void divide_elements(ElementType type, void* elements, std::uint64_t count, std::uint32_t divisor);

/// The wider type in which a chain of reductions of this type is to be carried (float for half and
/// bfloat16, else the type itself), and the conversions; the narrowing one rounds to nearest even.
[[nodiscard]] ElementType accumulation_type(ElementType type);
/// The type in which operands of this reduction are carried: accumulation_type() for the ones that
/// round, else the type itself.
[[nodiscard]] ElementType carried_type(ReduceOp op, ElementType type);
DLRT_CORE void widen_elements(
    ElementType narrow, const void* source, void* target, std::uint64_t count
);
DLRT_CORE void narrow_elements(
    ElementType narrow, const void* source, void* target, std::uint64_t count
);

}  // namespace dlrt
