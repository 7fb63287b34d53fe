// SPDX-License-Identifier: Apache-2.0
/// How far a network's output is from what it should be, and the gradient that backward begins
/// with. A sample's target is its label: 1 in the label's column and 0 in the others.
#pragma once

#include "tools/examples/train_mlp/low_precision.hpp"
#include "tools/examples/train_mlp/tensor.hpp"

#include <cstdint>

namespace train {

enum class Loss : std::uint8_t {
    /// -log of the label's probability, where probabilities are the softmax of the output.
    cross_entropy,
    /// The mean over columns of the squares of differences.
    mean_squared_error,
    /// The mean over columns of absolute differences.
    l1,
};

/// The sum over samples.
template<typename T>
double loss_of(Loss loss, const Tensor<T>& output, std::span<const int> labels);

/// gradient = factor * dL/dY, where L is the sum over samples.
template<typename T>
void loss_gradient(
    Loss loss, const Tensor<T>& output, std::span<const int> labels, Wide<T> factor,
    Tensor<T>& gradient
);

/// For how many samples the label's column is the largest.
template<typename T>
std::size_t correct_count(const Tensor<T>& output, std::span<const int> labels);

}  // namespace train
