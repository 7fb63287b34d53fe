// SPDX-License-Identifier: Apache-2.0
/// The parts of the example train_mlp: gradients beside finite differences, optimizers beside steps
/// worked out by hand, activations that are computed anew, memory beside its formula.
#include "tools/examples/train_mlp/gradient_buckets.hpp"
#include "tools/examples/train_mlp/loss.hpp"
#include "tools/examples/train_mlp/memory_report.hpp"
#include "tools/examples/train_mlp/network.hpp"
#include "tools/examples/train_mlp/optimizer.hpp"
#include "tools/examples/train_mlp/products.hpp"
#include "tools/examples/train_mlp/random.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <catch2/catch.hpp>

using namespace train;

namespace {

const std::vector<int> labels{2, 0, 1, 2, 1, 0};

template<typename T>
Tensor<T> filled(std::size_t rows, std::size_t columns, MemoryMeter& meter) {
    Tensor<T> tensor(rows, columns, meter, Use::activations);
    Random random(rows * 100 + columns);
    for (T& value : tensor.values()) value = T(static_cast<Wide<T>>(random.noise()));
    return tensor;
}

template<typename T>
Tensor<T> rows_of(const Tensor<T>& all, std::size_t first, std::size_t count, MemoryMeter& meter) {
    Tensor<T> part(count, all.columns(), meter, Use::activations);
    const auto from = all.values().subspan(first * all.columns(), count * all.columns());
    std::ranges::copy(from, part.values().begin());
    return part;
}

/// A network with weights, and what it is fed with.
template<typename T>
struct Machine {
    Machine(std::vector<std::size_t> widths, Activation activation, std::size_t keep_every = 1)
        : network(Shape(std::move(widths)), activation, keep_every, meter) {
        const std::vector<double> initial = initial_weights(network.shape(), 5);
        Random random(6);
        for (std::size_t i = 0; i < initial.size(); ++i) {
            // Biases too are other than zero.
            const double weight = initial[i] == 0 ? random.noise() / 4 : initial[i];
            network.weights()[i] = T(static_cast<Wide<T>>(weight));
        }
    }

    /// Forward and backward of some rows; the sum of losses.
    double learn(Loss loss, const Tensor<T>& input, std::size_t first, std::size_t count) {
        const std::span<const int> wanted = std::span(labels).subspan(first, count);
        std::optional<Tensor<T>> output = network.forward(rows_of(input, first, count, meter));
        Tensor<T> gradient(count, output->columns(), meter, Use::activation_gradients);
        loss_gradient(loss, *output, wanted, Wide<T>(1), gradient);
        const double sum = loss_of(loss, *output, wanted);
        output.reset();
        network.backward(std::move(gradient), [this](std::size_t i) { ready.push_back(i); });
        return sum;
    }

    MemoryMeter meter;
    Network<T> network;
    std::vector<std::size_t> ready;
};

template<typename T>
std::vector<Wide<T>> copy_of(std::span<T> values) {
    std::vector<Wide<T>> copy;
    for (const T value : values) copy.push_back(widened(value));
    return copy;
}

}  // namespace

TEST_CASE("gradients of every weight agree with finite differences, for all losses") {
    const auto loss = GENERATE(Loss::cross_entropy, Loss::mean_squared_error, Loss::l1);
    const auto activation = GENERATE(Activation::tanh, Activation::relu);
    const auto widths = GENERATE(
        std::vector<std::size_t>{5, 3}, std::vector<std::size_t>{5, 7, 3},
        std::vector<std::size_t>{5, 7, 4, 6, 3}
    );
    Machine<double> machine(widths, activation);
    MemoryMeter meter;
    const Tensor<double> input = filled<double>(labels.size(), 5, meter);
    machine.learn(loss, input, 0, labels.size());
    const auto loss_now = [&] {
        return loss_of(
            loss, machine.network.infer(rows_of(input, 0, labels.size(), meter)),
            std::span<const int>(labels)
        );
    };
    constexpr double step = 1e-6;
    double largest = 0;
    for (std::size_t i = 0; i < machine.network.weights().size(); ++i) {
        double& weight = machine.network.weights()[i];
        const double before = weight;
        weight = before + step;
        const double above = loss_now();
        weight = before - step;
        const double difference = (above - loss_now()) / (2 * step);
        weight = before;
        INFO("weight " << i << " of " << machine.network.weights().size());
        REQUIRE(machine.network.gradients()[i] == Approx(difference).epsilon(1e-5).margin(1e-7));
        largest = std::max(largest, std::fabs(difference));
    }
    REQUIRE(largest > 0.1);
}

