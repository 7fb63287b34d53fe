// SPDX-License-Identifier: Apache-2.0
#include "tools/examples/train_mlp/trainer.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace train {

namespace {

constexpr std::size_t unseen_count = 320;
/// So many steps without overflow double the loss scale.
constexpr std::size_t steps_to_growth = 100;
constexpr double loss_scale_max = 0x1p24;

/// Seeds of the several things that are random, from the one that is given.
enum class Purpose : std::uint64_t { weights, digits, unseen_digits, order };
std::uint64_t seed_for(std::uint64_t seed, Purpose purpose) {
    return seed * 16 + static_cast<std::uint64_t>(purpose);
}

Shape shape_of(const TrainingOptions& options) {
    std::vector<std::size_t> widths{digit_pixels};
    widths.insert(widths.end(), options.hidden.begin(), options.hidden.end());
    widths.push_back(digit_classes);
    return Shape(std::move(widths));
}

std::vector<int> labels_of(const Digits& digits, std::span<const std::size_t> samples) {
    std::vector<int> labels;
    for (const std::size_t sample : samples) labels.push_back(digits.label(sample));
    return labels;
}

void write_text(const std::string& path, const std::string& text) {
    std::ofstream file(path);
    file << text << std::flush;
    if (!file) throw std::runtime_error("cannot write '" + path + "': " + std::strerror(errno));
}

}  // namespace

template<typename T>
Trainer<T>::Trainer(const dlrt::Communicator& world, const TrainingOptions& options)
    : world_(world),
      options_(options),
      is_root_(world.rank() == 0),
      ranks_(static_cast<std::size_t>(world.size())),
      digits_(options.samples, seed_for(options.seed, Purpose::digits)),
      unseen_digits_(unseen_count, seed_for(options.seed, Purpose::unseen_digits)),
      network_(shape_of(options), options.activation, options.keep_every, meter_),
      optimizer_(options.optimizer, network_.shape().parameters(), meter_),
      reduction_(world, network_.shape(), network_.gradients(), options.bucket_bytes) {
    if constexpr (is_low<T>) {
        copy_.emplace(1, network_.shape().parameters(), meter_, Use::weights);
        loss_scale_ = options.loss_scale;
    }
    const std::vector<double> initial = initial_weights(
        network_.shape(), seed_for(options.seed, Purpose::weights)
    );
    std::ranges::transform(initial, master().begin(), [](double w) { return static_cast<W>(w); });
    load_weights();
}

template<typename T>
std::span<Wide<T>> Trainer<T>::master() {
    if constexpr (is_low<T>) {
        return copy_->values();
    } else {
        return network_.weights();
    }
}

template<typename T>
void Trainer<T>::load_weights() {
    if constexpr (is_low<T>) {
        std::ranges::transform(master(), network_.weights().begin(), [](W w) { return T(w); });
    }
}

template<typename T>
std::size_t Trainer<T>::micro_batch_samples() const {
    return options_.batch / ranks_ / options_.micro_batches;
}

template<typename T>
double Trainer<T>::rate() const {
    const std::size_t steps = options_.epochs * (options_.samples / options_.batch);
    return rate_at(
        options_.schedule, options_.rate, static_cast<long>(step_), static_cast<long>(steps)
    );
}

template<typename T>
Tensor<T> Trainer<T>::input_of(const Digits& digits, std::span<const std::size_t> samples) {
    Tensor<T> input(samples.size(), digit_pixels, meter_, Use::activations);
    for (std::size_t i = 0; i < samples.size(); ++i) {
        std::ranges::transform(digits.pixels(samples[i]), input.row(i).begin(), [](float pixel) {
            return T(pixel);
        });
    }
    return input;
}

template<typename T>
double Trainer<T>::run_micro_batch(std::span<const std::size_t> samples, bool is_last) {
    const std::vector<int> labels = labels_of(digits_, samples);
    meter_.begin_phase("forward");
    std::optional<Tensor<T>> output = network_.forward(input_of(digits_, samples));
    const double loss = loss_of(options_.loss, *output, std::span<const int>(labels));

    meter_.begin_phase("backward");
    Tensor<T> gradient(output->rows(), output->columns(), meter_, Use::activation_gradients);
    // The mean over this rank's share of the step, so that micro-batches add up to it.
    const double share = static_cast<double>(options_.batch / ranks_);
    const W factor = static_cast<W>(loss_scale_ / share);
    loss_gradient(options_.loss, *output, std::span<const int>(labels), factor, gradient);
    output.reset();
    network_.backward(std::move(gradient), [&](std::size_t layer) {
        if (is_last) reduction_.layer_is_ready(layer);
    });
    return loss;
}

template<typename T>
void Trainer<T>::update() {
    const std::span<T> gradients = network_.gradients();
    // Averages are the same everywhere, and so is what follows from them.
    const bool is_finite = !is_low<T> || std::ranges::all_of(gradients, [](T gradient) {
        return std::isfinite(widened(gradient));
    });
    if (!is_finite) {
        loss_scale_ /= 2;
        steps_since_overflow_ = 0;
        ++skipped_steps_;
        return;
    }
    const W factor = static_cast<W>(1 / loss_scale_);
    optimizer_.step(master(), std::span<const T>(gradients), factor, rate());
    load_weights();
    if (is_low<T> && ++steps_since_overflow_ % steps_to_growth == 0) {
        loss_scale_ = std::min(2 * loss_scale_, loss_scale_max);
    }
}

