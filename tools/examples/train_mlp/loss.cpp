// SPDX-License-Identifier: Apache-2.0
#include "tools/examples/train_mlp/loss.hpp"

#include <algorithm>
#include <cmath>

namespace train {

namespace {

/// Makes outputs probabilities.
template<typename W>
void softmax(std::span<W> values) {
    // Without the largest no exponential is above 1.
    const W largest = *std::ranges::max_element(values);
    W sum = 0;
    for (W& value : values) {
        value = std::exp(value - largest);
        sum += value;
    }
    for (W& value : values) value /= sum;
}

template<typename W>
W log_of_sum_of_exponentials(std::span<const W> values) {
    const W largest = *std::ranges::max_element(values);
    W sum = 0;
    for (const W value : values) sum += std::exp(value - largest);
    return largest + std::log(sum);
}

template<typename W>
double loss_of_sample(Loss loss, std::span<const W> output, std::size_t label) {
    if (loss == Loss::cross_entropy) return log_of_sum_of_exponentials(output) - output[label];
    double sum = 0;
    for (std::size_t i = 0; i < output.size(); ++i) {
        const double difference = output[i] - (i == label ? 1 : 0);
        sum += loss == Loss::l1 ? std::fabs(difference) : difference * difference;
    }
    return sum / static_cast<double>(output.size());
}

/// Makes the output the gradient.
template<typename W>
void differentiate(Loss loss, std::span<W> output, std::size_t label) {
    if (loss == Loss::cross_entropy) softmax(output);
    output[label] -= 1;
    if (loss == Loss::cross_entropy) return;
    const W columns = static_cast<W>(output.size());
    for (W& difference : output) {
        if (loss == Loss::mean_squared_error) {
            difference *= 2 / columns;
        } else if (difference != 0) {
            difference = std::copysign(1 / columns, difference);
        }
    }
}

template<typename T>
std::vector<Wide<T>> widened_row(const Tensor<T>& tensor, std::size_t row) {
    std::vector<Wide<T>> values(tensor.columns());
    std::ranges::transform(tensor.row(row), values.begin(), widened<T>);
    return values;
}

}  // namespace

template<typename T>
double loss_of(Loss loss, const Tensor<T>& output, std::span<const int> labels) {
    double sum = 0;
    for (std::size_t sample = 0; sample < output.rows(); ++sample) {
        const std::vector<Wide<T>> row = widened_row(output, sample);
        sum += loss_of_sample(
            loss, std::span<const Wide<T>>(row), static_cast<std::size_t>(labels[sample])
        );
    }
    return sum;
}

template<typename T>
void loss_gradient(
    Loss loss, const Tensor<T>& output, std::span<const int> labels, Wide<T> factor,
    Tensor<T>& gradient
) {
    for (std::size_t sample = 0; sample < output.rows(); ++sample) {
        std::vector<Wide<T>> row = widened_row(output, sample);
        differentiate(loss, std::span<Wide<T>>(row), static_cast<std::size_t>(labels[sample]));
        std::ranges::transform(row, gradient.row(sample).begin(), [&](Wide<T> value) {
            return T(factor * value);
        });
    }
}

template<typename T>
std::size_t correct_count(const Tensor<T>& output, std::span<const int> labels) {
    std::size_t count = 0;
    for (std::size_t sample = 0; sample < output.rows(); ++sample) {
        const std::vector<Wide<T>> row = widened_row(output, sample);
        const auto largest = std::ranges::max_element(row) - row.begin();
        if (largest == labels[sample]) ++count;
    }
    return count;
}

#define TRAIN_INSTANTIATE(T)                                                             \
    template double loss_of<T>(Loss, const Tensor<T>&, std::span<const int>);            \
    template void                                                                        \
    loss_gradient<T>(Loss, const Tensor<T>&, std::span<const int>, Wide<T>, Tensor<T>&); \
    template std::size_t correct_count<T>(const Tensor<T>&, std::span<const int>);
TRAIN_INSTANTIATE(double)
TRAIN_INSTANTIATE(float)
TRAIN_INSTANTIATE(Bfloat16)
TRAIN_INSTANTIATE(Half)
#undef TRAIN_INSTANTIATE

}  // namespace train
