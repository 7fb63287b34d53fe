// SPDX-License-Identifier: Apache-2.0
#include "transports/shm/copy_table.hpp"

#include "runtime/base/error_text.hpp"
#include "tests/transports/shm_area.hpp"

#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace dlrt::shm {
namespace {

const std::string host = "\"measured_on\": {\"cpu_model\": \"A cpu\", \"online_cpus\": 4}, ";

std::string row(const std::string& size, const std::string& one_way, const std::string& fragment) {
    return "{\"size_bytes_min\": " + size + ", \"one_way\": \"" + one_way +
           "\", \"exchange\": \"rendezvous-stream\", \"all_busy\": \"rendezvous-read\","
           " \"fragment_bytes\": " +
           fragment + "}";
}

std::string with_rows(const std::string& rows) {
    return "{" + host + "\"rows\": [" + rows + "]}";
}

std::string failure_of(const std::string& text) {
    const Result<CopyTable> read = parse_copy_table(text);
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().code == Errc::argument);
    CHECK(last_error_text().find('\n') == std::string::npos);
    return last_error_text();
}

}  // namespace

TEST_CASE("copy table: what is written reads back the same", "[transports]") {
    CopyTable table = builtin_copy_table();
    table.rows.push_back(
        {1ull << 33, LargeProtocol::rendezvous_read, LargeProtocol::rendezvous_stream,
         LargeProtocol::rendezvous_read, 1024}
    );
    table.measured_on = MeasuredHost{"A \"cpu\" \\ 2", 96};
    const Result<CopyTable> read = parse_copy_table(copy_table_text(table));
    REQUIRE(read.has_value());
    CHECK(*read == table);
}

TEST_CASE("copy table: a file by hand means what it says", "[transports]") {
    const Result<CopyTable> read = parse_copy_table(with_rows(row("0", "rendezvous-read", "4096")));
    REQUIRE(read.has_value());
    const CopyRow expected{
        0, LargeProtocol::rendezvous_read, LargeProtocol::rendezvous_stream,
        LargeProtocol::rendezvous_read, 4096};
    CHECK(read->rows == std::vector<CopyRow>{expected});
    CHECK(read->measured_on == MeasuredHost{"A cpu", 4});
}

TEST_CASE("copy table: what is no table is named", "[transports]") {
    CHECK(failure_of("") == "the file is empty");
    CHECK(failure_of("{\n\"rows\": [\n}") == "line 3: not JSON");
    CHECK(failure_of("copy: table\n") == "line 1: not JSON");
    CHECK(failure_of(std::string("\0\xff\xfe", 3)) == "line 1: not JSON");
    CHECK(failure_of(std::string(100000, '[')) == "line 1: not JSON");
    const std::string whole = with_rows(row("0", "rendezvous-read", "4096"));
    for (std::size_t length = 1; length < whole.size(); ++length) {
        CHECK(failure_of(whole.substr(0, length)) == "line 1: not JSON");
    }
    CHECK(failure_of("[]") == "must be an object");
    CHECK(failure_of("null") == "must be an object");
    const std::string rows = "field 'rows' must be a list of 1 to 256 objects";
    CHECK(failure_of("{" + host + "\"rows\": []}") == rows);
    CHECK(failure_of("{" + host + "\"rows\": {}}") == rows);
    std::string many = row("0", "rendezvous-read", "4096");
    for (int i = 1; i <= 256; ++i) {
        many += "," + row(std::to_string(i), "rendezvous-read", "4096");
    }
    CHECK(failure_of(with_rows(many)) == rows);
    CHECK(failure_of("{" + host + "\"row\": []}") == "unknown field 'row'; did you mean rows?");
    CHECK(failure_of("{\"a\\nb\": 1}").starts_with("unknown field 'a?b'; "));
}

TEST_CASE(
    "copy table: a table that does not say where it was measured is damaged", "[transports]"
) {
    CHECK(
        failure_of("{\"rows\": [" + row("0", "rendezvous-read", "4096") + "]}") ==
        "field 'measured_on' is missing: the table does not say on which host it was measured"
    );
    const auto measured_on = [](const std::string& text) {
        return failure_of("{\"measured_on\": " + text + ", \"rows\": []}");
    };
    const std::string printable = "must be 1 to 256 printable characters";
    CHECK(measured_on("4") == "measured_on: must be an object");
    CHECK(measured_on("{}") == "measured_on: field 'cpu_model' is missing");
    CHECK(measured_on("{\"cpu_model\": 4}") == "measured_on: field 'cpu_model' " + printable);
    CHECK(measured_on("{\"cpu_model\": \"\"}") == "measured_on: field 'cpu_model' " + printable);
    CHECK(
        measured_on("{\"cpu_model\": \"a\\nb\"}") == "measured_on: field 'cpu_model' " + printable
    );
    CHECK(
        measured_on("{\"cpu_model\": \"" + std::string(257, 'x') + "\"}") ==
        "measured_on: field 'cpu_model' " + printable
    );
    CHECK(measured_on("{\"cpu_model\": \"a\"}") == "measured_on: field 'online_cpus' is missing");
    for (const char* count : {"0", "-1", "1.5", "\"4\"", "1048577", "99999999999999999999"}) {
        CHECK(
            measured_on("{\"cpu_model\": \"a\", \"online_cpus\": " + std::string(count) + "}") ==
            "measured_on: field 'online_cpus' must be a whole number, 1 to 1048576"
        );
    }
}

