// SPDX-License-Identifier: Apache-2.0
/// Little-endian numbers, strings and blobs written to and read from bytes, for messages that leave
/// the process. A reader never looks past its end: the first read that doesn't fit makes it fail
/// for good, and lengths are compared with what is left before anything is allocated. Not shared
/// between threads.
#pragma once

#include "runtime/base/bytes.hpp"

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace dlrt {

class ByteWriter {
  public:
    template<std::unsigned_integral T>
    void number(T value) {
        for (std::size_t i = 0; i < sizeof(T); ++i) {
            bytes_.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i)));
        }
    }
    void boolean(bool value) { number(static_cast<std::uint8_t>(value ? 1 : 0)); }
    /// Length in 4 bytes, then the bytes. REQUIRES: blob.size() fits in 32 bits.
    void blob(Bytes blob) {
        number(static_cast<std::uint32_t>(blob.size()));
        bytes_.insert(bytes_.end(), blob.begin(), blob.end());
    }
    void text(std::string_view text) { blob(std::as_bytes(std::span(text.data(), text.size()))); }

    [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

  private:
    std::vector<std::byte> bytes_;
};

class ByteReader {
  public:
    explicit ByteReader(Bytes bytes) : bytes_(bytes) {}

    /// All read so far did fit. After a misfit every read yields zero or nothing.
    [[nodiscard]] bool ok() const { return is_ok_; }
    [[nodiscard]] bool is_at_end() const { return is_ok_ && bytes_.empty(); }
    [[nodiscard]] std::size_t size_left() const { return bytes_.size(); }

    template<std::unsigned_integral T>
    [[nodiscard]] T number() {
        std::uint64_t value = 0;
        const Bytes taken = take(sizeof(T));
        for (std::size_t i = 0; i < taken.size(); ++i) {
            value |= static_cast<std::uint64_t>(taken[i]) << (8 * i);
        }
        return static_cast<T>(value);
    }
    /// A byte other than 0 and 1 is a misfit.
    [[nodiscard]] bool boolean() {
        const auto value = number<std::uint8_t>();
        if (value > 1) fail();
        return value == 1;
    }
    [[nodiscard]] std::vector<std::byte> blob() {
        const Bytes taken = take(number<std::uint32_t>());
        return {taken.begin(), taken.end()};
    }
    [[nodiscard]] std::string text() {
        const Bytes taken = take(number<std::uint32_t>());
        std::string result(taken.size(), '\0');
        for (std::size_t i = 0; i < taken.size(); ++i) result[i] = static_cast<char>(taken[i]);
        return result;
    }
    /// A count of items of at least `item_bytes_min` each: a misfit when they can't be in what is
    /// left.
    [[nodiscard]] std::uint32_t count(std::size_t item_bytes_min) {
        const auto value = number<std::uint32_t>();
        if (value <= bytes_.size() / item_bytes_min) return value;
        fail();
        return 0;
    }

  private:
    Bytes take(std::size_t size_bytes) {
        if (size_bytes > bytes_.size()) fail();
        if (!is_ok_) return {};
        const Bytes taken = bytes_.first(size_bytes);
        bytes_ = bytes_.subspan(size_bytes);
        return taken;
    }
    void fail() {
        is_ok_ = false;
        bytes_ = {};
    }

    Bytes bytes_;
    bool is_ok_ = true;
};

}  // namespace dlrt
