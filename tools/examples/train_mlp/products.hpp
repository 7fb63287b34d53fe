// SPDX-License-Identifier: Apache-2.0
/// The products of a linear layer. Sums are kept in Wide<T>, one row at a time, and rounded once;
/// each adds in the order of samples, so that the parts of a batch give the bits of the whole where
/// T is wide.
#pragma once

#include "tools/examples/train_mlp/low_precision.hpp"
#include "tools/examples/train_mlp/tensor.hpp"

#include <algorithm>

namespace train {

/// Y = X W + b
template<typename T>
void multiply(const Tensor<T>& x, const Layer<const T>& layer, Tensor<T>& y) {
    std::vector<Wide<T>> sums(layer.outputs);
    for (std::size_t sample = 0; sample < x.rows(); ++sample) {
        std::ranges::transform(layer.bias, sums.begin(), widened<T>);
        const T* weights = layer.weights.data();
        for (const T value : x.row(sample)) {
            const Wide<T> factor = widened(value);
            for (std::size_t o = 0; o < layer.outputs; ++o) sums[o] += factor * widened(weights[o]);
            weights += layer.outputs;
        }
        std::ranges::transform(sums, y.row(sample).begin(), [](Wide<T> sum) { return T(sum); });
    }
}

/// dW += X^T dY; db += the sum of dY's rows
template<typename T>
void add_weight_gradient(const Tensor<T>& x, const Tensor<T>& dy, const Layer<T>& gradients) {
    std::vector<Wide<T>> sums(gradients.outputs);
    const auto add_rows = [&](std::span<T> gradient, const auto& factor_of) {
        std::ranges::transform(gradient, sums.begin(), widened<T>);
        for (std::size_t sample = 0; sample < x.rows(); ++sample) {
            const Wide<T> factor = factor_of(sample);
            const T* const row = dy.row(sample).data();
            for (std::size_t o = 0; o < sums.size(); ++o) sums[o] += factor * widened(row[o]);
        }
        std::ranges::transform(sums, gradient.begin(), [](Wide<T> sum) { return T(sum); });
    };
    for (std::size_t i = 0; i < gradients.inputs; ++i) {
        const std::span<T> gradient = gradients.weights.subspan(
            i * gradients.outputs, gradients.outputs
        );
        add_rows(gradient, [&](std::size_t sample) { return widened(x.row(sample)[i]); });
    }
    add_rows(gradients.bias, [](std::size_t) { return Wide<T>(1); });
}

/// dX = dY W^T
template<typename T>
void multiply_transposed(const Tensor<T>& dy, const Layer<const T>& layer, Tensor<T>& dx) {
    for (std::size_t sample = 0; sample < dy.rows(); ++sample) {
        const T* const row = dy.row(sample).data();
        const T* weights = layer.weights.data();
        for (T& result : dx.row(sample)) {
            Wide<T> sum = 0;
            for (std::size_t o = 0; o < layer.outputs; ++o) {
                sum += widened(row[o]) * widened(weights[o]);
            }
            result = T(sum);
            weights += layer.outputs;
        }
    }
}

}  // namespace train
