// SPDX-License-Identifier: Apache-2.0
#include "launcher/remote_command.hpp"

#include "runtime/base/error_text.hpp"

#include <catch2/catch.hpp>

namespace dlrt::launcher {
namespace {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using Words = std::vector<std::string>;

HostMention host(std::string name) {
    HostMention mention;
    mention.name = std::move(name);
    return mention;
}

RemoteFailure ended(int status, std::string words) {
    return {status, std::move(words), "/opt/dlrt/bin/dlrund"};
}

std::string explained(const RemoteFailure& failure) {
    return explain_remote_failure({}, host("h2"), failure);
}

}  // namespace

TEST_CASE("remote command: ssh that never asks, and the daemon by its whole path", "[launcher]") {
    CHECK(
        remote_command({}, host("h2"), "/opt/dlrt/bin/dlrund", DaemonRole::alone, 9) ==
        Words{
            "ssh", "-x", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=9", "--", "h2",
            "/opt/dlrt/bin/dlrund", "--over-stdio"}
    );
    HostMention odd = host("fd77::2");
    odd.port = 2222;
    odd.user = "ann";
    odd.prefix = "/usr";
    CHECK(
        remote_command({}, odd, "/opt/dlrt/bin/dlrund", DaemonRole::alone, 10) ==
        Words{
            "ssh", "-x", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-p", "2222", "-l",
            "ann", "--", "fd77::2", "/usr/bin/dlrund", "--over-stdio"}
    );
}

TEST_CASE("remote command: a simulated host needs no way to it", "[launcher]") {
    LauncherTemplate simulation;
    simulation.is_simulation = true;
    CHECK(
        remote_command(simulation, host("sim0001"), "/opt/dlrund", DaemonRole::in_tree, 10) ==
        Words{"/opt/dlrund", "--relay-over-stdio", "--as", "sim0001"}
    );
}

TEST_CASE("remote command: a template of the user's", "[launcher]") {
    const auto launcher = parse_launcher_template("rsh -l '{user}' \"{host}.lan\"");
    REQUIRE(launcher);
    HostMention there = host("h3");
    there.user = "bob";
    CHECK(
        remote_command(*launcher, there, "/bin/dlrund", DaemonRole::alone, 10) ==
        Words{"rsh", "-l", "bob", "h3.lan", "/bin/dlrund", "--over-stdio"}
    );
    CHECK(
        remote_command(*launcher, there, "/bin/dlrund", DaemonRole::in_tree, 10).back() ==
        "--relay-over-stdio"
    );
    // What a name holds is not looked at again.
    CHECK(
        remote_command(*launcher, host("{user}"), "/d", DaemonRole::alone, 10)[3] !=
        "{user}{user}.lan"
    );
}

TEST_CASE("remote command: a template without a host, or not to be split", "[launcher]") {
    REQUIRE_FALSE(parse_launcher_template("rsh h1"));
    CHECK_THAT(last_error_text(), Contains("lacks {host}"));
    REQUIRE_FALSE(parse_launcher_template("rsh '{host}"));
    CHECK_THAT(last_error_text(), Contains("at column 5"));
}

TEST_CASE("remote failure: each cause has its remedy", "[launcher]") {
    struct Case {
        const char* said;
        const char* remedy;
    };
    const Case cases[] = {
        {"Host key verification failed.", "log in once with 'ssh h2'"},
        {"root@h2: Permission denied (publickey,password).", "ssh-copy-id h2"},
        {"ssh: Could not resolve hostname h2: Name or service not known", "check the hostfile"},
        {"ssh: connect to host h2 port 22: Connection refused", "is sshd running there"},
        {"ssh: connect to host h2 port 22: Connection timed out", "does a firewall"},
        {"ssh: connect to host h2 port 22: No route to host", "on this network"},
    };
    for (const Case& each : cases) {
        const std::string text = explained(
            ended(255, std::string("a banner\n") + each.said + "\r\n")
        );
        CHECK_THAT(text, StartsWith("cannot start the daemon on h2: "));
        CHECK_THAT(text, Contains(each.remedy));
        CHECK_THAT(text, Contains(std::string("(ssh: ") + each.said + ")"));
        CHECK_FALSE(is_worth_another_try(ended(255, each.said)));
    }
}

TEST_CASE("remote failure: the daemon isn't there, or says something of its own", "[launcher]") {
    CHECK_THAT(
        explained(ended(127, "bash: line 1: /opt/dlrt/bin/dlrund: No such file or directory")),
        Contains("there is no /opt/dlrt/bin/dlrund on it") && Contains("prefix=")
    );
    CHECK_THAT(explained(ended(126, "")), Contains("can't be executed there"));
    CHECK_THAT(explained(ended(3, "")), Contains("ssh ended with status 3 and said nothing"));
    CHECK_THAT(explained(ended(3, "x\nout of luck\n")), Contains("status 3: out of luck"));
}

TEST_CASE("remote failure: a busy host is tried again", "[launcher]") {
    const RemoteFailure busy = ended(
        255, "kex_exchange_identification: Connection closed by remote host\n"
    );
    CHECK(is_worth_another_try(busy));
    CHECK_THAT(explained(busy), Contains("MaxStartups"));
}

}  // namespace dlrt::launcher
