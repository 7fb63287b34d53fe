// SPDX-License-Identifier: Apache-2.0
/// Buffers in memory that the ranks of a host share; a part of dlrt.hpp. Include that, not this.
// dlrt.hpp includes this file in its right place.
#ifndef DLRT_HPP
#include "dlrt.hpp"
#endif

#ifndef DLRT_MEMORY_HPP
#define DLRT_MEMORY_HPP

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

namespace dlrt {
inline namespace cpp {

/// Elements in memory of dlrt_alloc, a range that every call takes as a buffer. Freed when it goes,
/// and by dlrt_finalize at the latest.
template<Transferable T>
class HeapArray {
  public:
    HeapArray() = default;
    /// All of them T().
    explicit HeapArray(std::size_t count) {
        constexpr std::size_t count_max = std::numeric_limits<std::uint64_t>::max() / sizeof(T);
        static_assert(alignof(T) <= 64);
        // Beyond all limits rather than run over: the error says so.
        const std::uint64_t size_bytes = count <= count_max
                                             ? count * sizeof(T)
                                             : std::numeric_limits<std::uint64_t>::max();
        void* memory = nullptr;
        check(dlrt_alloc(size_bytes, &memory));
        data_ = static_cast<T*>(memory);
        size_ = count;
        std::uninitialized_value_construct_n(data_, size_);
    }
    HeapArray(HeapArray&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    HeapArray& operator=(HeapArray&& other) noexcept {
        if (this == &other) return *this;
        free();
        data_ = std::exchange(other.data_, nullptr);
        size_ = std::exchange(other.size_, 0);
        return *this;
    }
    ~HeapArray() { free(); }

    [[nodiscard]] T* data() { return data_; }
    [[nodiscard]] const T* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] T* begin() { return data_; }
    [[nodiscard]] T* end() { return data_ + size_; }
    [[nodiscard]] const T* begin() const { return data_; }
    [[nodiscard]] const T* end() const { return data_ + size_; }
    [[nodiscard]] T& operator[](std::size_t index) { return data_[index]; }
    [[nodiscard]] const T& operator[](std::size_t index) const { return data_[index]; }

  private:
    /// After finalize it has gone already, which is no error here.
    void free() noexcept {
        if (data_ != nullptr) static_cast<void>(dlrt_free(data_));
    }

    T* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace cpp
}  // namespace dlrt

#endif  // DLRT_MEMORY_HPP
