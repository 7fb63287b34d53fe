// SPDX-License-Identifier: Apache-2.0
#include "transports/shm/copy_table.hpp"

#include "runtime/base/error_text.hpp"
#include "tests/transports/shm_area.hpp"

#include <cstdlib>
#include <fstream>
#include <string>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace dlrt::shm {
namespace {

/// A file that lives as long as the test case.
class TextFile {
  public:
    explicit TextFile(const std::string& text) {
        char name[] = "/tmp/dlrt-copy-table-XXXXXX";
        const int fd = ::mkstemp(name);
        REQUIRE(fd >= 0);
        ::close(fd);
        path_ = name;
        std::ofstream(path_) << text;
    }
    TextFile(const TextFile&) = delete;
    TextFile& operator=(const TextFile&) = delete;
    ~TextFile() { ::unlink(path_.c_str()); }
    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    std::string path_;
};

std::string row(const std::string& size, const std::string& one_way, const std::string& fragment) {
    return "{\"size_bytes_min\": " + size + ", \"one_way\": \"" + one_way +
           "\", \"exchange\": \"rendezvous-stream\", \"all_busy\": \"rendezvous-read\","
           " \"fragment_bytes\": " +
           fragment + "}";
}

/// The failure's text behind "copy table '<path>': ".
std::string failure_of(const std::string& text) {
    const TextFile file(text);
    const Result<CopyTable> read = read_copy_table(file.path());
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().code == Errc::argument);
    const std::string begin = "copy table '" + file.path() + "': ";
    CHECK(last_error_text().substr(0, begin.size()) == begin);
    return last_error_text().substr(begin.size());
}

}  // namespace

TEST_CASE("copy table: what is written reads back the same", "[transports]") {
    CopyTable table = builtin_copy_table();
    table.rows.push_back(
        {1ull << 33, LargeProtocol::rendezvous_read, LargeProtocol::rendezvous_stream,
         LargeProtocol::rendezvous_read, 1024}
    );
    const TextFile file(copy_table_text(table));
    const Result<CopyTable> read = read_copy_table(file.path());
    REQUIRE(read.has_value());
    CHECK(*read == table);
}

TEST_CASE("copy table: a file by hand means what it says", "[transports]") {
    const TextFile file("{\"rows\": [" + row("0", "rendezvous-read", "4096") + "]}");
    const Result<CopyTable> read = read_copy_table(file.path());
    REQUIRE(read.has_value());
    const CopyRow expected{
        0, LargeProtocol::rendezvous_read, LargeProtocol::rendezvous_stream,
        LargeProtocol::rendezvous_read, 4096};
    CHECK(read->rows == std::vector<CopyRow>{expected});
}

TEST_CASE("copy table: every fault is named with its file and place", "[transports]") {
    CHECK(failure_of("{\n\"rows\": [\n}") == "line 3: not JSON");
    CHECK(failure_of("") == "line 1: not JSON");
    const std::string shape = "must be an object with one field, 'rows', a list";
    CHECK(failure_of("[]") == shape);
    CHECK(failure_of("{\"rows\": []}") == shape);
    CHECK(failure_of("{\"rows\": [1], \"more\": 2}") == shape);
    CHECK(failure_of("{\"rows\": [1]}") == "row 1: must be an object");

    const std::string first = row("0", "rendezvous-read", "4096");
    const auto rows = [&](const std::string& second) {
        return "{\"rows\": [" + first + ",\n" + second + "]}";
    };
    CHECK(
        failure_of("{\"rows\": [" + row("1", "rendezvous-read", "4096") + "]}") ==
        "row 1: field 'size_bytes_min' must be 0 in the first row"
    );
    CHECK(
        failure_of(rows(first)) ==
        "row 2: field 'size_bytes_min' must be greater than in the row before"
    );
    CHECK(
        failure_of(rows(row("9", "rendezvous-write", "4096"))) ==
        "row 2: field 'one_way' must be 'rendezvous-read' or 'rendezvous-stream'"
    );
    CHECK(
        failure_of(rows(row("9", "rendezvous-read", "512"))) ==
        "row 2: field 'fragment_bytes' must be a whole number, 1024 to 65536"
    );
    CHECK(
        failure_of(rows(row("-9", "rendezvous-read", "4096"))) ==
        "row 2: field 'size_bytes_min' must be a whole number, 0 to 18446744073709551615"
    );
    CHECK(failure_of(rows("{\"size_bytes_min\": 9}")) == "row 2: field 'one_way' is missing");
    CHECK(
        failure_of(rows("{\"size_byte_min\": 9}")) ==
        "row 2: unknown field 'size_byte_min'; did you mean size_bytes_min?"
    );
}

TEST_CASE("copy table: a file that is not there is named with the reason", "[transports]") {
    const Result<CopyTable> read = read_copy_table("/nonexistent/table.json");
    REQUIRE_FALSE(read.has_value());
    CHECK(
        last_error_text() ==
        "copy table '/nonexistent/table.json' cannot be opened: No such file or directory"
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
    const Result<CopyTable> table = measure_copy_table(
        {.sizes_bytes = {16 * 1024, 512 * 1024}, .rounds = 1}
    );
    REQUIRE(table.has_value());
    REQUIRE(table->rows.size() == 2);
    CHECK(table->rows[0].size_bytes_min == 0);
    CHECK(table->rows[1].size_bytes_min == 512 * 1024);
    const TextFile file(copy_table_text(*table));
    const Result<CopyTable> read = read_copy_table(file.path());
    REQUIRE(read.has_value());
    CHECK(*read == *table);
}

}  // namespace dlrt::shm