TEST_CASE("copy table: every fault of a row is named with its place", "[transports]") {
    CHECK(failure_of(with_rows("1")) == "row 1: must be an object");
    const std::string first = row("0", "rendezvous-read", "4096");
    const auto second = [&](const std::string& text) {
        return failure_of(with_rows(first + ",\n" + text));
    };
    CHECK(
        failure_of(with_rows(row("1", "rendezvous-read", "4096"))) ==
        "row 1: field 'size_bytes_min' must be 0 in the first row"
    );
    const std::string
        order = "row 2: field 'size_bytes_min' must be greater than in the row before";
    CHECK(second(first) == order);
    CHECK(
        second(row("9", "rendezvous-read", "4096") + "," + row("8", "rendezvous-read", "4096")) ==
        "row 3: field 'size_bytes_min' must be greater than in the row before"
    );
    CHECK(
        second(row("9", "rendezvous-write", "4096")) ==
        "row 2: field 'one_way' must be 'rendezvous-read' or 'rendezvous-stream'"
    );
    for (const char* fragment : {"512", "65537", "\"4096\"", "null", "4096.0", "1e300"}) {
        CHECK(
            second(row("9", "rendezvous-read", fragment)) ==
            "row 2: field 'fragment_bytes' must be a whole number, 1024 to 65536"
        );
    }
    for (const char* size : {"-9", "18446744073709551616", "true"}) {
        CHECK(
            second(row(size, "rendezvous-read", "4096")) ==
            "row 2: field 'size_bytes_min' must be a whole number, 0 to 18446744073709551615"
        );
    }
    CHECK(
        second(row("1e999", "rendezvous-read", "4096")) ==
        "not JSON: a number is out of every range"
    );
    CHECK(second("{\"size_bytes_min\": 9}") == "row 2: field 'one_way' is missing");
    CHECK(
        second("{\"size_byte_min\": 9}") ==
        "row 2: unknown field 'size_byte_min'; did you mean size_bytes_min?"
    );
}

TEST_CASE(
    "copy table: an endpoint goes by the row of the size and the column of the traffic",
    "[transports]"
) {
    const testing::ShmArea area(1);
    Options options = area.options(0);
    constexpr auto read = LargeProtocol::rendezvous_read;
    constexpr auto stream = LargeProtocol::rendezvous_stream;
    options.copy_table = {{{0, stream, read, stream, 2048}, {5000, read, stream, stream, 8192}}};
    const std::unique_ptr<Endpoint> endpoint = *open_endpoint(options);
    const PeerIndex self{0};
    CHECK(endpoint->fragment_bytes(4999) == 2048);
    CHECK(endpoint->fragment_bytes(5000) == 8192);
    CHECK(endpoint->fragment_bytes(1ull << 40) == 8192);
    CHECK(endpoint->choose_large(self, 4999, Traffic::one_way) == stream);
    CHECK(endpoint->choose_large(self, 4999, Traffic::exchange) == read);
    CHECK(endpoint->choose_large(self, 4999, Traffic::all_busy) == stream);
    CHECK(endpoint->choose_large(self, 5000, Traffic::one_way) == read);
    CHECK(endpoint->choose_large(self, 5000, Traffic::exchange) == stream);
}

TEST_CASE("copy table: measuring gives a table that can be used", "[transports]") {
    Result<CopyTable> table = measure_copy_table(
        {.sizes_bytes = {16 * 1024, 512 * 1024}, .rounds = 1}
    );
    REQUIRE(table.has_value());
    REQUIRE(table->rows.size() == 2);
    CHECK(table->rows[0].size_bytes_min == 0);
    CHECK(table->rows[1].size_bytes_min == 512 * 1024);
    table->measured_on = MeasuredHost{"A cpu", 2};
    const Result<CopyTable> read = parse_copy_table(copy_table_text(*table));
    REQUIRE(read.has_value());
    CHECK(*read == *table);
}

}  // namespace dlrt::shm
