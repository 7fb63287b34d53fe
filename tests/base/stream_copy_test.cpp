// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/stream_copy.hpp"

#include <vector>

#include <catch2/catch.hpp>

namespace dlrt {

TEST_CASE("stream copy: every size and alignment, and not a byte beyond", "[base]") {
    constexpr std::size_t room_bytes = 1024;
    constexpr auto guard = std::byte{0xee};
    std::vector<std::byte> source(room_bytes);
    for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i % 251);
    for (std::size_t size = 0; size <= 300; ++size) {
        for (const std::size_t from : {0U, 1U, 8U, 63U}) {
            for (const std::size_t to : {0U, 1U, 15U, 16U, 64U}) {
                std::vector<std::byte> target(room_bytes, guard);
                stream_copy(target.data() + to, source.data() + from, size);
                std::vector<std::byte> right(room_bytes, guard);
                for (std::size_t i = 0; i < size; ++i) right[to + i] = source[from + i];
                INFO("size " << size << " from " << from << " to " << to);
                CHECK((target == right));
            }
        }
    }
}

}  // namespace dlrt
