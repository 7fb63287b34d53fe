// SPDX-License-Identifier: Apache-2.0
/// Which copy table is in force.
#pragma once

#include "runtime/base/table_places.hpp"
#include "transports/shm/copy_table.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dlrt::shm {

/// Its name in each place but the one that DLRT_COPY_TABLE names.
inline constexpr std::string_view copy_table_file_name = "copy_table.json";

struct CopyTableChoice {
    std::vector<PlaceReport> places;  ///< In order, all four.
    std::optional<CopyTable> table;   ///< None: the named one can't be used.
};

using FindHost = std::function<Result<MeasuredHost>()>;
/// `find_host` is called once, and only when a whole table has been found.
[[nodiscard]] CopyTableChoice choose_copy_table(
    const TablePlaces& places, const FindHost& find_host
);

}  // namespace dlrt::shm
