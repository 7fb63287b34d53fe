// SPDX-License-Identifier: Apache-2.0
#include "tools/examples/train_mlp/network.hpp"

#include "tools/examples/train_mlp/products.hpp"
#include "tools/examples/train_mlp/random.hpp"

#include <cmath>

namespace train {

namespace {

template<typename T>
T activated(T value, Activation activation) {
    const Wide<T> wide = widened(value);
    return T(activation == Activation::tanh ? std::tanh(wide) : std::max(wide, Wide<T>(0)));
}

/// The slope where the function has the value `result`.
template<typename T>
Wide<T> slope(T result, Activation activation) {
    const Wide<T> wide = widened(result);
    if (activation == Activation::tanh) return 1 - wide * wide;
    return wide > 0 ? Wide<T>(1) : Wide<T>(0);
}

}  // namespace

template<typename T>
Network<T>::Network(Shape shape, Activation activation, std::size_t keep_every, MemoryMeter& meter)
    : shape_(std::move(shape)),
      activation_(activation),
      keep_every_(keep_every),
      meter_(meter),
      weights_(1, shape_.parameters(), meter, Use::weights),
      gradients_(1, shape_.parameters(), meter, Use::gradients),
      inputs_(shape_.layers()) {
}

template<typename T>
Tensor<T> Network<T>::through(std::size_t layer, const Tensor<T>& input) const {
    Tensor<T> output(input.rows(), shape_.width(layer + 1), meter_, Use::activations);
    multiply(input, shape_.layer(weights_.values(), layer), output);
    if (layer + 1 == shape_.layers()) return output;
    for (T& value : output.values()) value = activated(value, activation_);
    return output;
}

template<typename T>
bool Network<T>::is_kept(std::size_t layer) const {
    const std::size_t last_group = (shape_.layers() - 1) / keep_every_;
    return layer % keep_every_ == 0 || layer / keep_every_ == last_group;
}

template<typename T>
Tensor<T> Network<T>::forward(Tensor<T> input) {
    Tensor<T> current = std::move(input);
    for (std::size_t layer = 0; layer < shape_.layers(); ++layer) {
        Tensor<T> next = through(layer, current);
        if (is_kept(layer)) inputs_[layer] = std::move(current);
        current = std::move(next);
    }
    return current;
}

template<typename T>
Tensor<T> Network<T>::infer(Tensor<T> input) const {
    Tensor<T> current = std::move(input);
    for (std::size_t layer = 0; layer < shape_.layers(); ++layer) {
        current = through(layer, current);
    }
    return current;
}

template<typename T>
void Network<T>::recompute_input(std::size_t layer) {
    const std::size_t group = layer - layer % keep_every_;
    for (std::size_t i = group; i < layer; ++i) {
        inputs_[i + 1] = through(i, *inputs_[i]);
        ++recomputed_layers_;
    }
}

template<typename T>
void Network<T>::backward(Tensor<T> output_gradient, const LayerIsReady& layer_is_ready) {
    Tensor<T> gradient = std::move(output_gradient);
    for (std::size_t layer = shape_.layers(); layer-- > 0;) {
        if (!inputs_[layer]) recompute_input(layer);
        const Tensor<T>& input = *inputs_[layer];
        add_weight_gradient(input, gradient, shape_.layer(gradients_.values(), layer));
        // Before the second product, which then goes on at the same time as the reduction.
        layer_is_ready(layer);
        if (layer > 0) {
            const Layer<const T> weights = shape_.layer(
                std::span<const T>(weights_.values()), layer
            );
            Tensor<T> below(input.rows(), input.columns(), meter_, Use::activation_gradients);
            multiply_transposed(gradient, weights, below);
            for (std::size_t i = 0; i < below.values().size(); ++i) {
                T& value = below.values()[i];
                value = T(widened(value) * slope(input.values()[i], activation_));
            }
            gradient = std::move(below);
        }
        inputs_[layer].reset();
    }
}

std::vector<double> initial_weights(const Shape& shape, std::uint64_t seed) {
    std::vector<double> weights(shape.parameters());
    Random random(seed);
    for (std::size_t i = 0; i < shape.layers(); ++i) {
        const Layer<double> layer = shape.layer(std::span(weights), i);
        const double limit = std::sqrt(6.0 / static_cast<double>(layer.inputs + layer.outputs));
        for (double& weight : layer.weights) weight = limit * (2 * random.fraction() - 1);
    }
    return weights;
}

template class Network<double>;
template class Network<float>;
template class Network<Bfloat16>;
template class Network<Half>;

}  // namespace train
