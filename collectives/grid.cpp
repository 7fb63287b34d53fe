// SPDX-License-Identifier: Apache-2.0
#include "collectives/grid.hpp"

#include "runtime/base/check.hpp"

#include <utility>

namespace dlrt::coll {

Grid::Grid(std::vector<Dimension> dimensions)
    : dimensions_(std::move(dimensions)), strides_(dimensions_.size()) {
    for (std::size_t i = dimensions_.size(); i-- > 0;) {
        DLRT_ASSERT(dimensions_[i].size > 0);
        strides_[i] = rank_count_;
        const bool is_too_large = __builtin_mul_overflow(
            rank_count_, dimensions_[i].size, &rank_count_
        );
        DLRT_ASSERT(!is_too_large);
    }
}

std::vector<std::int32_t> Grid::coordinates_of(std::int32_t rank) const {
    std::vector<std::int32_t> coordinates(dimensions_.size());
    for (std::size_t i = 0; i < coordinates.size(); ++i)
        coordinates[i] = rank / strides_[i] % dimensions_[i].size;
    return coordinates;
}

std::int64_t Grid::wrapped(std::size_t dimension, std::int64_t coordinate) const {
    const std::int64_t size = dimensions_[dimension].size;
    if (coordinate >= 0 && coordinate < size) return coordinate;
    if (!dimensions_[dimension].is_periodic) return no_neighbour;
    return (coordinate % size + size) % size;
}

std::int32_t Grid::rank_at(std::span<const std::int32_t> coordinates) const {
    DLRT_ASSERT(coordinates.size() == dimensions_.size());
    std::int64_t rank = 0;
    for (std::size_t i = 0; i < coordinates.size(); ++i) {
        const std::int64_t coordinate = wrapped(i, coordinates[i]);
        if (coordinate == no_neighbour) return no_neighbour;
        rank += coordinate * strides_[i];
    }
    return static_cast<std::int32_t>(rank);
}

std::int32_t Grid::rank_from(std::int32_t rank, std::size_t dimension, std::int64_t displacement)
    const {
    const std::int64_t stride = strides_[dimension];
    const std::int64_t here = rank / stride % dimensions_[dimension].size;
    const std::int64_t there = wrapped(dimension, here + displacement);
    if (there == no_neighbour) return no_neighbour;
    return static_cast<std::int32_t>(rank + (there - here) * stride);
}

Neighbours Grid::neighbours_of(std::int32_t rank) const {
    constexpr std::uint16_t downwards = 0;
    constexpr std::uint16_t upwards = 1;
    Neighbours neighbours;
    for (std::size_t i = 0; i < dimensions_.size(); ++i) {
        const std::int32_t below = rank_from(rank, i, -1);
        const std::int32_t above = rank_from(rank, i, 1);
        neighbours.sources.push_back({below, upwards});
        neighbours.sources.push_back({above, downwards});
        neighbours.targets.push_back({below, downwards});
        neighbours.targets.push_back({above, upwards});
    }
    return neighbours;
}

}  // namespace dlrt::coll
