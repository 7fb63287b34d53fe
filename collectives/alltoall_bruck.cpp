// SPDX-License-Identifier: Apache-2.0
/// Bruck all-to-all: a block that has to go i ranks up goes 2^k ranks in round k for each bit k of
/// i, together with all others that have this bit.
///
/// Cost L (alpha + n/2 beta), each block is copied once per hop and once at the end; any p. Best
/// for short blocks and many ranks. Blocks go straight from the input and into the output, in
/// place as well, and lie where they landed in between.
/// Source: Bruck, Ho, Kipnis, Upfal, Weathersby, "Efficient algorithms for all-to-all
/// communications in multiport message-passing systems", 1997.
///
///   p = 6, distances sent:   1 3 5 to rank + 1   2 3 to rank + 2   4 5 to rank + 4
#include "collectives/algorithms.hpp"
#include "collectives/schedule_builder.hpp"

#include <bit>

namespace dlrt::coll {
namespace {

// Copies of single blocks; those that continue each other become one step.
class Copies {
  public:
    explicit Copies(ScheduleBuilder& builder) : builder_(builder) {}

    void add(const Place& source, const Place& target) {
        const bool continues = length_ > 0 && is_next(source_, source) && is_next(target_, target);
        if (!continues) {
            finish();
            source_ = source;
            target_ = target;
        }
        ++length_;
    }
    void finish() {
        if (length_ > 0) builder_.copy({source_, length_, 0}, {target_, length_, 0});
        length_ = 0;
    }

  private:
    [[nodiscard]] bool is_next(const Place& first, const Place& place) const {
        return first.buffer == place.buffer && first.chunk + length_ == place.chunk;
    }

    ScheduleBuilder& builder_;
    Place source_, target_;
    std::uint32_t length_ = 0;
};

}  // namespace

Schedule alltoall_bruck(const Shape& shape) {
    const auto size = static_cast<std::uint32_t>(shape.size);
    const auto rank = static_cast<std::uint32_t>(shape.rank);
    ScheduleBuilder builder({Collective::alltoall, "bruck", ChunkRule::block, size}, shape);
    const bool is_in_place = shape.placement == Placement::in_place;
    const BufferId source = is_in_place ? BufferId::output : BufferId::input;
    std::vector<Place> places;  // Of the block with that distance to go, at first.
    for (std::uint32_t distance = 0; distance < size; ++distance)
        places.push_back({source, (rank + distance) % size});

    Copies copies(builder);
    if (!is_in_place) builder.copy(input_slice(rank), output_slice(rank));
    std::uint32_t next_free = 2 * (size / 2);  // Before: two places to pack in, used in turn.
    for (std::uint32_t bit = 1; bit < size; bit *= 2) {
        const std::uint32_t pack_base = std::countr_zero(bit) % 2 == 0 ? 0 : size / 2;
        std::uint32_t length = 0;
        for (std::uint32_t distance = bit; distance < size; ++distance) {
            if ((distance & bit) == 0) continue;
            copies.add(places[distance], {BufferId::scratch, pack_base + length});
            places[distance] = {BufferId::scratch, next_free + length};
            ++length;
        }
        copies.finish();
        const auto below = static_cast<std::int32_t>((rank + size - bit) % size);
        const auto above = static_cast<std::int32_t>((rank + bit) % size);
        builder.recv(below, scratch_slice(next_free, 0, length));
        builder.send(above, scratch_slice(pack_base, 0, length));
        next_free += length;

        const std::uint32_t arrived_end = std::min(2 * bit, size);
        for (std::uint32_t distance = bit; distance < arrived_end; ++distance) {
            // In place, a block that has not moved yet may lie where the one that arrives belongs.
            Place& hindered = places[size - distance];
            if (hindered.buffer != BufferId::output) continue;
            const Place saved{BufferId::scratch, next_free++};
            copies.add(hindered, saved);
            hindered = saved;
        }
        copies.finish();
        for (std::uint32_t distance = bit; distance < arrived_end; ++distance)
            copies.add(places[distance], {BufferId::output, (rank + size - distance) % size});
        copies.finish();
    }
    return std::move(builder).finish();
}

}  // namespace dlrt::coll
