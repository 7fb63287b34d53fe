// SPDX-License-Identifier: Apache-2.0
/// The copy table as text: {"measured_on": {"cpu_model": "…", "online_cpus": 2},
/// "rows": [{"size_bytes_min": 0, "one_way": "rendezvous-stream", …}, …]}. Pure.
#include "runtime/base/error_text.hpp"
#include "runtime/base/table_reader.hpp"
#include "transports/shm/area.hpp"
#include "transports/shm/copy_table.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dlrt::shm {
namespace {

constexpr std::string_view read_name = "rendezvous-read";
constexpr std::string_view stream_name = "rendezvous-stream";
constexpr std::array<std::string_view, 2> protocol_names = {read_name, stream_name};
constexpr std::array<std::string_view, 2> table_fields = {"measured_on", "rows"};
constexpr std::array<std::string_view, 5> row_fields = {
    "size_bytes_min", "one_way", "exchange", "all_busy", "fragment_bytes",
};
constexpr std::uint32_t fragment_bytes_min = 1024;
constexpr std::size_t row_count_max = 256;

std::string_view name_of(LargeProtocol protocol) {
    return protocol == LargeProtocol::rendezvous_read ? read_name : stream_name;
}

Status read_protocol(const ObjectReader& reader, const char* field, LargeProtocol& out) {
    std::size_t index = 0;
    const Status status = reader.read_name(field, protocol_names, index);
    if (!status.ok()) return status;
    out = index == 0 ? LargeProtocol::rendezvous_read : LargeProtocol::rendezvous_stream;
    return {};
}

Result<CopyRow> read_row(const ObjectReader& reader) {
    CopyRow row;
    std::uint64_t fragment_bytes = 0;
    Status status = reader.check_fields(row_fields);
    if (status.ok()) status = reader.read_number("size_bytes_min", {}, row.size_bytes_min);
    if (status.ok()) status = read_protocol(reader, "one_way", row.one_way);
    if (status.ok()) status = read_protocol(reader, "exchange", row.exchange);
    if (status.ok()) status = read_protocol(reader, "all_busy", row.all_busy);
    if (status.ok()) {
        status = reader.read_number(
            "fragment_bytes", {fragment_bytes_min, AreaLayout::cell_bytes}, fragment_bytes
        );
    }
    if (!status.ok()) return status;
    row.fragment_bytes = static_cast<std::uint32_t>(fragment_bytes);
    return row;
}

Result<std::vector<CopyRow>> read_rows(const TableJson& all) {
    const auto found = all.find("rows");
    if (found == all.end() || !found->is_array() || found->empty() ||
        found->size() > row_count_max) {
        return fail(
            Errc::argument, "field 'rows' must be a list of 1 to {} objects", row_count_max
        );
    }
    std::vector<CopyRow> rows;
    for (const TableJson& entry : *found) {
        const ObjectReader reader(fmt::format("row {}: ", rows.size() + 1), entry);
        const Result<CopyRow> row = read_row(reader);
        if (!row) return row.error();
        if (rows.empty() && row->size_bytes_min != 0) {
            return reader.wrong("size_bytes_min", "must be 0 in the first row");
        }
        if (!rows.empty() && row->size_bytes_min <= rows.back().size_bytes_min) {
            return reader.wrong("size_bytes_min", "must be greater than in the row before");
        }
        rows.push_back(*row);
    }
    return rows;
}

}  // namespace

Result<CopyTable> parse_copy_table(std::string_view text) {
    const Result<TableJson> all = parse_table(text);
    if (!all) return all.error();
    if (const Status status = ObjectReader("", *all).check_fields(table_fields); !status.ok()) {
        return status;
    }
    Result<MeasuredHost> host = read_measured_host(*all);
    if (!host) return host.error();
    Result<std::vector<CopyRow>> rows = read_rows(*all);
    if (!rows) return rows.error();
    return CopyTable{std::move(*rows), std::move(*host)};
}

std::string copy_table_text(const CopyTable& table) {
    TableJson all;
    if (table.measured_on) all["measured_on"] = measured_host_json(*table.measured_on);
    TableJson rows = TableJson::array();
    for (const CopyRow& row : table.rows) {
        TableJson entry;
        entry["size_bytes_min"] = row.size_bytes_min;
        entry["one_way"] = name_of(row.one_way);
        entry["exchange"] = name_of(row.exchange);
        entry["all_busy"] = name_of(row.all_busy);
        entry["fragment_bytes"] = row.fragment_bytes;
        rows.push_back(std::move(entry));
    }
    all["rows"] = std::move(rows);
    return all.dump(2) + "\n";
}

}  // namespace dlrt::shm
