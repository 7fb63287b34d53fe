// SPDX-License-Identifier: Apache-2.0
/// Which way a large message between two ranks of a host goes, by size and by what else is going
/// on. A value: built in, or measured on the host and read from a file.
#pragma once

#include "runtime/base/measured_host.hpp"
#include "runtime/base/result.hpp"
#include "transports/transport.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlrt::shm {

struct CopyRow {
    std::uint64_t size_bytes_min = 0;  ///< Applies from this size up to the next row's.
    LargeProtocol one_way = LargeProtocol::rendezvous_stream;
    LargeProtocol exchange = LargeProtocol::rendezvous_stream;
    LargeProtocol all_busy = LargeProtocol::rendezvous_stream;
    std::uint32_t fragment_bytes = 32 * 1024;
    friend bool operator==(const CopyRow&, const CopyRow&) = default;
};

struct CopyTable {
    std::vector<CopyRow> rows;  ///< Rising by size_bytes_min; the first begins at 0.
    std::optional<MeasuredHost> measured_on = std::nullopt;  ///< None: built in.
    friend bool operator==(const CopyTable&, const CopyTable&) = default;
};

[[nodiscard]] CopyTable builtin_copy_table();

/// Reads what copy_table_text() wrote, or a person. Errors: Errc::argument, naming line, row or
/// field, but not the file.
[[nodiscard]] Result<CopyTable> parse_copy_table(std::string_view text);
/// The table as JSON.
[[nodiscard]] std::string copy_table_text(const CopyTable& table);

struct MeasureOptions {
    std::vector<std::uint64_t> sizes_bytes;  ///< Rising; empty: 8 KiB to 16 MiB.
    std::uint32_t rounds = 8;                ///< The best of so many counts.
};

/// Really moves messages between processes forked for it, on the cpus that this process may use;
/// takes seconds. Errors: Errc::system; Errc::timeout.
[[nodiscard]] Result<CopyTable> measure_copy_table(const MeasureOptions& options);

}  // namespace dlrt::shm
