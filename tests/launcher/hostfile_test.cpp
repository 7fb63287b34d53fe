// SPDX-License-Identifier: Apache-2.0
#include "launcher/hostfile.hpp"

#include "runtime/base/error_text.hpp"

#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace dlrt::launcher {
namespace {

using Mentions = std::vector<HostMention>;

HostMention mention(std::string name, std::optional<std::uint32_t> slots = {}) {
    HostMention result;
    result.name = std::move(name);
    result.slots = slots;
    return result;
}

Mentions hosts_of(std::string_view text) {
    Result<Mentions> result = parse_hostfile(text, "F");
    INFO(last_error_text());
    REQUIRE(result.has_value());
    return std::move(*result);
}

std::string problem_of(std::string_view text) {
    REQUIRE(!parse_hostfile(text, "F"));
    return last_error_text();
}

Mentions list_of(std::string_view text) {
    Result<Mentions> result = parse_host_list(text);
    INFO(last_error_text());
    REQUIRE(result.has_value());
    return std::move(*result);
}

std::string list_problem_of(std::string_view text) {
    REQUIRE(!parse_host_list(text));
    return last_error_text();
}

}  // namespace

TEST_CASE("hostfile: the last line needs no newline", "[launcher]") {
    CHECK(hosts_of("localhost") == Mentions{mention("localhost")});
    CHECK(hosts_of("a\nb") == Mentions{mention("a"), mention("b")});
}

TEST_CASE("hostfile: line ends of Windows, blank lines and comments", "[launcher]") {
    CHECK(
        hosts_of("\r\n# one\r\na slots=2 # two\r\n\r\n  \t\r\nb slots=3# three\r\nc// four\r\n") ==
        Mentions{mention("a", 2), mention("b", 3), mention("c")}
    );
    CHECK(
        hosts_of("/* one\ntwo */ a /* three */ slots=2 // four\n// five\nb slots=1/* six */\n") ==
        Mentions{mention("a", 2), mention("b", 1)}
    );
}

TEST_CASE("hostfile: a byte order mark is passed over and not counted", "[launcher]") {
    CHECK(hosts_of("\xef\xbb\xbflocalhost\n") == Mentions{mention("localhost")});
    CHECK(problem_of("\xef\xbb\xbf=\n").starts_with("F:1:1: "));
}

TEST_CASE("hostfile: a user before the host or as a setting", "[launcher]") {
    HostMention expected = mention("h", 2);
    expected.user = "root";
    CHECK(hosts_of("root@h slots=2") == Mentions{expected});
    CHECK(hosts_of("h slots=2 user=root") == Mentions{expected});
    CHECK(hosts_of("h:2 username=root") == Mentions{expected});
    expected.user = "me@site";
    CHECK(hosts_of("me@site@h:2") == Mentions{expected});
}

TEST_CASE("hostfile: blanks and tabs may stand round an equals sign", "[launcher]") {
    HostMention expected = mention("h", 2);
    expected.max_slots = 4;
    CHECK(hosts_of("h\tslots = 2   max_slots\t=\t4") == Mentions{expected});
}

TEST_CASE("hostfile: IPv6 addresses stand in brackets, or alone without a count", "[launcher]") {
    CHECK(
        hosts_of("[::1] slots=2\n::1\n[fe80::2%eth0]:3\n[::ffff:10.0.0.1]\n") ==
        Mentions{
            mention("::1", 2), mention("::1"), mention("fe80::2%eth0", 3),
            mention("::ffff:10.0.0.1")}
    );
    CHECK(
        problem_of("a:b:c") ==
        "F:1:1: 'a:b:c' is neither host:N nor an IPv6 address; valid is [ADDRESS]:N for an address "
        "with a number of slots"
    );
    CHECK(problem_of("[::g]") == "F:1:2: '::g' is not an IPv6 address");
    CHECK(problem_of("[::1") == "F:1:1: '[' has no ']'");
    CHECK(problem_of("[::1]x") == "F:1:6: 'x' stands behind ']'; valid is :N");
}

TEST_CASE("hostfile: spellings of other launchers mean the same", "[launcher]") {
    for (const std::string key : {"slots", "count", "cpu", "cpus", "procs", "np"}) {
        CHECK(hosts_of("h " + key + "=3") == Mentions{mention("h", 3)});
    }
    HostMention limited = mention("h");
    limited.max_slots = 3;
    for (const std::string key : {"max_slots", "max-slots", "maxslots", "slots-max", "max_cpu"}) {
        CHECK(hosts_of("h " + key + "=3") == Mentions{limited});
    }
    CHECK(hosts_of("h:4") == Mentions{mention("h", 4)});
}

