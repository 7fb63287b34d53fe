// SPDX-License-Identifier: Apache-2.0
/// The memory of a training step: what formulas predict, beside what was measured, and a picture
/// of one step.
#pragma once

#include "tools/examples/train_mlp/tensor.hpp"

#include <string>

namespace train {

/// What the memory depends on.
struct MemoryPlan {
    Shape shape;
    std::size_t element_bytes;
    /// Of a number in the high precision copy and in optimizer states.
    std::size_t wide_bytes;
    std::size_t optimizer_states;
    std::size_t keep_every;
    /// Samples that pass through the network together on one rank.
    std::size_t samples;
};

/// The highest of each use. With N weights of e bytes (wide: w), widths d[0] to d[L], B samples:
/// weights N e (and N w for a high precision copy), gradients N e, optimizer N w for each state;
/// activations B e (d[0] + ... + d[L]), less where some are computed anew; activation gradients
/// B e times the widest pair of d[i] + d[i + 1], where i > 0.
Sizes predicted_bytes(const MemoryPlan& plan);

/// A line for each use, and one for their sum.
std::string memory_table(const Sizes& predicted, const Sizes& measured);

/// Memory by use, stacked, from change to change; phases are named above. SVG.
std::string memory_picture(const std::vector<MemoryMeter::Sample>& samples);

}  // namespace train
