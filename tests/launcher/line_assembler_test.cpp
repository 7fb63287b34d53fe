// SPDX-License-Identifier: Apache-2.0
#include "launcher/line_assembler.hpp"

#include <random>
#include <string>

#include <catch2/catch.hpp>

namespace dlrt::launcher {

TEST_CASE("line assembler: only whole lines pass", "[launcher]") {
    LineAssembler lines;
    CHECK(lines.append("ab").empty());
    CHECK(lines.append("c\nd\ne") == "abc\nd\n");
    CHECK(lines.append("\n") == "e\n");
    CHECK(lines.append("x\ny\n") == "x\ny\n");
    CHECK(lines.append("").empty());
    CHECK(lines.finish().empty());
}

TEST_CASE("line assembler: a partial last line is completed", "[launcher]") {
    LineAssembler lines;
    CHECK(lines.append("a\nb") == "a\n");
    CHECK(lines.has_partial());
    CHECK(lines.finish() == "b\n");
    CHECK(lines.finish().empty());
}

TEST_CASE("line assembler: a question passes on request and its line is completed", "[launcher]") {
    LineAssembler lines;
    CHECK(lines.append("name? ").empty());
    CHECK(lines.take_partial() == "name? ");
    CHECK(lines.take_partial().empty());
    CHECK(lines.finish() == "\n");
}

TEST_CASE("line assembler: a line beyond the limit passes in parts", "[launcher]") {
    LineAssembler lines;
    const std::string half(line_bytes_max / 2, 'x');
    CHECK(lines.append(half).empty());
    CHECK(lines.append(half) == half + half);
    CHECK(lines.append("end").empty());
    CHECK(lines.append("\nnext") == "end\n");
    CHECK(lines.finish() == "next\n");
}

TEST_CASE("line assembler: whatever the cuts, the bytes are the same", "[launcher]") {
    std::mt19937 random(11);
    std::string text;
    for (int i = 0; i < 20000; ++i)
        text += random() % 7 == 0 ? '\n' : static_cast<char>('a' + i % 26);
    text += '\n';
    LineAssembler lines;
    std::string passed;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = std::min<std::size_t>(random() % 50, text.size() - at);
        const std::string_view out = lines.append(std::string_view(text).substr(at, length));
        CHECK((out.empty() || out.back() == '\n'));
        passed += out;
        at += length;
    }
    passed += lines.finish();
    CHECK(passed == text);
}

}  // namespace dlrt::launcher
