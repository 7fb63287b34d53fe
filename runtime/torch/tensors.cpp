// SPDX-License-Identifier: Apache-2.0
#include "runtime/torch/tensors.hpp"

#include <ATen/ATen.h>

namespace dlrt_torch {
namespace {

struct Pairing {
    at::ScalarType scalar;
    Element element;
};
constexpr Pairing pairings[] = {
    {at::kByte, {DLRT_UINT8}},
    {at::kChar, {DLRT_INT8}},
    {at::kShort, {DLRT_INT16}},
    {at::kInt, {DLRT_INT32}},
    {at::kLong, {DLRT_INT64}},
    {at::kHalf, {DLRT_FLOAT16}},
    {at::kBFloat16, {DLRT_BFLOAT16}},
    {at::kFloat, {DLRT_FLOAT}},
    {at::kDouble, {DLRT_DOUBLE}},
    {at::kBool, {DLRT_BOOL}},
    {at::kComplexHalf, {DLRT_FLOAT16, 2}},
    {at::kComplexFloat, {DLRT_COMPLEX_FLOAT}},
    {at::kComplexDouble, {DLRT_COMPLEX_DOUBLE}},
};

std::string name_of(at::ScalarType type) {
    return c10::toString(type);
}

/// Bools are reduced as truth values: what torch calls sum or maximum is "or".
dlrt_op reduction_of_bools(c10d::ReduceOp::RedOpType op) {
    using Op = c10d::ReduceOp;
    if (op == Op::SUM || op == Op::MAX || op == Op::BOR) return DLRT_LOR;
    if (op == Op::PRODUCT || op == Op::MIN || op == Op::BAND) return DLRT_LAND;
    return op == Op::BXOR ? DLRT_LXOR : DLRT_OP_NULL;
}

dlrt_op reduction_of_numbers(c10d::ReduceOp::RedOpType op, at::ScalarType type) {
    using Op = c10d::ReduceOp;
    const bool is_whole = c10::isIntegralType(type, false);
    const bool is_complex = c10::isComplexType(type);
    const bool is_half_pair = type == at::kComplexHalf;
    if (op == Op::SUM) return DLRT_SUM;
    if (op == Op::AVG && !is_whole) return DLRT_AVG;
    if (op == Op::PRODUCT && !is_half_pair) return DLRT_PROD;
    if (op == Op::MIN && !is_complex) return DLRT_MIN;
    if (op == Op::MAX && !is_complex) return DLRT_MAX;
    if (op == Op::BAND && is_whole) return DLRT_BAND;
    if (op == Op::BOR && is_whole) return DLRT_BOR;
    if (op == Op::BXOR && is_whole) return DLRT_BXOR;
    return DLRT_OP_NULL;
}

const char* name_of(c10d::ReduceOp::RedOpType op) {
    static constexpr const char* names[] = {
        "SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR", "PREMUL_SUM",
    };
    const auto i = static_cast<std::size_t>(op);
    return i < std::size(names) ? names[i] : "that operation";
}

bool lies_plainly(const at::Tensor& tensor) {
    return tensor.is_contiguous() && !tensor.is_conj() && !tensor.is_neg();
}

}  // namespace

void reject(const char* call, const std::string& reason) {
    throw Failure(DLRT_ERR_ARG, std::string(call) + ": " + reason);
}

Element element_of(const at::Tensor& tensor, const char* call) {
    if (!tensor.defined()) reject(call, "a tensor is undefined");
    if (!tensor.device().is_cpu()) {
        reject(
            call, "a tensor is on device " + tensor.device().str() +
                      "; this build of dlrt moves tensors on the CPU only: pass tensor.cpu()"
        );
    }
    if (tensor.layout() != at::kStrided) {
        reject(call, "a tensor is not dense; pass tensor.to_dense()");
    }
    for (const Pairing& pairing : pairings) {
        if (pairing.scalar == tensor.scalar_type()) return pairing.element;
    }
    reject(call, "elements of type " + name_of(tensor.scalar_type()) + " can't be moved");
}

Element element_of_all(const Tensors& tensors, const char* call) {
    if (tensors.empty()) reject(call, "the list of tensors is empty");
    const Element element = element_of(tensors.front(), call);
    for (const at::Tensor& tensor : tensors) {
        static_cast<void>(element_of(tensor, call));
        if (tensor.scalar_type() == tensors.front().scalar_type()) continue;
        reject(
            call, "a list has tensors of " + name_of(tensors.front().scalar_type()) + " and of " +
                      name_of(tensor.scalar_type())
        );
    }
    return element;
}

at::Tensor& only(Tensors& tensors, const char* call) {
    require_count(tensors.size(), 1, "tensors", call);
    return tensors.front();
}

dlrt_op reduction(const c10d::ReduceOp& op, const at::Tensor& tensor, const char* call) {
    const c10d::ReduceOp::RedOpType kind = op;
    const at::ScalarType type = tensor.scalar_type();
    const dlrt_op found = type == at::kBool ? reduction_of_bools(kind)
                                            : reduction_of_numbers(kind, type);
    if (found.index != DLRT_OP_NULL.index) return found;
    reject(call, std::string(name_of(kind)) + " is not defined for " + name_of(type));
}

at::Tensor readable(const at::Tensor& tensor) {
    if (lies_plainly(tensor)) return tensor;
    const at::NoGradGuard no_grad;
    return tensor.resolve_conj().resolve_neg().contiguous();
}

at::Tensor writable(const at::Tensor& tensor) {
    if (lies_plainly(tensor)) return tensor;
    const at::NoGradGuard no_grad;
    return at::empty(tensor.sizes(), tensor.options().requires_grad(false));
}

void put_back(const at::Tensor& memory, const at::Tensor& target) {
    if (memory.is_same(target)) return;
    const at::NoGradGuard no_grad;
    target.detach().copy_(memory);
}

at::Tensor flat_room(const Tensors& tensors) {
    const at::NoGradGuard no_grad;
    std::int64_t count = 0;
    for (const at::Tensor& tensor : tensors) count += tensor.numel();
    return at::empty({count}, tensors.front().options().requires_grad(false));
}

at::Tensor flat(const Tensors& tensors) {
    const at::NoGradGuard no_grad;
    at::Tensor result = flat_room(tensors);
    std::int64_t begin = 0;
    for (const at::Tensor& tensor : tensors) {
        const std::int64_t count = tensor.numel();
        if (count != 0) result.narrow(0, begin, count).view(tensor.sizes()).copy_(tensor.detach());
        begin += count;
    }
    return result;
}

void put_back_parts(const at::Tensor& memory, const Tensors& targets) {
    const at::NoGradGuard no_grad;
    const at::Tensor line = memory.view({-1});
    std::int64_t begin = 0;
    for (const at::Tensor& target : targets) {
        const std::int64_t count = target.numel();
        if (count != 0) target.detach().copy_(line.narrow(0, begin, count).view(target.sizes()));
        begin += count;
    }
}

Split split_of(
    const at::Tensor& tensor, const std::vector<std::int64_t>& sizes, int group_size,
    const char* call
) {
    const Element element = element_of(tensor, call);
    const std::int64_t rows = tensor.dim() == 0 ? 1 : tensor.size(0);
    const std::int64_t row_count = rows == 0 ? 0 : count_of(tensor, element) / rows;
    const auto parts = static_cast<std::size_t>(group_size);
    std::vector<std::int64_t> part_rows = sizes;
    if (sizes.empty()) {
        if (rows % group_size != 0) {
            reject(
                call, "the first dimension, " + std::to_string(rows) + ", can't be divided among " +
                          std::to_string(group_size) + " ranks"
            );
        }
        part_rows.assign(parts, rows / group_size);
    }
    require_count(part_rows.size(), parts, "split sizes", call);
    Split split;
    std::int64_t begin = 0;
    for (const std::int64_t part : part_rows) {
        if (part < 0) reject(call, "a split size is negative");
        split.counts.push_back(part * row_count);
        split.displacements.push_back(begin * row_count);
        begin += part;
    }
    if (begin == rows) return split;
    reject(
        call, "the split sizes add up to " + std::to_string(begin) + ", the first dimension is " +
                  std::to_string(rows)
    );
}

Split split_of(const Tensors& tensors, const Element& element) {
    Split split;
    std::int64_t begin = 0;
    for (const at::Tensor& tensor : tensors) {
        split.counts.push_back(count_of(tensor, element));
        split.displacements.push_back(begin);
        begin += split.counts.back();
    }
    return split;
}

void require_same(
    const at::Tensor& tensor, std::int64_t expected, const at::Tensor& model, const char* call
) {
    static_cast<void>(element_of(tensor, call));
    if (tensor.scalar_type() != model.scalar_type()) {
        reject(
            call, "tensors of " + name_of(model.scalar_type()) + " and of " +
                      name_of(tensor.scalar_type()) + " meet in one call"
        );
    }
    if (tensor.numel() == expected) return;
    reject(
        call, "a tensor has " + std::to_string(tensor.numel()) + " elements where " +
                  std::to_string(expected) + " are needed"
    );
}

void require_count(std::size_t found, std::size_t expected, const char* what, const char* call) {
    if (found == expected) return;
    reject(
        call, "a list has " + std::to_string(found) + " " + what + " where " +
                  std::to_string(expected) + " are needed"
    );
}

}  // namespace dlrt_torch