TEST_CASE("hostfile: a node file of PBS names a host once for each slot", "[launcher]") {
    CHECK(
        hosts_of("n1.site\nn1.site\nn2.site\n") ==
        Mentions{mention("n1.site"), mention("n1.site"), mention("n2.site")}
    );
}

TEST_CASE("hostfile: port and folder, with blanks in quotes", "[launcher]") {
    HostMention expected = mention("h");
    expected.port = 2222;
    expected.prefix = "/opt/my dlrt";
    CHECK(hosts_of("h port=2222 prefix=\"/opt/my dlrt\" # c") == Mentions{expected});
    expected.prefix = "/opt//x#1";
    CHECK(hosts_of("h port=2222 prefix=/opt//x#1 # c") == Mentions{expected});
}

TEST_CASE("hostfile: settings hold for all hosts of a range", "[launcher]") {
    CHECK(
        hosts_of("n[08-10,3] slots=2\n") ==
        Mentions{mention("n08", 2), mention("n09", 2), mention("n10", 2), mention("n3", 2)}
    );
    CHECK(
        hosts_of("r[1-2]n[1-2].x:5") ==
        Mentions{
            mention("r1n1.x", 5), mention("r1n2.x", 5), mention("r2n1.x", 5), mention("r2n2.x", 5)}
    );
    CHECK(problem_of("n[3-1]") == "F:1:3: the range '3-1' runs backwards");
    CHECK(problem_of("n[1-x]") == "F:1:3: '1-x' is not a range; valid are such as [01-16,20]");
    CHECK(problem_of("n[]") == "F:1:3: '' is not a range; valid are such as [01-16,20]");
    CHECK(problem_of("n[1-2") == "F:1:2: '[' has no ']'");
    CHECK(
        problem_of("n[0-999999999]") ==
        "F:1:3: the range '0-999999999' is too long; valid are 65536 hosts altogether"
    );
    CHECK(problem_of("n[1-300][1-300]") == "F:1:9: more than 65536 hosts are named");
    CHECK(problem_of("n[1-65536]\nm").starts_with("F:2:1: more than 65536 hosts"));
}