TEST_CASE("the gradient of a linear layer's input agrees with finite differences") {
    MemoryMeter meter;
    const Shape shape({3, 2});
    std::vector<double> parameters{0.5, -1, 2, 0.25, -0.75, 1.5, 0.1, -0.2};
    const Layer<const double> layer = shape.layer(std::span<const double>(parameters), 0);
    Tensor<double> x = filled<double>(2, 3, meter), y(2, 2, meter, Use::activations);
    Tensor<double> dy(2, 2, meter, Use::activation_gradients);
    Tensor<double> dx(2, 3, meter, Use::activation_gradients);
    const std::vector<int> wanted{1, 0};
    const auto loss_now = [&] {
        multiply(x, layer, y);
        return loss_of(Loss::cross_entropy, y, std::span<const int>(wanted));
    };
    loss_now();
    loss_gradient(Loss::cross_entropy, y, std::span<const int>(wanted), 1.0, dy);
    multiply_transposed(dy, layer, dx);
    for (std::size_t i = 0; i < x.values().size(); ++i) {
        const double before = x.values()[i];
        x.values()[i] = before + 1e-6;
        const double above = loss_now();
        x.values()[i] = before - 1e-6;
        const double below = loss_now();
        x.values()[i] = before;
        REQUIRE(dx.values()[i] == Approx((above - below) / 2e-6).epsilon(1e-6));
    }
}

TEST_CASE("losses of one sample, worked out by hand") {
    MemoryMeter meter;
    Tensor<double> output(1, 2, meter, Use::activations);
    output.values()[0] = 3;
    output.values()[1] = 0.5;
    const std::vector<int> second{1};
    const std::span<const int> wanted(second);
    // log(1 + e^2.5); (9 + 0.25) / 2; (3 + 0.5) / 2
    REQUIRE(loss_of(Loss::cross_entropy, output, wanted) == Approx(2.578889734292549));
    REQUIRE(loss_of(Loss::mean_squared_error, output, wanted) == Approx(4.625));
    REQUIRE(loss_of(Loss::l1, output, wanted) == Approx(1.75));
    REQUIRE(correct_count(output, wanted) == 0);
    output.values()[1] = 1e9;
    REQUIRE(loss_of(Loss::cross_entropy, output, wanted) == 0);
    REQUIRE(correct_count(output, wanted) == 1);
}

TEST_CASE("two steps of each optimizer, worked out by hand") {
    struct Expected {
        OptimizerOptions options;
        double first, second;
    };
    const OptimizerOptions plain{.method = Method::sgd, .momentum = 0};
    const OptimizerOptions momentum{.method = Method::sgd, .momentum = 0.5};
    const OptimizerOptions rmsprop{.method = Method::rmsprop, .decay = 0.75, .epsilon = 1};
    const OptimizerOptions adam{
        .method = Method::adam, .mean_decay = 0.5, .square_decay = 0.75, .epsilon = 1};
    // The weight begins at 1, the rate is 0.1, gradients are 4 and then 2.
    const Expected expected = GENERATE_COPY(
        Expected{plain, 1 - 0.4, 1 - 0.4 - 0.2},
        // v: 4, then 2 + 2
        Expected{momentum, 1 - 0.4, 1 - 0.4 - 0.4},
        // s: 4, then 3 + 1; g / (2 + 1)
        Expected{rmsprop, 1 - 0.4 / 3, 1 - 0.4 / 3 - 0.2 / 3},
        // m: 2, then 2, whole: 4 and 8/3; s: 4, then 4, whole: 16 and 64/7
        Expected{adam, 1 - 0.4 / 5, 1 - 0.4 / 5 - 0.1 * (8.0 / 3) / (std::sqrt(64.0 / 7) + 1)}
    );
    MemoryMeter meter;
    Optimizer<double> optimizer(expected.options, 1, meter);
    std::vector<double> weight{1};
    // The gradient is scaled down as it is taken.
    const std::vector<double> first{8}, second{4};
    optimizer.step(std::span(weight), std::span<const double>(first), 0.5, 0.1);
    REQUIRE(weight[0] == Approx(expected.first).epsilon(1e-14));
    optimizer.step(std::span(weight), std::span<const double>(second), 0.5, 0.1);
    REQUIRE(weight[0] == Approx(expected.second).epsilon(1e-14));
    const std::size_t states_bytes = state_count(expected.options) * sizeof(double);
    REQUIRE(meter.now_bytes()[static_cast<std::size_t>(Use::optimizer_state)] == states_bytes);
}

