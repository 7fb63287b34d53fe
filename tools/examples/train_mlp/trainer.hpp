// SPDX-License-Identifier: Apache-2.0
/// Trains a network on all ranks of a communicator: every rank has all weights and its share of
/// each batch. Prints what comes of it on rank 0.
#pragma once

#include "tools/examples/train_mlp/digits.hpp"
#include "tools/examples/train_mlp/gradient_buckets.hpp"
#include "tools/examples/train_mlp/loss.hpp"
#include "tools/examples/train_mlp/memory_report.hpp"
#include "tools/examples/train_mlp/network.hpp"
#include "tools/examples/train_mlp/optimizer.hpp"

#include <string>

namespace train {

enum class Precision : std::uint8_t { float64, float32, bfloat16, half };

struct TrainingOptions {
    std::vector<std::size_t> hidden{64, 48, 32};
    Activation activation = Activation::tanh;
    Loss loss = Loss::cross_entropy;
    OptimizerOptions optimizer;
    Schedule schedule = Schedule::cosine;
    double rate = 0.01;
    Precision precision = Precision::float32;
    /// To begin with. Gradients too small for the low precision are multiplied with it.
    double loss_scale = 1024;
    std::size_t epochs = 6;
    /// Samples in an epoch, and in a step of all ranks together.
    std::size_t samples = 2560;
    std::size_t batch = 64;
    /// Parts in which a rank takes its share of a batch, one after the other.
    std::size_t micro_batches = 1;
    std::size_t keep_every = 1;
    std::size_t bucket_bytes = std::size_t{4} << 10;
    std::uint64_t seed = 1;
    bool is_memory_shown = false;
    std::string memory_picture_file;
    std::string weights_file;
};

/// With numbers of T, of which the weights also have a wide copy where T is low.
template<typename T>
class Trainer {
  public:
    using W = Wide<T>;

    /// REQUIRES: the batch is a multiple of ranks times micro-batches, the samples of the batch.
    Trainer(const dlrt::Communicator& world, const TrainingOptions& options);

    /// Prints a line for each epoch and a summary. Returns whether all ranks have equal weights.
    bool run();

  private:
    /// Sums over the samples of an epoch, on this rank.
    double run_epoch(std::size_t epoch);
    double run_step(std::span<const std::size_t> share);
    double run_micro_batch(std::span<const std::size_t> samples, bool is_last);
    /// Brings the averaged gradients into the weights.
    void update();
    /// The part of a second data set that is recognized, of all ranks.
    double accuracy();
    bool is_equal_everywhere();
    void print_summary(bool is_equal);
    void write_files();
    void load_weights();
    Tensor<T> input_of(const Digits& digits, std::span<const std::size_t> samples);
    /// The high precision weights.
    std::span<W> master();
    [[nodiscard]] std::size_t micro_batch_samples() const;
    [[nodiscard]] double rate() const;

    const dlrt::Communicator& world_;
    TrainingOptions options_;
    bool is_root_;
    std::size_t ranks_;
    Digits digits_;
    Digits unseen_digits_;
    MemoryMeter meter_;
    Network<T> network_;
    std::optional<Tensor<W>> copy_;
    Optimizer<W> optimizer_;
    GradientReduction<T> reduction_;
    std::size_t step_ = 0;
    double loss_scale_ = 1;
    std::size_t steps_since_overflow_ = 0;
    std::size_t skipped_steps_ = 0;
};

/// As the options say. Throws std::runtime_error for files that cannot be written.
bool train_network(const dlrt::Communicator& world, const TrainingOptions& options);

}  // namespace train
