// SPDX-License-Identifier: Apache-2.0
/// How weights follow their gradients: W' = W - rate * f(gradient), and how the rate changes.
#pragma once

#include "tools/examples/train_mlp/low_precision.hpp"
#include "tools/examples/train_mlp/tensor.hpp"

#include <cstdint>

namespace train {

enum class Method : std::uint8_t {
    /// v = momentum * v + g; f = v
    sgd,
    /// s = decay * s + (1 - decay) * g^2; f = g / (sqrt(s) + epsilon)
    rmsprop,
    /// m and s are the decaying means of g and g^2, as if they had been so from the beginning;
    /// f = m / (sqrt(s) + epsilon)
    adam,
};

struct OptimizerOptions {
    Method method = Method::adam;
    double momentum = 0.9;
    /// RMSProp's.
    double decay = 0.99;
    /// Adam's, of m and of s.
    double mean_decay = 0.9;
    double square_decay = 0.999;
    double epsilon = 1e-8;
};

/// How many numbers an optimizer keeps for each weight.
std::size_t state_count(const OptimizerOptions& options);

/// Of weights in W, which is float or double.
template<typename W>
class Optimizer {
  public:
    Optimizer(const OptimizerOptions& options, std::size_t weights, MemoryMeter& meter);

    /// The gradient is factor * `gradients`.
    template<typename T>
    void step(std::span<W> weights, std::span<const T> gradients, W factor, double rate);

  private:
    /// What the rate is to be multiplied with.
    W direction(std::size_t i, W gradient);

    OptimizerOptions options_;
    std::vector<Tensor<W>> states_;
    long steps_ = 0;
};

enum class Schedule : std::uint8_t {
    constant,
    /// Halves after each quarter.
    step,
    /// Falls evenly in its logarithm to a hundredth.
    exponential,
    /// Falls along half a wave of the cosine to zero.
    cosine,
    /// Rises evenly during the first tenth, then falls as cosine.
    warmup,
};

/// In step `step` of `steps`, the first of which is 0.
double rate_at(Schedule schedule, double base, long step, long steps);

}  // namespace train
