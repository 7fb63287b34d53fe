// SPDX-License-Identifier: Apache-2.0
#include "transports/shm/copy_table_places.hpp"

#include <utility>

namespace dlrt::shm {

CopyTableChoice choose_copy_table(const TablePlaces& places, const FindHost& find_host) {
    CopyTableChoice choice;
    const auto take = [&](std::string_view text) -> Result<MeasuredHost> {
        Result<CopyTable> table = parse_copy_table(text);
        if (!table) return table.error();
        MeasuredHost host = *table->measured_on;
        choice.table = std::move(*table);
        return host;
    };
    choice.places = look_for_table(places, {"DLRT_COPY_TABLE", take, find_host});
    if (choice.places.back().state == PlaceState::in_force) choice.table = builtin_copy_table();
    for (const PlaceReport& place : choice.places) {
        if (place.state == PlaceState::in_force) return choice;
    }
    choice.table.reset();
    return choice;
}

}  // namespace dlrt::shm
