// SPDX-License-Identifier: Apache-2.0
#include "launcher/line_merger.hpp"

#include <catch2/catch.hpp>

namespace dlrt::launcher {
namespace {

std::string text_of(const std::vector<OutputItem>& items) {
    std::string text;
    for (const OutputItem& item : items) text += item.text;
    return text;
}

}  // namespace

TEST_CASE("line merger: whole lines pass in the order of their arrival", "[launcher]") {
    LineMerger merger;
    std::vector<OutputItem> ready;
    merger.add(1, "", "a\nb\n", ready);
    merger.add(0, "", "c\n", ready);
    CHECK(text_of(ready) == "a\nb\nc\n");
    CHECK(ready.at(0).rank == 1);
    CHECK(ready.at(0).credit_bytes == 4);
    CHECK(!merger.is_holding());
}

TEST_CASE("line merger: others wait for the end of an open line", "[launcher]") {
    LineMerger merger;
    std::vector<OutputItem> ready;
    merger.add(0, "", "begin ", ready);
    merger.add(1, "", "x\n", ready);
    merger.add(2, "", "open ", ready);
    merger.add(1, "", "y\n", ready);
    CHECK(merger.is_holding());
    CHECK(text_of(ready) == "begin ");
    merger.add(0, "", "end\n", ready);
    CHECK(text_of(ready) == "begin end\nx\nopen ");
    merger.add(2, "", "shut\n", ready);
    CHECK(text_of(ready) == "begin end\nx\nopen shut\ny\n");
    CHECK(!merger.is_holding());
}

TEST_CASE("line merger: a line that stays open is broken, and nothing is lost", "[launcher]") {
    LineMerger merger;
    std::vector<OutputItem> ready;
    merger.add(0, "", "begin ", ready);
    merger.add(1, "", "x\n", ready);
    merger.release(ready);
    CHECK(text_of(ready) == "begin \nx\n");
    merger.add(0, "", "end\n", ready);
    CHECK(text_of(ready) == "begin \nx\nend\n");
    std::size_t credit_bytes = 0;
    for (const OutputItem& item : ready) credit_bytes += item.credit_bytes;
    CHECK(credit_bytes == 12);
}

TEST_CASE("line merger: every line gets its tag once", "[launcher]") {
    LineMerger merger;
    std::vector<OutputItem> ready;
    merger.add(3, "[3] ", "a\n\nb ", ready);
    merger.add(3, "[3] ", "c\n", ready);
    merger.add(12, "[12] ", "d\n", ready);
    CHECK(text_of(ready) == "[3] a\n[3] \n[3] b c\n[12] d\n");
    CHECK(ready.at(0).credit_bytes == 5);
}

TEST_CASE("line merger: a broken line's rest has a tag again", "[launcher]") {
    LineMerger merger;
    std::vector<OutputItem> ready;
    merger.add(0, "[0] ", "begin ", ready);
    merger.add(1, "[1] ", "x\n", ready);
    merger.release(ready);
    merger.add(0, "[0] ", "end\n", ready);
    CHECK(text_of(ready) == "[0] begin \n[1] x\n[0] end\n");
}

TEST_CASE("line merger: dlrun's own line begins on a line of its own", "[launcher]") {
    LineMerger merger;
    std::vector<OutputItem> ready;
    merger.add_own_line("one", ready);
    merger.add(0, "", "begin", ready);
    merger.add(1, "", "x\n", ready);
    merger.add_own_line("two", ready);
    CHECK(text_of(ready) == "one\nbegin\ntwo\nx\n");
    CHECK(ready.at(0).credit_bytes == 0);
}

}  // namespace dlrt::launcher
