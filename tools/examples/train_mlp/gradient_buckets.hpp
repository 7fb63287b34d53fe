// SPDX-License-Identifier: Apache-2.0
/// Data parallelism: the average of all ranks' gradients. Gradients of neighbouring layers make a
/// bucket, which travels as one all-reduce. A bucket sets out as soon as backward has finished its
/// layers, the last layers' bucket first, while backward goes on with the others.
#pragma once

#include "tools/examples/train_mlp/low_precision.hpp"
#include "tools/examples/train_mlp/tensor.hpp"

namespace train {

/// The layers from `first_layer` up to the layer before `end_layer`.
struct Bucket {
    std::size_t first_layer;
    std::size_t end_layer;
};

/// Buckets in the order in which backward fills them. Each takes layers until it has
/// `least_bytes`; the last one may have less.
std::vector<Bucket> plan_buckets(
    const Shape& shape, std::size_t element_bytes, std::size_t least_bytes
);

template<typename T>
class GradientReduction {
  public:
    struct Counts {
        std::size_t begun = 0;
        /// When backward hadn't reached the first layer yet.
        std::size_t begun_early = 0;
        /// When backward was finished.
        std::size_t done_early = 0;
    };

    /// The communicator and the gradients must outlive it.
    GradientReduction(
        const dlrt::Communicator& world, const Shape& shape, std::span<T> gradients,
        std::size_t bucket_bytes
    );

    [[nodiscard]] std::size_t buckets() const { return buckets_.size(); }
    [[nodiscard]] const Counts& counts() const { return counts_; }

    /// To be called for the last layer first, then for the one before it, and so on.
    void layer_is_ready(std::size_t layer);
    /// Waits until all gradients are averages.
    void finish();

  private:
    /// Lets operations that are under way go on; says how many are done.
    std::size_t advance();

    std::vector<Bucket> buckets_;
    /// One for each bucket; prepared once and started in every step.
    std::vector<dlrt::Request> requests_;
    std::vector<bool> is_done_;
    std::size_t begun_ = 0;
    Counts counts_;
};

}  // namespace train
