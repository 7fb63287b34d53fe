// SPDX-License-Identifier: Apache-2.0
/// The table of algorithms that were measured best on a host, as a file. Values; the file is looked
/// for as base/table_places.hpp says, and named by DLRT_COLLECTIVE_TABLE.
#pragma once

#include "collectives/algorithm_rules.hpp"
#include "runtime/base/table_places.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlrt {

/// Its name in each place but the one that DLRT_COLLECTIVE_TABLE names.
inline constexpr std::string_view collective_table_file_name = "collective_table.json";

struct CollectiveTable {
    std::vector<coll::TunedRule> rules;  ///< The first that applies counts; none: built in.
    std::optional<MeasuredHost> measured_on = std::nullopt;  ///< None: built in.
    friend bool operator==(const CollectiveTable&, const CollectiveTable&) = default;
};

/// Reads what collective_table_text() wrote, or a person. Errors: Errc::argument, naming line, rule
/// or field, but not the file.
[[nodiscard]] Result<CollectiveTable> parse_collective_table(std::string_view text);
/// The table as JSON.
[[nodiscard]] std::string collective_table_text(const CollectiveTable& table);

/// What an operation took by one algorithm.
struct AlgorithmSample {
    const coll::Algorithm* algorithm = nullptr;
    std::int32_t ranks = 1;
    std::uint64_t total_bytes = 0;  ///< As in coll::Operation.
    double time_us = 0;
};
/// Rules for where another algorithm than the usual one took at least a tenth less: from the
/// smallest size of which that was seen up to the next one of which it wasn't, and for all numbers
/// of ranks above the next smaller one that was measured. REQUIRES: samples of the usual ones, too.
[[nodiscard]] std::vector<coll::TunedRule> rules_from(std::span<const AlgorithmSample> samples);

struct CollectiveTableChoice {
    std::vector<PlaceReport> places;       ///< In order, all four.
    std::optional<CollectiveTable> table;  ///< None: the named one can't be used.
};
[[nodiscard]] CollectiveTableChoice choose_collective_table(const TablePlaces& places);

}  // namespace dlrt
