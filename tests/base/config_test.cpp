// SPDX-License-Identifier: Apache-2.0
/// Every setting with good and bad values, unknown names, and what DLRT_PROTO's rules decide.
#include "runtime/base/config.hpp"

#include "runtime/base/error_text.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

using Lines = std::vector<std::string>;

Result<Settings> read(const Lines& lines) {
    static constexpr std::string_view others[] = {"DLRT_RANK", "DLRT_JOBID"};
    std::vector<const char*> environment;
    for (const std::string& line : lines) environment.push_back(line.c_str());
    environment.push_back(nullptr);
    return read_settings(environment.data(), others);
}

std::string complaint(const std::string& line) {
    return read({line}).error().code == Errc::argument ? last_error_text() : "accepted";
}

}  // namespace

TEST_CASE("config: nothing set gives the standard values", "[base]") {
    const auto settings = read({"PATH=/bin", "dlrt_check=x", "DLRT=1", "DLRT_RANK=7"});
    REQUIRE(settings.has_value());
    CHECK(settings->allow_cross_memory);
    CHECK_FALSE(settings->is_checking);
    CHECK_FALSE(settings->eager_bytes.has_value());
    CHECK_FALSE(settings->spin_us.has_value());
    CHECK_FALSE(settings->heap_bytes.has_value());
    CHECK(settings->join_timeout_s == 300);
    CHECK(settings->log_level == LogLevel::warning);
    CHECK(settings->protocol_rules.empty());
    CHECK(settings->collective_table_path.empty());
    CHECK(settings->copy_table_path.empty());
    CHECK_FALSE(settings->is_deterministic);
    CHECK(read_settings(nullptr, {}).has_value());
}

TEST_CASE("config: every setting reaches its field", "[base]") {
    const auto settings = read(
        {"DLRT_CMA=0", "DLRT_CHECK=yes", "DLRT_EAGER_BYTES=4k", "DLRT_SPIN_US=25", "DLRT_LOG=debug",
         "DLRT_COLLECTIVE_TABLE=c.json", "DLRT_COPY_TABLE=table.txt", "DLRT_DETERMINISTIC=1",
         "DLRT_JOIN_TIMEOUT_S=9", "DLRT_PROTO=^rendezvous-read", "DLRT_ALGO=allreduce:ring",
         "DLRT_HEAP_BYTES=6g", "DLRT_EXPLAIN=1", "DLRT_GROUPS=2x4", "DLRT_TCP_FAMILY=ipv6",
         "DLRT_TCP_INTERFACES=^docker0,10.0.0.0/8", "DLRT_TCP_PORTS=4000-4031",
         "DLRT_TCP_SOCKETS=3"}
    );
    REQUIRE(settings.has_value());
    CHECK_FALSE(settings->allow_cross_memory);
    CHECK(settings->is_checking);
    CHECK(settings->eager_bytes == 4096);
    CHECK(settings->spin_us == 25);
    CHECK(settings->heap_bytes == std::uint64_t{6} << 30);
    CHECK(settings->log_level == LogLevel::debug);
    CHECK(settings->collective_table_path == "c.json");
    CHECK(settings->copy_table_path == "table.txt");
    CHECK(settings->is_deterministic);
    CHECK(settings->join_timeout_s == 9);
    CHECK(settings->protocol_rules.size() == 1);
    CHECK(settings->algorithm_rules == "allreduce:ring");
    CHECK(settings->is_explaining);
    CHECK(settings->groups == "2x4");
    CHECK(settings->tcp_family == SocketFamily::ipv6);
    CHECK(settings->tcp_interfaces == "^docker0,10.0.0.0/8");
    CHECK(settings->tcp_port_first == 4000);
    CHECK(settings->tcp_port_last == 4031);
    CHECK(settings->tcp_sockets == 3);
    CHECK(read({})->tcp_sockets == 1);
    CHECK(read({"DLRT_TCP_PORTS=77"})->tcp_port_last == 77);
}

