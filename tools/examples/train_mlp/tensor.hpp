// SPDX-License-Identifier: Apache-2.0
/// A matrix whose memory is counted, and the shape of a network, which says where each layer's
/// weights are in one array of all.
#pragma once

#include "tools/examples/train_mlp/memory_meter.hpp"

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace train {

/// Rows lie one after the other; begins with zeros.
template<typename T>
class Tensor {
  public:
    Tensor(std::size_t rows, std::size_t columns, MemoryMeter& meter, Use use)
        : rows_(rows),
          columns_(columns),
          values_(rows * columns, T(), MeteredAllocator<T>(meter, use)) {}

    [[nodiscard]] std::size_t rows() const { return rows_; }
    [[nodiscard]] std::size_t columns() const { return columns_; }
    [[nodiscard]] std::span<T> row(std::size_t i) {
        return values().subspan(i * columns_, columns_);
    }
    [[nodiscard]] std::span<const T> row(std::size_t i) const {
        return values().subspan(i * columns_, columns_);
    }
    [[nodiscard]] std::span<T> values() { return values_; }
    [[nodiscard]] std::span<const T> values() const { return values_; }

  private:
    std::size_t rows_;
    std::size_t columns_;
    std::vector<T, MeteredAllocator<T>> values_;
};

/// The weights or gradients of one layer: `inputs` rows of `outputs` numbers, and the bias.
template<typename T>
struct Layer {
    std::size_t inputs;
    std::size_t outputs;
    std::span<T> weights;
    std::span<T> bias;
};

/// widths[i] numbers go into layer i and widths[i + 1] come out.
class Shape {
  public:
    explicit Shape(std::vector<std::size_t> widths) : widths_(std::move(widths)) {
        offsets_.push_back(0);
        for (std::size_t i = 0; i < layers(); ++i) {
            offsets_.push_back(offsets_.back() + (widths_[i] + 1) * widths_[i + 1]);
        }
    }

    [[nodiscard]] std::size_t layers() const { return widths_.size() - 1; }
    [[nodiscard]] std::size_t width(std::size_t i) const { return widths_[i]; }
    [[nodiscard]] const std::vector<std::size_t>& widths() const { return widths_; }
    /// Where layer i begins in the array of all; that of layer layers() is the size of the array.
    [[nodiscard]] std::size_t offset(std::size_t i) const { return offsets_[i]; }
    [[nodiscard]] std::size_t parameters() const { return offsets_.back(); }

    /// Layer i in an array of all.
    template<typename T>
    [[nodiscard]] Layer<T> layer(std::span<T> all, std::size_t i) const {
        const std::size_t weights = widths_[i] * widths_[i + 1];
        return {
            widths_[i], widths_[i + 1], all.subspan(offsets_[i], weights),
            all.subspan(offsets_[i] + weights, widths_[i + 1])};
    }

  private:
    std::vector<std::size_t> widths_;
    std::vector<std::size_t> offsets_;
};

}  // namespace train
