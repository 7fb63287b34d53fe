// SPDX-License-Identifier: Apache-2.0
#include "launcher/app_file.hpp"

#include "launcher/options.hpp"
#include "runtime/base/error_text.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

namespace dlrt::launcher {
namespace {

using Words = std::vector<std::string>;

Words split(std::string_view text, Comments comments = Comments::hash) {
    SplitFailure failure;
    Words words;
    for (const SplitWord& word : split_words(text, comments, failure)) words.push_back(word.text);
    INFO(failure.problem);
    REQUIRE(failure.problem.empty());
    return words;
}

std::string refusal_of(std::string_view text) {
    REQUIRE(!parse_app_text("F", text));
    return std::string(last_error_text());
}

/// A file for the length of a test.
class AppFile {
  public:
    explicit AppFile(std::string_view text) {
        const int descriptor = ::mkstemp(path_);
        REQUIRE(descriptor >= 0);
        REQUIRE(::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
        ::close(descriptor);
    }
    ~AppFile() { ::unlink(path_); }
    AppFile(const AppFile&) = delete;
    AppFile& operator=(const AppFile&) = delete;
    std::string path() const { return path_; }

  private:
    char path_[32] = "/tmp/dlrt-app-XXXXXX";
};

}  // namespace

TEST_CASE("app file: blanks separate words, quotes and backslashes hold them", "[launcher]") {
    CHECK(split("  a\tb  c\r") == Words{"a", "b", "c"});
    CHECK(split("'a b'c\"d e\" '' \"\"") == Words{"a bcd e", "", ""});
    CHECK(split(R"(a\ b \# "\"\\\n" '\')") == Words{"a b", "#", "\"\\\\n", "\\"});
    CHECK(split("a #b c") == Words{"a"});
    CHECK(split("a b#c '#d'") == Words{"a", "b#c", "#d"});
    CHECK(split("a #b", Comments::none) == Words{"a", "#b"});
    CHECK(split("").empty());
    CHECK(split("$HOME * ~") == Words{"$HOME", "*", "~"});
}

TEST_CASE("app file: lines are programs, however they end", "[launcher]") {
    const auto lines = parse_app_text("F", "\xef\xbb\xbf-np 1 a\r\n\n  # nothing\n-np 2 b 'x y'");
    REQUIRE(lines.has_value());
    REQUIRE(lines->size() == 2);
    CHECK((*lines)[0].number == 1);
    CHECK((*lines)[0].words.size() == 3);
    CHECK((*lines)[1].number == 4);
    CHECK((*lines)[1].words[3].text == "x y");
}

TEST_CASE("app file: what can't be read is named by line and column", "[launcher]") {
    CHECK(refusal_of("a\nb 'c\nd'") == "F:2:3: a ' that nothing closes");
    CHECK(refusal_of("a \"b") == "F:1:3: a \" that nothing closes");
    CHECK(refusal_of("a b\\") == "F:1:4: a backslash with nothing after it");
    CHECK(refusal_of(std::string_view("a\0b", 3)) == "F:1:2: a zero byte");
    CHECK(
        refusal_of("a\n-np 1 a : -np 1 b") ==
        "F:2:9: ':' separates programs on the command line; here each has a line of its own"
    );
    CHECK(refusal_of("") == "--app: 'F' names no program");
    CHECK(refusal_of("# a\n\n") == "--app: 'F' names no program");
}

TEST_CASE("app file: its programs are the job's", "[launcher]") {
    const AppFile file("-np 2 -x A prog 'a b' ':'\n--wdir /w -np 1 other --tag\n");
    const Result<Options> options = parse_options(Words{
        "--timeout", "9", "-genv", "B", "1", "--configfile", file.path()});
    INFO(last_error_text());
    REQUIRE(options.has_value());
    REQUIRE(options->blocks.size() == 2);
    CHECK(options->rank_count() == 3u);
    CHECK(options->blocks[0].arguments == Words{"prog", "a b", ":"});
    CHECK(options->blocks[0].environment_edits.size() == 2);
    CHECK(options->blocks[1].arguments == Words{"other", "--tag"});
    CHECK(options->blocks[1].environment_edits.size() == 1);
    CHECK(options->blocks[1].working_directory == "/w");
    CHECK(options->timeout_ms == 9000u);
}

TEST_CASE("app file: a wrong option in it is named by its place", "[launcher]") {
    const auto refusal = [](std::string_view text) {
        const AppFile file(text);
        REQUIRE(!parse_options(Words{"--app", file.path()}));
        std::string line(last_error_text());
        REQUIRE(line.find(file.path()) == 0);
        return line.substr(file.path().size());
    };
    CHECK(
        refusal("-np 1 a\n\n  -np  x b\n") ==
        ":3:3: -np: 'x' is not valid; valid is a number of ranks, 1 to 1024"
    );
    CHECK(
        refusal("-np 1 --tag a") ==
        ":1:7: --tag: holds for the whole job; valid before the first program"
    );
    CHECK(
        refusal("-np 1 --env A=1") ==
        ":1:13: a program to run is missing; 'dlrun --help' shows the usage"
    );
    CHECK(refusal("-nq 1 a") == ":1:1: option -nq is unknown; did you mean -np?");
}

TEST_CASE("app file: the command line holds no program beside it", "[launcher]") {
    const AppFile file("-np 1 a");
    const std::string quoted = "'" + file.path() + "'";
    const auto refusal = [](const Words& words) {
        REQUIRE(!parse_options(words));
        return std::string(last_error_text());
    };
    CHECK(
        refusal({"--app", file.path(), "b"}) ==
        "--app: " + quoted + " says which programs run; the command line can't as well"
    );
    CHECK(
        refusal({"--app", file.path(), ":", "b"}) ==
        "--app: " + quoted + " says which programs run; the command line can't as well"
    );
    CHECK(
        refusal({"-n", "2", "--app", file.path()}) ==
        "-n: holds for one program; valid in the lines of " + quoted
    );
    CHECK(
        refusal({"--app", "/no/such"}) == "--app: cannot open '/no/such': No such file or directory"
    );
    CHECK(refusal({"--app", "/tmp"}) == "--app: '/tmp' is a folder; valid is a file");
}

}  // namespace dlrt::launcher