TEST_CASE("hostfile: a long comment is no problem, a long name is", "[launcher]") {
    CHECK(hosts_of("#" + std::string(65'536, 'x') + "\nh\n") == Mentions{mention("h")});
    const std::string longest(253, 'x');
    CHECK(hosts_of(longest) == Mentions{mention(longest)});
    CHECK(problem_of(longest + "x").ends_with("is longer than 253 letters"));
    CHECK(problem_of("n[1-65536]" + std::string(1 << 20, 'x')).size() < 200);
}

TEST_CASE("hostfile: what is wrong is named with its line and column", "[launcher]") {
    CHECK(
        problem_of("a slots=1\nlocalhost slotz=2\n") ==
        "F:2:11: key 'slotz' is unknown; did you mean slots?"
    );
    CHECK(
        problem_of("a color=2") ==
        "F:1:3: key 'color' is unknown; valid are slots, max_slots, user, port and prefix"
    );
    CHECK(problem_of("a 4") == "F:1:3: '4' is not key=value; did you mean slots=4?");
    CHECK(problem_of("a b") == "F:1:3: 'b' is not key=value");
    CHECK(problem_of("a slots") == "F:1:3: slots has no value");
    CHECK(problem_of("a slots= # 3") == "F:1:3: slots has no value");
    CHECK(problem_of("a =3") == "F:1:3: a key is missing before '='");
    CHECK(problem_of("slots=3") == "F:1:1: a host's name is missing before 'slots=3'");
    CHECK(problem_of("a slots=0") == "F:1:9: '0' is not valid here; valid are 1 to 65535");
    CHECK(problem_of("a slots=-1") == "F:1:9: '-1' is not valid here; valid are 1 to 65535");
    CHECK(problem_of("a:0") == "F:1:3: '0' is not a number of slots; valid are 1 to 65535");
    CHECK(problem_of("a:") == "F:1:3: '' is not a number of slots; valid are 1 to 65535");
    CHECK(problem_of(":3") == "F:1:1: a host's name is missing before ':'");
    CHECK(problem_of("me@") == "F:1:4: a host's name is missing");
    CHECK(problem_of("@a") == "F:1:1: '' is not a user's name");
    CHECK(problem_of("a slots=2 cpus=3") == "F:1:11: cpus is given twice for one host");
    CHECK(problem_of("a:2 slots=2") == "F:1:5: slots is given twice for one host");
    CHECK(problem_of("a slots=3 max_slots=2") == "F:1:21: slots=3 is more than max_slots=2");
    CHECK(problem_of("a /* b") == "F:1:3: '/*' has no '*/'");
    CHECK(problem_of("a prefix=\"/x") == "F:1:10: '\"' has no end on its line");
    CHECK(
        problem_of("a prefix=x") ==
        "F:1:10: 'x' is not a folder's absolute name of up to 1023 letters"
    );
    CHECK(
        problem_of("\n# only\n") ==
        "F:3:1: no host is named; valid are lines such as 'host slots=4'"
    );
    CHECK(problem_of("").starts_with("F:1:1: no host is named"));
}

TEST_CASE("hostfile: no name becomes an option or an escape sequence elsewhere", "[launcher]") {
    CHECK(problem_of("-oProxyCommand=x").starts_with("F:1:1: "));
    CHECK(problem_of("-x") == "F:1:1: a host's name can't begin with '-'");
    CHECK(problem_of("-x@h") == "F:1:1: '-x' is not a user's name");
    CHECK(problem_of("h user=-x") == "F:1:8: '-x' is not a user's name");
    CHECK(problem_of("a;b").starts_with("F:1:2: ';' can't stand in a host's name"));
    CHECK(problem_of(std::string("a\0b", 3)).starts_with("F:1:2: '\\x00' can't stand in"));
    CHECK(problem_of("\x1b[2J").starts_with("F:1:1: '\\x1b' can't stand in"));
    CHECK(problem_of("h \xc3\xa4=1").starts_with("F:1:3: key '\\xc3\\xa4' is unknown"));
    CHECK(problem_of("h slots=1 \xc3\xa4\xc3\xa4 b").starts_with("F:1:11: "));
    REQUIRE(!parse_hostfile("-", "a\nb"));
    CHECK(last_error_text().starts_with("a\\x0ab:1:1: "));
}

TEST_CASE("hostfile: files that can't be read are named", "[launcher]") {
    REQUIRE(!read_hostfile("/no/such"));
    CHECK(last_error_text() == "cannot open hostfile '/no/such': No such file or directory");
    REQUIRE(!read_hostfile("/"));
    CHECK(last_error_text() == "cannot read hostfile '/': Is a directory");
    REQUIRE(!read_hostfile("/dev/zero"));
    CHECK(last_error_text() == "hostfile '/dev/zero' is larger than 16 MiB");
}

TEST_CASE("hostfile: a file is read to its end", "[launcher]") {
    const auto path = std::filesystem::temp_directory_path() /
                      ("dlrt_hostfile_" + std::to_string(::getpid()));
    std::ofstream(path) << std::string(70'000, ' ') << "a slots=7\n";
    const Result<Mentions> mentions = read_hostfile(path);
    std::filesystem::remove(path);
    REQUIRE(mentions.has_value());
    CHECK(*mentions == Mentions{mention("a", 7)});
}

TEST_CASE("host list: commas separate hosts but not within a range", "[launcher]") {
    CHECK(list_of("a:4,b,n[1-2,5]:3,[::1]:2,u@c") == [] {
        Mentions hosts = {mention("a", 4),  mention("b"),      mention("n1", 3), mention("n2", 3),
                          mention("n5", 3), mention("::1", 2), mention("c")};
        hosts.back().user = "u";
        return hosts;
    }());
    CHECK(list_of("localhost,localhost") == Mentions{mention("localhost"), mention("localhost")});
}

TEST_CASE("host list: what is wrong is named with its place", "[launcher]") {
    CHECK(list_problem_of("") == "--host: a host's name is missing (letter 1 of '')");
    CHECK(list_problem_of("a,,b") == "--host: a host's name is missing (letter 3 of 'a,,b')");
    CHECK(list_problem_of("a,") == "--host: a host's name is missing (letter 3 of 'a,')");
    CHECK(
        list_problem_of("a:x") ==
        "--host: 'x' is not a number of slots; valid are 1 to 65535 (letter 3 of 'a:x')"
    );
    CHECK(list_problem_of("a b").starts_with("--host: ' ' can't stand in a host's name"));
}

}  // namespace dlrt::launcher
