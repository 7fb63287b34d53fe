// SPDX-License-Identifier: Apache-2.0
#include "launcher/preamble.hpp"

#include <catch2/catch.hpp>

namespace dlrt::launcher {

TEST_CASE("preamble: is found behind whatever a login wrote", "[launcher]") {
    const std::string line = preamble("0.1, protocol 2");
    const PreambleLook alone = look_for_preamble(line + "\x05");
    CHECK(alone.noise_bytes == 0);
    CHECK(alone.preamble_bytes == line.size());
    CHECK(alone.version == "0.1, protocol 2");
    const PreambleLook behind = look_for_preamble("Welcome\n\x01 to\n" + line);
    CHECK(behind.noise_bytes == 13);
    CHECK(behind.preamble_bytes == line.size());
    CHECK(behind.version == "0.1, protocol 2");
}

TEST_CASE(
    "preamble: one that is cut anywhere is waited for, and nothing of it dropped", "[launcher]"
) {
    const std::string line = preamble("0.1");
    for (std::size_t length = 0; length < line.size(); ++length) {
        const PreambleLook look = look_for_preamble("noise" + line.substr(0, length));
        CHECK(look.noise_bytes == 5);
        CHECK(look.preamble_bytes == 0);
    }
}

TEST_CASE("preamble: what only begins like one is noise", "[launcher]") {
    const std::string text = preamble("0.1").substr(0, 12) + std::string(300, 'x');
    CHECK(look_for_preamble(text).noise_bytes == text.size());
    CHECK(look_for_preamble("").noise_bytes == 0);
    CHECK(look_for_preamble("text").noise_bytes == 4);
}

}  // namespace dlrt::launcher