TEST_CASE("learning rates follow their schedules") {
    REQUIRE(rate_at(Schedule::constant, 2, 99, 100) == 2);
    REQUIRE(rate_at(Schedule::step, 2, 24, 100) == 2);
    REQUIRE(rate_at(Schedule::step, 2, 25, 100) == 1);
    REQUIRE(rate_at(Schedule::step, 2, 99, 100) == 0.25);
    REQUIRE(rate_at(Schedule::exponential, 2, 50, 100) == Approx(0.2));
    REQUIRE(rate_at(Schedule::cosine, 2, 0, 100) == 2);
    REQUIRE(rate_at(Schedule::cosine, 2, 50, 100) == Approx(1));
    REQUIRE(rate_at(Schedule::cosine, 2, 75, 100) == Approx(1 - std::sqrt(0.5)));
    REQUIRE(rate_at(Schedule::warmup, 2, 0, 100) == Approx(0.2));
    REQUIRE(rate_at(Schedule::warmup, 2, 9, 100) == Approx(2));
    REQUIRE(rate_at(Schedule::warmup, 2, 10, 100) == 2);
    REQUIRE(rate_at(Schedule::warmup, 2, 55, 100) == Approx(1));
}

TEMPLATE_TEST_CASE("micro-batches add up to the bits of one batch", "", double, float) {
    MemoryMeter meter;
    const Tensor<TestType> input = filled<TestType>(labels.size(), 5, meter);
    Machine<TestType> whole({5, 7, 4, 3}, Activation::tanh);
    whole.learn(Loss::cross_entropy, input, 0, 6);
    for (const std::size_t rows : {1, 2, 3}) {
        Machine<TestType> parts({5, 7, 4, 3}, Activation::tanh);
        for (std::size_t first = 0; first < 6; first += rows) {
            parts.learn(Loss::cross_entropy, input, first, rows);
        }
        REQUIRE(copy_of(parts.network.gradients()) == copy_of(whole.network.gradients()));
    }
}

TEMPLATE_TEST_CASE("micro-batches in 16 bits add up within rounding", "", Bfloat16, Half) {
    MemoryMeter meter;
    const Tensor<TestType> input = filled<TestType>(labels.size(), 5, meter);
    Machine<TestType> whole({5, 7, 3}, Activation::tanh), parts({5, 7, 3}, Activation::tanh);
    whole.learn(Loss::cross_entropy, input, 0, 6);
    for (std::size_t i = 0; i < 6; i += 2) parts.learn(Loss::cross_entropy, input, i, 2);
    const std::vector<float> expected = copy_of(whole.network.gradients());
    const std::vector<float> sums = copy_of(parts.network.gradients());
    // One rounding, of 2^-9 at most, for each part of a sum of up to about 4.
    for (std::size_t i = 0; i < sums.size(); ++i) {
        REQUIRE(sums[i] == Approx(expected[i]).margin(3 * 4.0 / 512));
    }
}

TEMPLATE_TEST_CASE(
    "what is computed anew has the bits of what is kept, and takes the memory foretold", "", double,
    float, Bfloat16, Half
) {
    const std::vector<std::size_t> widths{5, 9, 4, 8, 8, 2, 7, 3};
    MemoryMeter meter;
    const Tensor<TestType> input = filled<TestType>(labels.size(), 5, meter);
    Machine<TestType> all(widths, Activation::relu);
    const double loss = all.learn(Loss::mean_squared_error, input, 0, 6);
    REQUIRE(all.network.recomputed_layers() == 0);
    // All of 46 numbers for each sample, since the first layer's input up to the output are there.
    const auto activations = static_cast<std::size_t>(Use::activations);
    REQUIRE(all.meter.peak_bytes()[activations] == 46 * 6 * sizeof(TestType));
    for (std::size_t keep_every = 1; keep_every <= 8; ++keep_every) {
        Machine<TestType> some(widths, Activation::relu, keep_every);
        REQUIRE(some.learn(Loss::mean_squared_error, input, 0, 6) == loss);
        REQUIRE(copy_of(some.network.gradients()) == copy_of(all.network.gradients()));
        REQUIRE(some.ready == std::vector<std::size_t>{6, 5, 4, 3, 2, 1, 0});
        const std::size_t groups_before_the_last = 6 / keep_every;
        const std::size_t anew = groups_before_the_last * (keep_every - 1);
        REQUIRE(some.network.recomputed_layers() == anew);
        const MemoryPlan plan{
            some.network.shape(), sizeof(TestType), sizeof(TestType), 0, keep_every, 6};
        REQUIRE(some.meter.peak_bytes() == predicted_bytes(plan));
        REQUIRE(some.meter.now_bytes()[activations] == 0);
    }
}

