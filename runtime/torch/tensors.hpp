// SPDX-License-Identifier: Apache-2.0
/// Tensors as dlrt sees them: elements of a type that lie one after the other. What lies otherwise
/// is copied, and copied back when the operation is complete. Throws Failure for what dlrt can't
/// move, before anything has begun. Any thread.
#pragma once

#include "runtime/torch/failure.hpp"

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <string>
#include <torch/csrc/distributed/c10d/Types.hpp>
#include <vector>

namespace dlrt_torch {

using Tensors = std::vector<at::Tensor>;

/// A dlrt type for a tensor's elements.
struct Element {
    dlrt_type type = DLRT_TYPE_NULL;
    std::int64_t parts = 1;  ///< So many of them are one element.
};

/// Of a CPU tensor with strides.
[[nodiscard]] Element element_of(const at::Tensor& tensor, const char* call);
/// All are of the same type, which is returned.
[[nodiscard]] Element element_of_all(const Tensors& tensors, const char* call);
/// The only one of a list.
[[nodiscard]] at::Tensor& only(Tensors& tensors, const char* call);

/// For that type of elements.
[[nodiscard]] dlrt_op reduction(
    const c10d::ReduceOp& op, const at::Tensor& tensor, const char* call
);

/// The tensor itself, or a copy whose elements lie one after the other.
[[nodiscard]] at::Tensor readable(const at::Tensor& tensor);
/// The same for results; it isn't filled where it is a copy.
[[nodiscard]] at::Tensor writable(const at::Tensor& tensor);
/// Copies what was received to where the user wants it, if that is elsewhere.
void put_back(const at::Tensor& memory, const at::Tensor& target);

/// One tensor with the elements of all, one after the other.
[[nodiscard]] at::Tensor flat(const Tensors& tensors);
/// Room for as many.
[[nodiscard]] at::Tensor flat_room(const Tensors& tensors);
void put_back_parts(const at::Tensor& memory, const Tensors& targets);

/// Elements of dlrt's type.
[[nodiscard]] inline std::int64_t count_of(const at::Tensor& tensor, const Element& element) {
    return tensor.numel() * element.parts;
}

/// Parts one after the other, in elements of dlrt's type.
struct Split {
    std::vector<std::int64_t> counts;
    std::vector<std::int64_t> displacements;
};
/// A tensor in parts of so many rows; in equal ones where there are no sizes.
[[nodiscard]] Split split_of(
    const at::Tensor& tensor, const std::vector<std::int64_t>& sizes, int group_size,
    const char* call
);
/// A list whose tensors lie one after the other.
[[nodiscard]] Split split_of(const Tensors& tensors, const Element& element);

/// Requires as many elements as `expected`, of the given one's type.
void require_same(
    const at::Tensor& tensor, std::int64_t expected, const at::Tensor& model, const char* call
);
/// Requires a list of as many.
void require_count(std::size_t found, std::size_t expected, const char* what, const char* call);

[[noreturn]] void reject(const char* call, const std::string& reason);

}  // namespace dlrt_torch
