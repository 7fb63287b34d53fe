// SPDX-License-Identifier: Apache-2.0
/// How the bytes of one element lie in memory: the value behind every datatype handle.
///
/// A Layout is immutable and shared; freeing a handle never disturbs an operation that uses it. The
/// *packed stream* of (layout, count) is its data bytes in type-map order without gaps; messages
/// carry that stream.
#pragma once

#include "runtime/base/bytes.hpp"
#include "runtime/base/export.hpp"
#include "runtime/base/result.hpp"
#include "runtime/signature.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace dlrt {

/// The elements that a reduction can work on. The numbers are those of the type handles in dlrt.h.
enum class ElementType : std::uint8_t {
    none = 0,  ///< Mixed or unknown: can be sent, cannot be reduced.
    byte = 1,
    boolean,
    character,
    int8,
    uint8,
    int16,
    uint16,
    int32,
    uint32,
    int64,
    uint64,
    float16,
    bfloat16,
    float32,
    float64,
    long_double,
    complex64,
    complex128,
    // A value and where it is: struct { value; std::int32_t index; } as C lays it out. These have
    // gaps where the platform does; the packed stream, and element_size_bytes(), never.
    float32_int32,
    float64_int32,
    int32_int32,
    int64_int32,
    int16_int32,
    long_double_int32,
};
inline constexpr std::uint32_t element_type_count = 25;
/// The types below this number have no gaps.
inline constexpr std::uint32_t dense_element_type_count = 19;

/// Without gaps.
[[nodiscard]] DLRT_CORE std::uint32_t element_size_bytes(ElementType type);
[[nodiscard]] DLRT_CORE const char* element_name(ElementType type);

class Layout;
using LayoutRef = std::shared_ptr<const Layout>;

class DLRT_CORE Layout {
  public:
    /// The predefined layout of an element type; the same object each time.
    [[nodiscard]] static const LayoutRef& of(ElementType type);

    /// Constructors as in MPI-4.1 chapter 5; displacements in bytes where they end in _bytes, else
    /// in extents of `old`. Errors: Errc::count for negative counts and lengths, Errc::type for a
    /// size or extent beyond 63 bits, Errc::limit for types nested deeper than 64 irregular levels,
    /// Errc::argument otherwise. Blocks of length 0 have no effect at all. The extent of a
    /// structure has no padding added for alignment; use resized() for that. As in MPI, the bounds
    /// set by resized() and subarray() are sticky: a type with such parts is bounded by them alone.
    /// Subarrays may have subsizes of 0.
    [[nodiscard]] static Result<LayoutRef> contiguous(std::int64_t count, const LayoutRef& old);
    [[nodiscard]] static Result<LayoutRef> vector(
        std::int64_t count, std::int64_t block_length, std::int64_t stride_bytes,
        const LayoutRef& old
    );
    [[nodiscard]] static Result<LayoutRef> indexed(
        std::span<const std::int64_t> block_lengths,
        std::span<const std::int64_t> displacements_bytes, const LayoutRef& old
    );
    [[nodiscard]] static Result<LayoutRef> structure(
        std::span<const std::int64_t> block_lengths,
        std::span<const std::int64_t> displacements_bytes, std::span<const LayoutRef> olds
    );
    [[nodiscard]] static Result<LayoutRef> resized(
        std::int64_t lower_bound_bytes, std::int64_t extent_bytes, const LayoutRef& old
    );
    enum class Order : std::uint8_t { row_major, column_major };
    [[nodiscard]] static Result<LayoutRef> subarray(
        std::span<const std::int64_t> sizes, std::span<const std::int64_t> subsizes,
        std::span<const std::int64_t> starts, Order order, const LayoutRef& old
    );

    /// Data bytes of one element (without gaps).
    [[nodiscard]] std::uint64_t size_bytes() const { return size_bytes_; }
    [[nodiscard]] std::int64_t lower_bound_bytes() const { return lower_bound_bytes_; }
    [[nodiscard]] std::int64_t extent_bytes() const { return extent_bytes_; }
    [[nodiscard]] std::int64_t true_lower_bound_bytes() const { return true_lower_bound_bytes_; }
    [[nodiscard]] std::int64_t true_extent_bytes() const { return true_extent_bytes_; }
    /// Whether any count of elements is one run of size_bytes() * count bytes at the buffer's
    /// address + true_lower_bound_bytes().
    [[nodiscard]] bool is_contiguous() const { return is_contiguous_; }
    /// The one element type all data consists of, or none.
    [[nodiscard]] ElementType element() const { return element_; }
    /// Same for layouts whose packed streams hold the same sequence of elements (Langou et al.
    /// 2005).
    [[nodiscard]] std::uint32_t signature_hash() const { return signature_hash_; }
    /// The same for `count` elements: equal to that of any other description of the sequence.
    [[nodiscard]] std::uint32_t signature_hash(std::uint64_t count) const;

    class Node;  ///< The loops inside; layout_node.hpp.
    Layout() = default;

  private:
    friend class LayoutBuilder;
    friend class Packer;
    std::uint64_t size_bytes_ = 0;
    std::int64_t lower_bound_bytes_ = 0, extent_bytes_ = 0;
    std::int64_t true_lower_bound_bytes_ = 0, true_extent_bytes_ = 0;
    bool is_contiguous_ = true;
    bool has_bounds_ = false;           ///< Holds data or bounds that were set: counts as a part.
    bool has_explicit_bounds_ = false;  ///< By resized() or subarray(), here or in a part.
    ElementType element_ = ElementType::none;
    std::uint32_t signature_hash_ = 0;
    Signature signature_;
    std::shared_ptr<const Node> root_;  ///< Null when there is no data.
    std::int64_t root_offset_bytes_ = 0;
};

/// Copies packed-stream bytes [offset_bytes, offset_bytes + target.size()) of `count` elements at
/// `base` into target. Any offset, also in the middle of an element. REQUIRES: the range lies
/// within the stream.
DLRT_CORE void pack(
    const Layout& layout, std::uint64_t count, const void* base, std::uint64_t offset_bytes,
    MutableBytes target
);

/// The reverse: spreads source over the elements at `base`; bytes in gaps are never written.
DLRT_CORE void unpack(
    const Layout& layout, std::uint64_t count, void* base, std::uint64_t offset_bytes, Bytes source
);

}  // namespace dlrt
