// SPDX-License-Identifier: Apache-2.0
/// Memory that grows and stays. One thread at a time.
#pragma once

#include "runtime/base/bytes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace dlrt {

class Arena {
  public:
    /// At least that much, aligned for everything; what it held is lost. Null when there is no more
    /// (or none was asked for).
    [[nodiscard]] std::byte* at_least(std::uint64_t size_bytes) {
        if (size_bytes > size_bytes_) grow(size_bytes);
        return memory_.get();
    }

    /// What at_least() returned last.
    [[nodiscard]] std::byte* memory() const { return memory_.get(); }

  private:
    struct Release {
        void operator()(std::byte* memory) const {
            ::operator delete[](memory, std::align_val_t{no_sharing_bytes});
        }
    };
    static constexpr std::uint64_t step_bytes = 4096;

    void grow(std::uint64_t size_bytes) {
        memory_.reset();
        const std::uint64_t grown = std::max(size_bytes, 2 * size_bytes_);
        size_bytes_ = (grown + step_bytes - 1) / step_bytes * step_bytes;
        constexpr std::align_val_t alignment{no_sharing_bytes};
        memory_.reset(new (alignment, std::nothrow) std::byte[size_bytes_]);
        if (!memory_) size_bytes_ = 0;
    }

    std::unique_ptr<std::byte[], Release> memory_;
    std::uint64_t size_bytes_ = 0;
};

}  // namespace dlrt
