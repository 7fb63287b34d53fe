// SPDX-License-Identifier: Apache-2.0
/// The copy table as a file: {"rows": [{"size_bytes_min": 0, "one_way": "rendezvous-stream", …},
/// …]}.
#include "runtime/base/error_text.hpp"
#include "runtime/base/nearest_name.hpp"
#include "transports/shm/area.hpp"
#include "transports/shm/copy_table.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

namespace dlrt::shm {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view read_name = "rendezvous-read";
constexpr std::string_view stream_name = "rendezvous-stream";
constexpr std::array<std::string_view, 5> field_names = {
    "size_bytes_min", "one_way", "exchange", "all_busy", "fragment_bytes",
};
constexpr std::uint32_t fragment_bytes_min = 1024;

std::string_view name_of(LargeProtocol protocol) {
    return protocol == LargeProtocol::rendezvous_read ? read_name : stream_name;
}

/// One row of a file, with what is needed to say where something is wrong.
class RowReader {
  public:
    RowReader(const std::string& path, std::size_t number, const Json& row)
        : path_(path), number_(number), row_(row) {}

    [[nodiscard]] Result<CopyRow> read() {
        CopyRow out;
        if (!row_.is_object()) return wrong("must be an object");
        for (const auto& [name, value] : row_.items()) {
            if (std::ranges::find(field_names, name) != field_names.end()) continue;
            return fail(
                Errc::argument, "copy table '{}': row {}: unknown field '{}'; {}", path_, number_,
                name, did_you_mean(name, field_names)
            );
        }
        Status status = read_number("size_bytes_min", 0, UINT64_MAX, out.size_bytes_min);
        if (status.ok()) status = read_protocol("one_way", out.one_way);
        if (status.ok()) status = read_protocol("exchange", out.exchange);
        if (status.ok()) status = read_protocol("all_busy", out.all_busy);
        std::uint64_t fragment_bytes = 0;
        if (status.ok()) {
            status = read_number(
                "fragment_bytes", fragment_bytes_min, AreaLayout::cell_bytes, fragment_bytes
            );
        }
        if (!status.ok()) return status;
        out.fragment_bytes = static_cast<std::uint32_t>(fragment_bytes);
        return out;
    }

  private:
    [[nodiscard]] Status wrong(std::string_view why) const {
        return fail(Errc::argument, "copy table '{}': row {}: {}", path_, number_, why);
    }
    [[nodiscard]] Status wrong_field(std::string_view field, std::string_view why) const {
        return fail(
            Errc::argument, "copy table '{}': row {}: field '{}' {}", path_, number_, field, why
        );
    }
    [[nodiscard]] Status read_number(
        const char* field, std::uint64_t least, std::uint64_t most, std::uint64_t& out
    ) const {
        const auto found = row_.find(field);
        if (found == row_.end()) return wrong_field(field, "is missing");
        const bool is_number = found->is_number_unsigned();
        if (!is_number || found->get<std::uint64_t>() < least ||
            found->get<std::uint64_t>() > most) {
            return wrong_field(field, fmt::format("must be a whole number, {} to {}", least, most));
        }
        out = found->get<std::uint64_t>();
        return {};
    }
    [[nodiscard]] Status read_protocol(const char* field, LargeProtocol& out) const {
        const auto found = row_.find(field);
        if (found == row_.end()) return wrong_field(field, "is missing");
        const bool is_text = found->is_string();
        const std::string text = is_text ? found->get<std::string>() : std::string();
        if (text != read_name && text != stream_name) {
            return wrong_field(field, fmt::format("must be '{}' or '{}'", read_name, stream_name));
        }
        out = text == read_name ? LargeProtocol::rendezvous_read : LargeProtocol::rendezvous_stream;
        return {};
    }

    const std::string& path_;
    std::size_t number_;
    const Json& row_;
};

Result<Json> parse(const std::string& path, const std::string& text) {
    try {
        return Json::parse(text);
    } catch (const Json::parse_error& error) {
        const std::size_t end = std::min(error.byte, text.size());
        const auto line = 1 + std::count(text.begin(), text.begin() + std::ptrdiff_t(end), '\n');
        return fail(Errc::argument, "copy table '{}': line {}: not JSON", path, line);
    }
}

}  // namespace

Result<CopyTable> read_copy_table(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        return store_failure(
            Errc::argument, errno, fmt::format("copy table '{}' cannot be opened", path)
        );
    }
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const Result<Json> parsed = parse(path, text);
    if (!parsed) return parsed.error();
    const Json& all = *parsed;
    if (!all.is_object() || all.size() != 1 || !all.contains("rows") || !all["rows"].is_array() ||
        all["rows"].empty()) {
        return fail(
            Errc::argument, "copy table '{}': must be an object with one field, 'rows', a list",
            path
        );
    }
    CopyTable table;
    for (const Json& row : all["rows"]) {
        const std::size_t number = table.rows.size() + 1;
        const Result<CopyRow> read = RowReader(path, number, row).read();
        if (!read) return read.error();
        const bool is_first = table.rows.empty();
        if (is_first ? read->size_bytes_min != 0
                     : read->size_bytes_min <= table.rows.back().size_bytes_min) {
            return fail(
                Errc::argument, "copy table '{}': row {}: field 'size_bytes_min' must {}", path,
                number, is_first ? "be 0 in the first row" : "be greater than in the row before"
            );
        }
        table.rows.push_back(*read);
    }
    return table;
}

std::string copy_table_text(const CopyTable& table) {
    Json rows = Json::array();
    for (const CopyRow& row : table.rows) {
        Json entry;
        entry["size_bytes_min"] = row.size_bytes_min;
        entry["one_way"] = name_of(row.one_way);
        entry["exchange"] = name_of(row.exchange);
        entry["all_busy"] = name_of(row.all_busy);
        entry["fragment_bytes"] = row.fragment_bytes;
        rows.push_back(std::move(entry));
    }
    Json all;
    all["rows"] = std::move(rows);
    return all.dump(2) + "\n";
}

}  // namespace dlrt::shm
