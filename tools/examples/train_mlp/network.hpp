// SPDX-License-Identifier: Apache-2.0
/// A multi-layer perceptron: Y = X W + b in every layer, an activation function between layers.
///
/// Backward needs the input of every layer. forward() keeps them all, or every k-th one and those
/// of the last k layers; backward then computes the others anew, group of k by group of k, and
/// gets the same bits.
#pragma once

#include "tools/examples/train_mlp/low_precision.hpp"
#include "tools/examples/train_mlp/tensor.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace train {

enum class Activation : std::uint8_t { tanh, relu };

template<typename T>
class Network {
  public:
    /// Called in backward when the gradients of a layer are complete.
    using LayerIsReady = std::function<void(std::size_t layer)>;

    Network(Shape shape, Activation activation, std::size_t keep_every, MemoryMeter& meter);

    [[nodiscard]] const Shape& shape() const { return shape_; }
    [[nodiscard]] std::span<T> weights() { return weights_.values(); }
    [[nodiscard]] std::span<T> gradients() { return gradients_.values(); }

    /// The output of the last layer. Keeps what backward needs.
    Tensor<T> forward(Tensor<T> input);
    /// The same; keeps nothing.
    [[nodiscard]] Tensor<T> infer(Tensor<T> input) const;
    /// Adds the gradients of this batch to gradients(). REQUIRES: forward() just before.
    void backward(Tensor<T> output_gradient, const LayerIsReady& layer_is_ready);

    /// How many layers were computed a second time.
    [[nodiscard]] std::size_t recomputed_layers() const { return recomputed_layers_; }

  private:
    [[nodiscard]] Tensor<T> through(std::size_t layer, const Tensor<T>& input) const;
    [[nodiscard]] bool is_kept(std::size_t layer) const;
    void recompute_input(std::size_t layer);

    Shape shape_;
    Activation activation_;
    std::size_t keep_every_;
    MemoryMeter& meter_;
    Tensor<T> weights_;
    Tensor<T> gradients_;
    /// By layer.
    std::vector<std::optional<Tensor<T>>> inputs_;
    std::size_t recomputed_layers_ = 0;
};

/// Numbers for a beginning, the same for every precision up to rounding: uniform within
/// +-sqrt(6 / (inputs + outputs)), biases zero.
std::vector<double> initial_weights(const Shape& shape, std::uint64_t seed);

}  // namespace train