TEST_CASE("config: bad values are refused by name, with what is valid", "[base]") {
    CHECK(complaint("DLRT_CMA=maybe") == "DLRT_CMA=maybe: not a boolean; valid is 0 or 1");
    CHECK(complaint("DLRT_SPIN_US=-1") == "DLRT_SPIN_US=-1: not a number; valid is 0 to 1000000");
    CHECK(complaint("DLRT_SPIN_US=1000001").find("out of range") != std::string::npos);
    CHECK(complaint("DLRT_HEAP_BYTES=1025g").find("out of range") != std::string::npos);
    CHECK(complaint("DLRT_HEAP_BYTES=lots").find("not a number") != std::string::npos);
    CHECK(complaint("DLRT_SPIN_US=5 ").find("not a number") != std::string::npos);
    CHECK(complaint("DLRT_EAGER_BYTES=2m").find("out of range") != std::string::npos);
    CHECK(complaint("DLRT_EAGER_BYTES=k").find("not a number") != std::string::npos);
    CHECK(complaint("DLRT_EAGER_BYTES=99999999999999999999").find("not a") != std::string::npos);
    CHECK(complaint("DLRT_EAGER_BYTES=18446744073709551615g").find("not a") != std::string::npos);
    CHECK(complaint("DLRT_JOIN_TIMEOUT_S=0").find("out of range") != std::string::npos);
    CHECK(complaint("DLRT_LOG=loud").find("error, warning, info or debug") != std::string::npos);
    CHECK(complaint("DLRT_TCP_FAMILY=ipv5").find("any, ipv4 or ipv6") != std::string::npos);
    CHECK(complaint("DLRT_TCP_INTERFACES=eth0,").find("an item is empty") != std::string::npos);
    CHECK(complaint("DLRT_TCP_INTERFACES=^").find("an item is empty") != std::string::npos);
    CHECK(complaint("DLRT_TCP_PORTS=0").find("out of range") != std::string::npos);
    CHECK(complaint("DLRT_TCP_PORTS=9-").find("not a number") != std::string::npos);
    CHECK(complaint("DLRT_TCP_PORTS=9-8").find("the last is below the first") != std::string::npos);
    CHECK(complaint("DLRT_TCP_SOCKETS=0").find("out of range") != std::string::npos);
    CHECK(complaint("DLRT_TCP_SOCKETS=5").find("out of range") != std::string::npos);
    CHECK(complaint("DLRT_COPY_TABLE=").find("empty") != std::string::npos);
    CHECK(complaint("DLRT_CHECK") == "DLRT_CHECK=: not a boolean; valid is 0 or 1");
}

TEST_CASE("config: an unknown variable is refused with the nearest name", "[base]") {
    CHECK(
        complaint("DLRT_EAGRE_BYTES=1") ==
        "DLRT_EAGRE_BYTES: dlrt has no such setting, did you mean DLRT_EAGER_BYTES?"
    );
    CHECK(complaint("DLRT_JOB_ID=1").ends_with("did you mean DLRT_JOBID?"));
    CHECK(complaint("DLRT_=1").find("no such setting") != std::string::npos);
}

TEST_CASE("config: the items of DLRT_PROTO", "[base]") {
    const auto settings = read({"DLRT_PROTO=eager@-1k,^rendezvous-stream@64k-2m,rendezvous-read"});
    REQUIRE(settings.has_value());
    constexpr auto no_end = std::numeric_limits<std::uint64_t>::max();
    CHECK(
        settings->protocol_rules ==
        std::vector<ProtocolRule>{
            {Protocol::eager, false, 0, 1024},
            {Protocol::rendezvous_stream, true, 65536, 2097152},
            {Protocol::rendezvous_read, false, 0, no_end},
        }
    );
    CHECK(complaint("DLRT_PROTO=rendezvous-raed").find("rendezvous-read?") != std::string::npos);
    for (const char* bad :
         {"", ",", "eager,", "^", "eager@", "eager@-", "eager@4k", "eager@8k-4k", "eager@4k-4k",
          "eager@x-", "eager@1-2-3", "^^eager"}) {
        CHECK(complaint(std::string("DLRT_PROTO=") + bad) != "accepted");
    }
}

TEST_CASE("config: what the protocol rules decide", "[base]") {
    const auto rules = read({"DLRT_PROTO=eager@-1k,^rendezvous-stream@64k-,rendezvous-read@1m-"})
                           ->protocol_rules;
    const auto stream = Protocol::rendezvous_stream;
    const auto get = Protocol::rendezvous_read;
    CHECK(choose_protocol(rules, 1023, stream, true) == Protocol::eager);
    CHECK(choose_protocol(rules, 1023, stream, false) == stream);
    CHECK(choose_protocol(rules, 1024, stream, true) == stream);
    CHECK(choose_protocol(rules, 65535, stream, false) == stream);
    CHECK(choose_protocol(rules, 65536, stream, false) == get);
    CHECK(choose_protocol(rules, 1 << 20, stream, false) == get);
    CHECK(choose_protocol({}, 5, Protocol::eager, true) == Protocol::eager);
    CHECK(choose_protocol({}, 5, get, false) == get);
    const auto none = read({"DLRT_PROTO=^eager,^rendezvous-read,^rendezvous-stream"})
                          ->protocol_rules;
    CHECK(choose_protocol(none, 5, Protocol::eager, true) == stream);
}

TEST_CASE("config: the table is in order and complete in every column", "[base]") {
    const auto table = setting_table();
    CHECK(std::ranges::is_sorted(table, {}, &SettingInfo::name));
    for (const SettingInfo& row : table) {
        CHECK(row.name.starts_with("DLRT_"));
        CHECK_FALSE((row.type.empty() || row.standard.empty() || row.valid.empty()));
        CHECK(row.help.ends_with("."));
    }
}

}  // namespace dlrt
