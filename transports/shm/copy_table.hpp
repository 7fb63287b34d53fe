// SPDX-License-Identifier: Apache-2.0
/// Which way a large message between two ranks of a host goes, by size and by what else is going
/// on. A value: built in, or measured on the host and read from a file.
#pragma once

#include "transports/transport.hpp"

#include <cstdint>
#include <vector>

namespace dlrt::shm {

struct CopyRow {
    std::uint64_t size_bytes_min = 0;  ///< Applies from this size up to the next row's.
    LargeProtocol one_way = LargeProtocol::rendezvous_stream;
    LargeProtocol exchange = LargeProtocol::rendezvous_stream;
    LargeProtocol all_busy = LargeProtocol::rendezvous_stream;
    std::uint32_t fragment_bytes = 32 * 1024;
};

struct CopyTable {
    std::vector<CopyRow> rows;  ///< Rising by size_bytes_min; the first begins at 0.
};

[[nodiscard]] CopyTable builtin_copy_table();

}  // namespace dlrt::shm