TEST_CASE("keeping every second or third activation takes less memory") {
    const Shape shape({64, 64, 64, 64, 64, 64, 64, 64, 10});
    const auto numbers = [&](std::size_t keep_every) {
        const MemoryPlan plan{shape, 1, 1, 0, keep_every, 1};
        return predicted_bytes(plan)[static_cast<std::size_t>(Use::activations)];
    };
    REQUIRE(numbers(1) == 8 * 64 + 10);
    // Layers 0, 2 and 4, both of the last group, and the output.
    REQUIRE(numbers(2) == 5 * 64 + 10);
    // Layers 0 and 3, both of the last group, and the output; backward: 0, 3, 4 and 5.
    REQUIRE(numbers(3) == 4 * 64 + 10);
}

TEST_CASE("buckets are filled from the last layer on, and hold every layer once") {
    // Parameters of layers: 12, 20, 10, 3.
    const Shape shape({3, 3, 5, 1, 1});
    REQUIRE(shape.parameters() == 12 + 20 + 6 + 2);
    const auto ends_of = [&](std::size_t least_bytes) {
        std::vector<std::size_t> firsts;
        std::size_t end = shape.layers();
        for (const Bucket& bucket : plan_buckets(shape, 4, least_bytes)) {
            REQUIRE(bucket.end_layer == end);
            firsts.push_back(end = bucket.first_layer);
        }
        return firsts;
    };
    REQUIRE(ends_of(1) == std::vector<std::size_t>{3, 2, 1, 0});
    REQUIRE(ends_of(8) == std::vector<std::size_t>{3, 2, 1, 0});
    REQUIRE(ends_of(9) == std::vector<std::size_t>{2, 1, 0});
    REQUIRE(ends_of(33) == std::vector<std::size_t>{1, 0});
    REQUIRE(ends_of(1000) == std::vector<std::size_t>{0});
}

TEST_CASE("numbers of 16 bits are rounded to the nearest, ties to even") {
    const auto half = [](float value) { return static_cast<float>(Half(value)); };
    const auto brain = [](float value) { return static_cast<float>(Bfloat16(value)); };
    const float infinity = std::numeric_limits<float>::infinity();
    REQUIRE(half(1 + 0x1p-11F) == 1);
    REQUIRE(half(1 + 0x1.8p-10F) == 1 + 0x1p-9F);
    REQUIRE(half(65504) == 65504);
    REQUIRE(half(65519) == 65504);
    REQUIRE(half(65520) == infinity);
    REQUIRE(half(-1e9F) == -infinity);
    REQUIRE(half(0x1p-24F) == 0x1p-24F);
    REQUIRE(half(0x1p-25F) == 0);
    REQUIRE(half(0x1.8p-24F) == 0x1p-23F);
    REQUIRE(half(-0x1.ff8p-15F) == -0x1.ff8p-15F);
    REQUIRE(half(0x1.fffp-15F) == 0x1p-14F);
    REQUIRE(std::isnan(half(std::nanf(""))));
    REQUIRE(brain(1 + 0x1p-8F) == 1);
    REQUIRE(brain(1 + 0x1.8p-7F) == 1 + 0x1p-6F);
    REQUIRE(brain(1e38F) == Approx(1e38).epsilon(1.0 / 256));
    REQUIRE(brain(std::numeric_limits<float>::max()) == infinity);
    REQUIRE(std::isnan(brain(std::nanf(""))));
}

TEST_CASE("a picture of memory has a band for each use and the names of phases") {
    MemoryMeter meter;
    meter.record();
    meter.begin_phase("forward");
    {
        const Tensor<float> tensor(2, 3, meter, Use::activations);
        meter.begin_phase("backward");
    }
    meter.stop();
    const Tensor<float> later(1, 1, meter, Use::weights);
    REQUIRE(meter.samples().size() == 4);
    REQUIRE(meter.samples()[2].sizes_bytes[static_cast<std::size_t>(Use::activations)] == 24);
    const std::string picture = memory_picture(meter.samples());
    const auto count = [&](const std::string& part) {
        std::size_t found = 0;
        for (std::size_t at = 0; (at = picture.find(part, at)) != std::string::npos; ++at) ++found;
        return found;
    };
    REQUIRE(count("<polygon") == use_names.size());
    REQUIRE(count(">forward<") == 1);
    REQUIRE(count(">backward<") == 1);
}
