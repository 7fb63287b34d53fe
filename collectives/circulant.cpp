// SPDX-License-Identifier: Apache-2.0
/// The distances, and the all-gather that goes through them backwards.
#include "collectives/circulant.hpp"

namespace dlrt::coll {

std::vector<CirculantRound> circulant_rounds(std::int32_t size) {
    std::vector<CirculantRound> rounds;
    auto above = static_cast<std::uint32_t>(size);
    while (above > 1) {
        const std::uint32_t distance = (above + 1) / 2;
        rounds.push_back({distance, above - distance});
        above = distance;
    }
    return rounds;
}

void gather_around(ScheduleBuilder& builder, const Shape& shape) {
    const std::vector<CirculantRound> rounds = circulant_rounds(shape.size);
    for (auto next = rounds.rbegin(); next != rounds.rend(); ++next) {
        const CirculantRound& round = *next;
        visit_blocks(
            shape, round.distance, round.length,
            [&](std::uint32_t chunk, std::uint32_t length) {
                builder.recv(rank_above(shape, round.distance), output_slice(chunk, length));
            }
        );
        visit_blocks(shape, 0, round.length, [&](std::uint32_t chunk, std::uint32_t length) {
            builder.send(rank_below(shape, round.distance), output_slice(chunk, length));
        });
    }
}

}  // namespace dlrt::coll
