// SPDX-License-Identifier: Apache-2.0
/// The independent reference for layouts: the type map of MPI-4.1 chapter 5, written out entry by
/// entry, bounds worked out from the entries and markers as the text there says.
#pragma once

#include "runtime/layout.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <span>
#include <vector>

namespace dlrt::test {

struct TypeMap {
    struct Entry {
        std::int64_t displacement = 0;
        ElementType type = ElementType::none;
    };
    std::vector<Entry> entries;
    std::vector<std::int64_t> lower_markers;
    std::vector<std::int64_t> upper_markers;

    static TypeMap of(ElementType type) { return {{{0, type}}, {}, {}}; }

    std::int64_t lower() const {
        if (!lower_markers.empty())
            return *std::min_element(lower_markers.begin(), lower_markers.end());
        return true_lower();
    }
    std::int64_t upper() const {
        if (!upper_markers.empty())
            return *std::max_element(upper_markers.begin(), upper_markers.end());
        return true_upper();
    }
    std::int64_t true_lower() const {
        if (entries.empty()) return 0;
        std::int64_t low = entries.front().displacement;
        for (const Entry& entry : entries) low = std::min(low, entry.displacement);
        return low;
    }
    std::int64_t true_upper() const {
        if (entries.empty()) return 0;
        std::int64_t high = end_of(entries.front());
        for (const Entry& entry : entries) high = std::max(high, end_of(entry));
        return high;
    }
    std::int64_t extent() const { return upper() - lower(); }

    /// Appends `count` copies of piece, the first at displacement, `stride` bytes apart.
    void append(
        const TypeMap& piece, std::int64_t displacement, std::int64_t count, std::int64_t stride
    ) {
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t at = displacement + i * stride;
            for (const Entry& entry : piece.entries)
                entries.push_back({entry.displacement + at, entry.type});
            for (std::int64_t marker : piece.lower_markers) lower_markers.push_back(marker + at);
            for (std::int64_t marker : piece.upper_markers) upper_markers.push_back(marker + at);
        }
    }
    void set_bounds(std::int64_t lower_bound, std::int64_t extent_bytes) {
        lower_markers = {lower_bound};
        upper_markers = {lower_bound + extent_bytes};
    }

    /// Where each byte of the packed stream of `count` elements is, relative to the buffer.
    std::vector<std::int64_t> byte_places(std::int64_t count) const {
        std::vector<std::int64_t> places;
        for (std::int64_t i = 0; i < count; ++i) {
            for (const Entry& entry : entries) {
                const std::int64_t start = i * extent() + entry.displacement;
                for (std::int64_t at = start; at < start + size_of(entry.type); ++at)
                    places.push_back(at);
            }
        }
        return places;
    }

    static std::int64_t size_of(ElementType type) {
        switch (type) {
            case ElementType::byte:
            case ElementType::boolean:
            case ElementType::character:
            case ElementType::int8:
            case ElementType::uint8:
                return 1;
            case ElementType::int16:
            case ElementType::uint16:
            case ElementType::float16:
            case ElementType::bfloat16:
                return 2;
            case ElementType::int32:
            case ElementType::uint32:
            case ElementType::float32:
                return 4;
            case ElementType::int64:
            case ElementType::uint64:
            case ElementType::float64:
            case ElementType::complex64:
                return 8;
            case ElementType::complex128:
                return 16;
            case ElementType::long_double:
                return sizeof(long double);
            // Two parts with a gap between them; not parts of these maps.
            case ElementType::float32_int32:
            case ElementType::float64_int32:
            case ElementType::int32_int32:
            case ElementType::int64_int32:
            case ElementType::int16_int32:
            case ElementType::long_double_int32:
            case ElementType::none:
                break;
        }
        return 0;
    }

  private:
    static std::int64_t end_of(const Entry& entry) {
        return entry.displacement + size_of(entry.type);
    }
};

/// A layout beside its type map.
struct Pair {
    LayoutRef layout;
    TypeMap map;
};

/// Random nested types, small enough to be written out.
class RandomTypes {
  public:
    explicit RandomTypes(std::uint64_t seed) : random_(seed) {}

    std::int64_t number(std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
    }

    Pair type(int depth) {
        if (depth == 0) return predefined();
        switch (number(0, 6)) {
            case 0:
                return contiguous(depth);
            case 1:
                return vector(depth);
            case 2:
                return indexed(depth);
            case 3:
                return structure(depth);
            case 4:
                return resized(depth);
            case 5:
                return subarray(depth);
            default:
                return type(depth - 1);
        }
    }

