// SPDX-License-Identifier: Apache-2.0
#include "launcher/allocation.hpp"

#include "launcher/host_facts.hpp"
#include "launcher/hostfile.hpp"
#include "runtime/base/error_text.hpp"

#include <catch2/catch.hpp>

namespace dlrt::launcher {
namespace {

OwnHost own_host(std::string name = "me") {
    return {
        std::move(name),
        {"10.0.0.7", "fd77::7", "127.0.0.1", "::1"},
        "127.0.0.1 localhost # not this\n127.0.1.1\tme.site.example me\n10.0.0.7 Me-IB\n"
        "10.0.0.8 other\n#10.0.0.7 gone\n",
        "nameserver 10.0.0.1\nsearch lab.example corp.example\n"};
}

Allocation allocated(std::string_view hostfile) {
    const auto mentions = parse_hostfile(hostfile, "F");
    REQUIRE(mentions.has_value());
    Result<Allocation> allocation = allocate(*mentions, own_host());
    INFO(last_error_text());
    REQUIRE(allocation.has_value());
    return std::move(*allocation);
}

std::string refusal(const Options& options, const std::vector<std::string>& environment = {}) {
    REQUIRE(!find_allocation(options, environment));
    return last_error_text();
}

Options options_with_hosts(std::vector<std::string> lists, std::vector<std::string> files = {}) {
    Options options;
    options.hosts = {std::move(lists), std::move(files)};
    return options;
}

}  // namespace

TEST_CASE("own host: goes by its names and addresses and by no others", "[launcher]") {
    const OwnHost own = own_host();
    for (const char* name :
         {"localhost", "LOCALHOST", "me", "Me.", "me.site.example", "me-ib", "me.lab.example",
          "me.corp.example", "10.0.0.7", "127.0.0.1", "127.0.1.1", "::1", "0:0:0:0:0:0:0:1",
          "fd77:0::7", "fd77::7%eth0", "::ffff:10.0.0.7"}) {
        INFO(name);
        CHECK(own.is_called(name));
    }
    for (const char* name :
         {"", "m", "mee", "me.other.example", "other", "gone", "10.0.0.8", "fd77::8", "1270.0.1",
          "0.0.0.0"}) {
        INFO(name);
        CHECK(!own.is_called(name));
    }
}

TEST_CASE("own host: with a domain it goes by the short name, not by other domains", "[launcher]") {
    const OwnHost own = own_host("w.1.example");
    CHECK(own.is_called("w"));
    CHECK(own.is_called("w.1.example"));
    CHECK(!own.is_called("w.2.example"));
    CHECK(!own.is_called("w.1.example.lab.example"));
}

TEST_CASE("own host: the real one knows itself", "[launcher]") {
    const OwnHost own = find_own_host();
    CHECK(own.name() == local_host_name());
    CHECK(own.is_called(local_host_name()));
    CHECK(own.is_called("127.0.0.1"));
    CHECK(!own.is_called("no-such-host.example"));
}

TEST_CASE("allocation: a host named once without a count has its cpus", "[launcher]") {
    const Allocation allocation = allocated("n1\nlocalhost max_slots=8\n");
    REQUIRE(allocation.hosts.size() == 2);
    CHECK(allocation.hosts[0].name == "n1");
    CHECK(!allocation.hosts[0].slots);
    CHECK(!allocation.hosts[0].is_own);
    CHECK(allocation.hosts[1].name == "me");
    CHECK(allocation.hosts[1].is_own);
    CHECK(!allocation.hosts[1].slots);
    CHECK(allocation.hosts[1].max_slots == 8);
}

TEST_CASE("allocation: counts of a host that is named again add up", "[launcher]") {
    CHECK(allocated("n1 slots=1\nn1 slots=2\n").hosts[0].slots == 3);
    CHECK(allocated("n1\nn1\nn1\n").hosts[0].slots == 3);
    CHECK(allocated("n1\nN1. slots=4\n").hosts[0].slots == 5);
    const Allocation mixed = allocated("localhost\nn1\nme\n127.0.0.1\nn2\nn1\n");
    REQUIRE(mixed.hosts.size() == 3);
    CHECK(mixed.hosts[0].slots == 3);
    CHECK(mixed.hosts[1].slots == 2);
    CHECK(!mixed.hosts[2].slots);
    CHECK(mixed.mentions == std::vector<std::uint32_t>{0, 1, 0, 0, 2, 1});
}

TEST_CASE("allocation: names that differ behind the first dot are two hosts", "[launcher]") {
    const Allocation allocation = allocated("w.1.example slots=2\nw.2.example slots=2\n");
    REQUIRE(allocation.hosts.size() == 2);
    CHECK(allocation.hosts[0].slots == 2);
    CHECK(allocation.hosts[1].slots == 2);
}

TEST_CASE("allocation: limits add up, a mention without one counts its slots", "[launcher]") {
    CHECK(allocated("a slots=1 max_slots=2\na max_slots=3\n").hosts[0].max_slots == 5);
    CHECK(allocated("a slots=2 max_slots=2\na slots=4\n").hosts[0].max_slots == 6);
    CHECK(allocated("a slots=4\na slots=2 max_slots=2\n").hosts[0].max_slots == 6);
    CHECK(!allocated("a\na\n").hosts[0].max_slots);
}

TEST_CASE("allocation: settings of one host may not contradict each other", "[launcher]") {
    const Allocation allocation = allocated("u@a port=5\na prefix=/p\n");
    CHECK(allocation.hosts[0].user == "u");
    CHECK(allocation.hosts[0].port == 5);
    CHECK(allocation.hosts[0].prefix == "/p");
    const auto mentions = parse_hostfile("u@a\nv@a\n", "F");
    REQUIRE(mentions.has_value());
    REQUIRE(!allocate(*mentions, own_host()));
    CHECK(last_error_text() == "host a: user is once u and once v");
}

TEST_CASE("allocation: what is of no use on this host is said", "[launcher]") {
    CHECK(allocated("n1 user=root\n").warnings.empty());
    CHECK(
        allocated("root@localhost slots=2\n").warnings ==
        std::vector<std::string>{
            "host me: user=root is not used; ranks on the host that dlrun runs on are started by "
            "dlrun itself"}
    );
}

TEST_CASE("allocation: without a list the job runs here", "[launcher]") {
    const auto allocation = find_allocation(Options(), {});
    REQUIRE(allocation.has_value());
    CHECK(*allocation == allocation_of(local_host_name()));
    CHECK(allocation->mentions.empty());
}

TEST_CASE("allocation: lists add up, a list and a file don't go together", "[launcher]") {
    const std::vector<std::string> none;
    const auto allocation = find_allocation(
        options_with_hosts({"localhost", "localhost,localhost:2"}), none
    );
    REQUIRE(allocation.has_value());
    CHECK(allocation->hosts[0].slots == 4);
    CHECK(
        refusal(options_with_hosts({"localhost"}, {"f"})) ==
        "--host and --hostfile are both given; valid is one of them"
    );
}

TEST_CASE("allocation: the environment names a hostfile where the options don't", "[launcher]") {
    const std::vector<std::string> environment = {"DLRT_HOSTFILE=/no/such"};
    CHECK(
        refusal(Options(), environment) ==
        "cannot open hostfile '/no/such': No such file or directory"
    );
    CHECK(find_allocation(options_with_hosts({"localhost"}), environment).has_value());
}

TEST_CASE("allocation: other hosts are allocated as they are named", "[launcher]") {
    const auto allocation = find_allocation(options_with_hosts({"localhost,far.example:2"}), {});
    REQUIRE(allocation.has_value());
    CHECK(allocation->hosts[0].is_own);
    CHECK_FALSE(allocation->hosts[1].is_own);
    CHECK(allocation->hosts[1].slots == 2u);
}

}  // namespace dlrt::launcher
