// SPDX-License-Identifier: Apache-2.0
/// Counts and displacements as a function of MPI and its twin for large counts give them: arrays
/// and results that are int in the one and 64 bits in the other, seen as 64 bits by both. Values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <mpi.h>
#include <span>
#include <vector>

namespace dlrt::mpi {

static_assert(sizeof(MPI_Count) == 8 && sizeof(MPI_Aint) == 8, "libmpi_abi.so is for 64 bits");

/// An array of the caller's; its length is said where it is read.
class Numbers {
  public:
    explicit Numbers(const int* numbers) : narrow_(numbers) {}
    explicit Numbers(const std::int64_t* numbers) : wide_(numbers) {}

    [[nodiscard]] bool is_null() const { return narrow_ == nullptr && wide_ == nullptr; }
    [[nodiscard]] bool is_wide() const { return wide_ != nullptr; }
    [[nodiscard]] std::int64_t operator[](std::size_t i) const {
        return narrow_ != nullptr ? narrow_[i] : wide_[i];
    }
    [[nodiscard]] std::vector<std::int64_t> copy(std::size_t count) const {
        std::vector<std::int64_t> numbers(count);
        for (std::size_t i = 0; i < count; ++i) numbers[i] = (*this)[i];
        return numbers;
    }

  private:
    const int* narrow_ = nullptr;
    const std::int64_t* wide_ = nullptr;
};

/// Where a number goes to, or comes from and goes to.
class NumberResult {
  public:
    explicit NumberResult(int* number) : narrow_(number) {}
    explicit NumberResult(std::int64_t* number) : wide_(number) {}

    [[nodiscard]] bool is_null() const { return narrow_ == nullptr && wide_ == nullptr; }
    [[nodiscard]] bool fits(std::int64_t value) const {
        return wide_ != nullptr || (value >= std::numeric_limits<int>::min() &&
                                    value <= std::numeric_limits<int>::max());
    }
    [[nodiscard]] std::int64_t get() const { return narrow_ != nullptr ? *narrow_ : *wide_; }
    /// MPI_UNDEFINED where it doesn't fit.
    void set(std::int64_t value) const {
        if (narrow_ != nullptr) {
            *narrow_ = fits(value) ? static_cast<int>(value) : MPI_UNDEFINED;
        } else {
            *wide_ = value;
        }
    }

  private:
    int* narrow_ = nullptr;
    std::int64_t* wide_ = nullptr;
};

}  // namespace dlrt::mpi