template<typename T>
double Trainer<T>::run_step(std::span<const std::size_t> share) {
    std::ranges::fill(network_.gradients(), T());
    double loss = 0;
    const std::size_t samples = micro_batch_samples();
    for (std::size_t i = 0; i < options_.micro_batches; ++i) {
        const bool is_last = i + 1 == options_.micro_batches;
        loss += run_micro_batch(share.subspan(i * samples, samples), is_last);
    }
    reduction_.finish();
    meter_.begin_phase("update");
    update();
    ++step_;
    return loss;
}

template<typename T>
double Trainer<T>::run_epoch(std::size_t epoch) {
    // Everybody finds the same order; a batch is the same samples for any number of ranks.
    const std::vector<std::size_t> order = shuffled(
        options_.samples, seed_for(options_.seed, Purpose::order) + (epoch << 32)
    );
    const std::size_t share = options_.batch / ranks_;
    const std::size_t own = static_cast<std::size_t>(world_.rank()) * share;
    double loss = 0;
    for (std::size_t begin = 0; begin < options_.samples; begin += options_.batch) {
        const bool is_recorded = epoch == 0 && begin == 0;
        if (is_recorded) meter_.record();
        loss += run_step(std::span(order).subspan(begin + own, share));
        if (is_recorded) meter_.stop();
    }
    return loss;
}

template<typename T>
double Trainer<T>::accuracy() {
    std::vector<std::size_t> own;
    for (std::size_t i = static_cast<std::size_t>(world_.rank()); i < unseen_count; i += ranks_) {
        own.push_back(i);
    }
    std::int64_t correct = 0;
    // No more at a time than in training, whose memory is measured.
    for (std::size_t begin = 0; begin < own.size(); begin += micro_batch_samples()) {
        const std::size_t count = std::min(micro_batch_samples(), own.size() - begin);
        const std::span<const std::size_t> samples = std::span(own).subspan(begin, count);
        const std::vector<int> labels = labels_of(unseen_digits_, samples);
        const Tensor<T> output = network_.infer(input_of(unseen_digits_, samples));
        correct += static_cast<std::int64_t>(correct_count(output, std::span<const int>(labels)));
    }
    return static_cast<double>(world_.sum(correct)) / static_cast<double>(unseen_count);
}

template<typename T>
bool Trainer<T>::is_equal_everywhere() {
    std::vector<W> first(master().begin(), master().end());
    world_.bcast(first, 0);
    const bool is_equal = std::memcmp(first.data(), master().data(), master().size_bytes()) == 0;
    return world_.sum(is_equal ? 0 : 1) == 0;
}

template<typename T>
bool Trainer<T>::run() {
    if (is_root_) {
        fmt::print(
            "{} ranks; layers {}, {} weights; {} samples a step: {} ranks x {} micro-batches x "
            "{}\n",
            ranks_, fmt::join(network_.shape().widths(), "-"), network_.shape().parameters(),
            options_.batch, ranks_, options_.micro_batches, micro_batch_samples()
        );
    }
    for (std::size_t epoch = 0; epoch < options_.epochs; ++epoch) {
        const double rate_before = rate();
        const double loss = world_.sum(run_epoch(epoch)) / static_cast<double>(options_.samples);
        const double part = accuracy();
        if (!is_root_) continue;
        fmt::print(
            "epoch {}: rate {:.6f}, loss {:.12g}, accuracy {:.1f} %\n", epoch + 1, rate_before,
            loss, 100 * part
        );
    }
    const bool is_equal = is_equal_everywhere();
    if (is_root_) {
        print_summary(is_equal);
        write_files();
    }
    return is_equal;
}

template<typename T>
void Trainer<T>::print_summary(bool is_equal) {
    const auto& counts = reduction_.counts();
    fmt::print(
        "buckets: {} a step; of {} begun, {} before backward came to the first layer, {} done when "
        "it ended\n",
        reduction_.buckets(), counts.begun, counts.begun_early, counts.done_early
    );
    fmt::print("layers computed anew: {}\n", network_.recomputed_layers());
    if (is_low<T>) fmt::print("loss scale: {}, {} steps skipped\n", loss_scale_, skipped_steps_);
    fmt::print("weights are {} on all ranks\n", is_equal ? "equal" : "NOT equal");
    if (!options_.is_memory_shown) return;
    const MemoryPlan plan{network_.shape(),    sizeof(T),
                          sizeof(W),           state_count(options_.optimizer),
                          options_.keep_every, micro_batch_samples()};
    fmt::print("{}", memory_table(predicted_bytes(plan), meter_.peak_bytes()));
}

template<typename T>
void Trainer<T>::write_files() {
    if (!options_.memory_picture_file.empty()) {
        write_text(options_.memory_picture_file, memory_picture(meter_.samples()));
    }
    if (!options_.weights_file.empty()) {
        write_text(options_.weights_file, fmt::format("{}\n", fmt::join(master(), "\n")));
    }
}

bool train_network(const dlrt::Communicator& world, const TrainingOptions& options) {
    switch (options.precision) {
        case Precision::float64:
            return Trainer<double>(world, options).run();
        case Precision::float32:
            return Trainer<float>(world, options).run();
        case Precision::bfloat16:
            return Trainer<Bfloat16>(world, options).run();
        case Precision::half:
            break;
    }
    return Trainer<Half>(world, options).run();
}

}  // namespace train
