// SPDX-License-Identifier: Apache-2.0
#include "tools/examples/train_mlp/optimizer.hpp"

#include <cmath>
#include <numbers>

namespace train {

std::size_t state_count(const OptimizerOptions& options) {
    if (options.method == Method::adam) return 2;
    if (options.method == Method::rmsprop) return 1;
    return options.momentum != 0 ? 1 : 0;
}

template<typename W>
Optimizer<W>::Optimizer(const OptimizerOptions& options, std::size_t weights, MemoryMeter& meter)
    : options_(options) {
    for (std::size_t i = 0; i < state_count(options); ++i) {
        states_.emplace_back(1, weights, meter, Use::optimizer_state);
    }
}

template<typename W>
template<typename T>
void Optimizer<W>::step(std::span<W> weights, std::span<const T> gradients, W factor, double rate) {
    ++steps_;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        weights[i] -= static_cast<W>(rate) * direction(i, factor * widened(gradients[i]));
    }
}

template<typename W>
W Optimizer<W>::direction(std::size_t i, W gradient) {
    const auto mixed = [](W& mean, double decay, W value) {
        mean = static_cast<W>(decay) * mean + static_cast<W>(1 - decay) * value;
        return mean;
    };
    const W epsilon = static_cast<W>(options_.epsilon);
    if (options_.method == Method::sgd) {
        if (states_.empty()) return gradient;
        W& velocity = states_[0].values()[i];
        return velocity = static_cast<W>(options_.momentum) * velocity + gradient;
    }
    if (options_.method == Method::rmsprop) {
        const W square = mixed(states_[0].values()[i], options_.decay, gradient * gradient);
        return gradient / (std::sqrt(square) + epsilon);
    }
    // Both begin at zero, so that after n steps a part of decay^n is missing.
    const auto whole = [this](W mean, double decay) {
        return mean / static_cast<W>(1 - std::pow(decay, static_cast<double>(steps_)));
    };
    const W mean = mixed(states_[0].values()[i], options_.mean_decay, gradient);
    const W square = mixed(states_[1].values()[i], options_.square_decay, gradient * gradient);
    return whole(mean, options_.mean_decay) /
           (std::sqrt(whole(square, options_.square_decay)) + epsilon);
}

double rate_at(Schedule schedule, double base, long step, long steps) {
    const auto falling_wave = [](double part) {
        return (1 + std::cos(std::numbers::pi * part)) / 2;
    };
    const double part = static_cast<double>(step) / static_cast<double>(steps);
    switch (schedule) {
        case Schedule::constant:
            return base;
        case Schedule::step:
            return base * std::pow(0.5, std::floor(4 * part));
        case Schedule::exponential:
            return base * std::pow(0.01, part);
        case Schedule::cosine:
            return base * falling_wave(part);
        case Schedule::warmup:
            break;
    }
    constexpr double warm = 0.1;
    // The first step already moves.
    const double rising = (part + 1 / static_cast<double>(steps)) / warm;
    return base * (part < warm ? std::min(rising, 1.0) : falling_wave((part - warm) / (1 - warm)));
}

template class Optimizer<double>;
template class Optimizer<float>;
template void Optimizer<double>::step<double>(
    std::span<double>, std::span<const double>, double, double
);
template void Optimizer<float>::step<float>(
    std::span<float>, std::span<const float>, float, double
);
template void Optimizer<float>::step<Bfloat16>(
    std::span<float>, std::span<const Bfloat16>, float, double
);
template void Optimizer<float>::step<Half>(std::span<float>, std::span<const Half>, float, double);

}  // namespace train