  private:
    Pair predefined() {
        static constexpr ElementType choices[] = {
            ElementType::byte,    ElementType::int16,      ElementType::int32,
            ElementType::float64, ElementType::complex128, ElementType::float16,
        };
        const ElementType type = choices[number(0, std::size(choices) - 1)];
        return {Layout::of(type), TypeMap::of(type)};
    }
    Pair contiguous(int depth) {
        const Pair old = type(depth - 1);
        const std::int64_t count = number(0, 4);
        TypeMap map;
        map.append(old.map, 0, count, old.map.extent());
        return {*Layout::contiguous(count, old.layout), map};
    }
    Pair vector(int depth) {
        const Pair old = type(depth - 1);
        const std::int64_t count = number(0, 4), length = number(0, 3), stride = number(-40, 80);
        TypeMap map;
        for (std::int64_t i = 0; i < count; ++i) {
            map.append(old.map, i * stride, length, old.map.extent());
        }
        return {*Layout::vector(count, length, stride, old.layout), map};
    }
    Pair indexed(int depth) {
        const Pair old = type(depth - 1);
        const std::int64_t count = number(0, 5);
        std::vector<std::int64_t> lengths, displacements;
        TypeMap map;
        std::int64_t next = number(-50, 50);
        for (std::int64_t i = 0; i < count; ++i) {
            lengths.push_back(number(0, 3));
            displacements.push_back(next);
            map.append(old.map, next, lengths.back(), old.map.extent());
            // Often right behind, so that merging is exercised.
            next = number(0, 2) != 0 ? next + lengths.back() * old.map.extent() : number(-90, 90);
        }
        return {*Layout::indexed(lengths, displacements, old.layout), map};
    }
    Pair structure(int depth) {
        const std::int64_t count = number(0, 4);
        std::vector<std::int64_t> lengths, displacements;
        std::vector<LayoutRef> olds;
        TypeMap map;
        std::int64_t next = number(-50, 50);
        for (std::int64_t i = 0; i < count; ++i) {
            const Pair old = type(depth - 1);
            lengths.push_back(number(0, 3));
            displacements.push_back(next);
            olds.push_back(old.layout);
            map.append(old.map, next, lengths.back(), old.map.extent());
            next = number(0, 2) != 0 ? next + lengths.back() * old.map.extent() : number(-90, 90);
        }
        return {*Layout::structure(lengths, displacements, olds), map};
    }
    Pair resized(int depth) {
        const Pair old = type(depth - 1);
        const std::int64_t lower = number(-20, 20), extent = number(-30, 90);
        TypeMap map = old.map;
        map.set_bounds(lower, extent);
        return {*Layout::resized(lower, extent, old.layout), map};
    }
    Pair subarray(int depth) {
        const Pair old = type(depth - 1);
        const auto dimensions = static_cast<std::size_t>(number(1, 3));
        std::vector<std::int64_t> sizes(dimensions), subsizes(dimensions), starts(dimensions);
        for (std::size_t i = 0; i < dimensions; ++i) {
            sizes[i] = number(1, 4);
            subsizes[i] = number(0, sizes[i]);
            starts[i] = number(0, sizes[i] - subsizes[i]);
        }
        const bool row_major = number(0, 1) == 0;
        TypeMap map = subarray_map(sizes, subsizes, starts, row_major, old.map);
        const auto order = row_major ? Layout::Order::row_major : Layout::Order::column_major;
        return {*Layout::subarray(sizes, subsizes, starts, order, old.layout), map};
    }
    /// Counts through the indices of the sub-array like an odometer.
    static TypeMap subarray_map(
        std::span<const std::int64_t> sizes, std::span<const std::int64_t> subsizes,
        std::span<const std::int64_t> starts, bool row_major, const TypeMap& old
    ) {
        TypeMap map;
        std::int64_t total = 1, all = 1;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            total *= subsizes[i];
            all *= sizes[i];
        }
        for (std::int64_t element = 0; element < total; ++element) {
            std::int64_t rest = element, position = 0, weight = 1;
            for (std::size_t k = 0; k < sizes.size(); ++k) {
                const std::size_t d = row_major ? sizes.size() - 1 - k : k;
                position += (starts[d] + rest % subsizes[d]) * weight;
                rest /= subsizes[d];
                weight *= sizes[d];
            }
            map.append(old, position * old.extent(), 1, 0);
        }
        map.set_bounds(0, all * old.extent());
        return map;
    }

    std::mt19937_64 random_;
};

}  // namespace dlrt::test
