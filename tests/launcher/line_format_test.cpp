// SPDX-License-Identifier: Apache-2.0
#include "launcher/line_format.hpp"

#include "runtime/base/error_text.hpp"

#include <catch2/catch.hpp>

namespace dlrt::launcher {
namespace {

const LineFacts facts{7, 3, "h2", 4321, StreamKind::err, 1, "ab12"};

std::string expanded(std::string_view text) {
    const Result<LineFormat> format = LineFormat::parse(text);
    return format ? format->expand(facts) : last_error_text();
}

}  // namespace

TEST_CASE("line format: each sign stands for its fact", "[launcher]") {
    CHECK(expanded("[%r] ") == "[7] ");
    CHECK(expanded("%R") == "3");
    CHECK(expanded("%h") == "h2");
    CHECK(expanded("%p") == "4321");
    CHECK(expanded("%s") == "err");
    CHECK(expanded("%b") == "1");
    CHECK(expanded("%j") == "ab12");
    CHECK(expanded("100%%r") == "100%r");
    CHECK(expanded("%j/%h.%r-%R.%s") == "ab12/h2.7-3.err");
    CHECK(expanded("") == "");
    CHECK(expanded("plain") == "plain");
    const LineFacts out{0, 0, "h", 1, StreamKind::out, 0, "j"};
    CHECK(LineFormat::parse("%s")->expand(out) == "out");
}

TEST_CASE("line format: a width pads numbers with zeros and never cuts them", "[launcher]") {
    CHECK(expanded("%03r") == "007");
    CHECK(expanded("%3r") == "007");
    CHECK(expanded("%0r") == "7");
    CHECK(expanded("%02p") == "4321");
    CHECK(expanded("%020R") == "00000000000000000003");
}

TEST_CASE("line format: what is no sign is named beside what is valid", "[launcher]") {
    CHECK(
        expanded("a%x") ==
        "'%x' in 'a%x' is unknown; valid are %r %R %h %p %s %b %j %% and a "
        "width as in %03r"
    );
    CHECK(expanded("50%").starts_with("'%' in '50%' is unknown"));
    CHECK(expanded("%03").starts_with("'%03' in '%03' is unknown"));
    CHECK(expanded("%-3r").starts_with("'%-' in '%-3r' is unknown"));
    CHECK(expanded("%3h").starts_with("'%3h' in '%3h' has a width; valid is one of up to 20"));
    CHECK(expanded("%21r").starts_with("'%21r' in '%21r' has a width"));
    CHECK(expanded("%99999999999999999999r").find("unknown") != std::string::npos);
}

TEST_CASE("line format: it knows its signs", "[launcher]") {
    const Result<LineFormat> format = LineFormat::parse("%%h/%02r");
    REQUIRE(format.has_value());
    CHECK(format->uses('r'));
    CHECK(!format->uses('h'));
    CHECK(!format->uses('%'));
    CHECK(!format->is_empty());
    CHECK(LineFormat::parse("")->is_empty());
}

TEST_CASE("line format: an escaped text comes back as it was", "[launcher]") {
    CHECK(expanded(escape_for_format("/a %r%%/100%")) == "/a %r%%/100%");
}

}  // namespace dlrt::launcher
