// SPDX-License-Identifier: Apache-2.0
/// Lines of PMI-1, and a launcher made of a socket pair that answers by the book or not at all.
#include "runtime/pmi1_client.hpp"

#include "runtime/base/error_text.hpp"
#include "tests/runtime/forked.hpp"

#include <array>
#include <stdlib.h>
#include <string>
#include <sys/socket.h>
#include <vector>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

/// A client whose launcher has already said `answers`; 0 when `body` is content.
template<typename Body>
int with_answers(const std::string& answers, Body body) {
    const test::Child child = test::fork_child([&] {
        std::array<int, 2> ends{};
        if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) return 90;
        if (::send(ends[0], answers.data(), answers.size(), 0) < 0) return 91;
        ::setenv("PMI_FD", std::to_string(ends[1]).c_str(), 1);
        ::setenv("PMI_RANK", "1", 1);
        ::setenv("PMI_SIZE", "3", 1);
        Pmi1Client client(200);
        return body(client);
    });
    return child.status();
}

const std::string greeting =
    "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"
    "cmd=my_kvsname kvsname=kvs_1\n";

}  // namespace

TEST_CASE("pmi1: lines become fields", "[runtime]") {
    const auto fields = parse_pmi1_line("cmd=get_result rc=0 msg=all is well value=a b=c  d");
    REQUIRE(fields.has_value());
    CHECK(fields->at("cmd") == "get_result");
    CHECK(fields->at("rc") == "0");
    CHECK(fields->at("msg") == "all is well");
    CHECK(fields->at("value") == "a b=c  d");
    CHECK(parse_pmi1_line("").error().code == Errc::wireup);
    CHECK(parse_pmi1_line("rc=0").error().code == Errc::wireup);
    CHECK(parse_pmi1_line("noise").error().code == Errc::wireup);
    CHECK(parse_pmi1_line("=x cmd=y")->at("cmd") == "y");
}

TEST_CASE("pmi1: a dialogue by the book", "[runtime]") {
    const std::string more =
        "cmd=put_result rc=0 msg=success\ncmd=barrier_out rc=0\n"
        "cmd=get_result rc=0 msg=success value=x;y=1\n"
        "cmd=get_result rc=-1 msg=key_z_not_found value=unknown\n"
        "cmd=finalize_ack\n";
    CHECK(with_answers(greeting + more, [](Pmi1Client& client) {
              if (!client.connect().ok() || client.rank() != 1 || client.size() != 3) return 1;
              if (!client.put("k", "v").ok() || !client.barrier().ok()) return 2;
              if (client.get("k").value() != "x;y=1") return 3;
              if (client.get("z").error().code != Errc::wireup) return 4;
              if (last_error_text().find("key_z_not_found") == std::string::npos) return 5;
              return client.finalize().ok() ? 0 : 6;
          }) == 0);
}

TEST_CASE("pmi1: silence, another version and wrong answers are errors", "[runtime]") {
    const auto connect = [](Pmi1Client& client) { return static_cast<int>(client.connect().code); };
    CHECK(with_answers("", connect) == static_cast<int>(Errc::timeout));
    CHECK(with_answers("cmd=response_to_init", connect) == static_cast<int>(Errc::timeout));
    const auto refused = static_cast<int>(Errc::wireup);
    CHECK(with_answers("cmd=response_to_init pmi_version=2 rc=0\n", connect) == refused);
    CHECK(with_answers("cmd=response_to_init pmi_version=1 rc=-1\n", connect) == refused);
    CHECK(with_answers("cmd=barrier_out\n", connect) == refused);
    CHECK(with_answers("\n", connect) == refused);
    CHECK(with_answers(std::string(70'000, 'x'), connect) == refused);
}

}  // namespace dlrt
