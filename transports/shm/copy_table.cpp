// SPDX-License-Identifier: Apache-2.0
#include "transports/shm/copy_table.hpp"

namespace dlrt::shm {

CopyTable builtin_copy_table() {
    constexpr auto read = LargeProtocol::rendezvous_read;
    constexpr auto stream = LargeProtocol::rendezvous_stream;
    return {{
        {.size_bytes_min = 0,
         .one_way = stream,
         .exchange = stream,
         .all_busy = stream,
         .fragment_bytes = 16 * 1024},
        {.size_bytes_min = 64 * 1024,
         .one_way = stream,
         .exchange = stream,
         .all_busy = read,
         .fragment_bytes = 32 * 1024},
    }};
}

}  // namespace dlrt::shm
