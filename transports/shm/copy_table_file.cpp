// SPDX-License-Identifier: Apache-2.0
/// The copy table as text: {"measured_on": {"cpu_model": "…", "online_cpus": 2},
/// "rows": [{"size_bytes_min": 0, "one_way": "rendezvous-stream", …}, …]}. Pure.
#include "runtime/base/error_text.hpp"
#include "runtime/base/nearest_name.hpp"
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

#include <nlohmann/json.hpp>

namespace dlrt::shm {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view read_name = "rendezvous-read";
constexpr std::string_view stream_name = "rendezvous-stream";
constexpr std::array<std::string_view, 2> table_fields = {"measured_on", "rows"};
constexpr std::array<std::string_view, 2> host_fields = {"cpu_model", "online_cpus"};
constexpr std::array<std::string_view, 5> row_fields = {
    "size_bytes_min", "one_way", "exchange", "all_busy", "fragment_bytes",
};
constexpr std::uint32_t fragment_bytes_min = 1024;
constexpr std::uint32_t online_cpus_max = 1 << 20;
constexpr std::size_t cpu_model_length_max = 256;
constexpr std::size_t row_count_max = 256;
constexpr std::size_t shown_length_max = 60;

std::string_view name_of(LargeProtocol protocol) {
    return protocol == LargeProtocol::rendezvous_read ? read_name : stream_name;
}

bool is_printable(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

/// A word of a file that may hold anything, fit for one line of a message.
std::string shown(std::string_view word) {
    std::string text(word.substr(0, shown_length_max));
    std::ranges::replace_if(
        text, [](char c) { return c < ' ' || c > '~'; }, '?'
    );
    return text;
}

/// One object of a table, with what is needed to say where something is wrong.
class ObjectReader {
  public:
    ObjectReader(std::string where, const Json& object)
        : where_(std::move(where)), object_(object) {}

    [[nodiscard]] Status check_fields(std::span<const std::string_view> names) const {
        if (!object_.is_object()) return fail(Errc::argument, "{}must be an object", where_);
        for (const auto& [name, value] : object_.items()) {
            if (std::ranges::find(names, name) != names.end()) continue;
            return fail(
                Errc::argument, "{}unknown field '{}'; {}", where_, shown(name),
                did_you_mean(name, names)
            );
        }
        return {};
    }
    [[nodiscard]] Status wrong(std::string_view field, std::string_view why) const {
        return fail(Errc::argument, "{}field '{}' {}", where_, field, why);
    }
    [[nodiscard]] Status read_number(
        const char* field, std::uint64_t least, std::uint64_t most, std::uint64_t& out
    ) const {
        const auto found = object_.find(field);
        if (found == object_.end()) return wrong(field, "is missing");
        const bool is_number = found->is_number_unsigned();
        if (!is_number || found->get<std::uint64_t>() < least ||
            found->get<std::uint64_t>() > most) {
            return wrong(field, fmt::format("must be a whole number, {} to {}", least, most));
        }
        out = found->get<std::uint64_t>();
        return {};
    }
    [[nodiscard]] Status read_text(const char* field, std::string& out) const {
        const auto found = object_.find(field);
        if (found == object_.end()) return wrong(field, "is missing");
        if (found->is_string()) out = found->get<std::string>();
        if (!found->is_string() || out.empty() || out.size() > cpu_model_length_max ||
            !is_printable(out)) {
            return wrong(
                field, fmt::format("must be 1 to {} printable characters", cpu_model_length_max)
            );
        }
        return {};
    }
    [[nodiscard]] Status read_protocol(const char* field, LargeProtocol& out) const {
        const auto found = object_.find(field);
        if (found == object_.end()) return wrong(field, "is missing");
        const std::string text = found->is_string() ? found->get<std::string>() : std::string();
        if (text != read_name && text != stream_name) {
            return wrong(field, fmt::format("must be '{}' or '{}'", read_name, stream_name));
        }
        out = text == read_name ? LargeProtocol::rendezvous_read : LargeProtocol::rendezvous_stream;
        return {};
    }

  private:
    std::string where_;
    const Json& object_;
};

Result<Json> parse(std::string_view text) {
    try {
        return Json::parse(text);
    } catch (const Json::parse_error& error) {
        const std::size_t end = std::min(error.byte, text.size());
        const auto line = 1 + std::count(text.begin(), text.begin() + std::ptrdiff_t(end), '\n');
        return fail(Errc::argument, "line {}: not JSON", line);
    } catch (const Json::exception&) {
        return fail(Errc::argument, "not JSON: a number is out of every range");
    }
}

Result<MeasuredHost> read_host(const Json& all) {
    const auto found = all.find("measured_on");
    if (found == all.end()) {
        return fail(
            Errc::argument,
            "field 'measured_on' is missing: the table does not say on which host "
            "it was measured"
        );
    }
    const ObjectReader reader("measured_on: ", *found);
    MeasuredHost host;
    std::uint64_t online_cpus = 0;
    Status status = reader.check_fields(host_fields);
    if (status.ok()) status = reader.read_text("cpu_model", host.cpu_model);
    if (status.ok()) status = reader.read_number("online_cpus", 1, online_cpus_max, online_cpus);
    if (!status.ok()) return status;
    host.online_cpus = static_cast<std::uint32_t>(online_cpus);
    return host;
}

Result<CopyRow> read_row(const ObjectReader& reader) {
    CopyRow row;
    std::uint64_t fragment_bytes = 0;
    Status status = reader.check_fields(row_fields);
    if (status.ok())
        status = reader.read_number("size_bytes_min", 0, UINT64_MAX, row.size_bytes_min);
    if (status.ok()) status = reader.read_protocol("one_way", row.one_way);
    if (status.ok()) status = reader.read_protocol("exchange", row.exchange);
    if (status.ok()) status = reader.read_protocol("all_busy", row.all_busy);
    if (status.ok()) {
        status = reader.read_number(
            "fragment_bytes", fragment_bytes_min, AreaLayout::cell_bytes, fragment_bytes
        );
    }
    if (!status.ok()) return status;
    row.fragment_bytes = static_cast<std::uint32_t>(fragment_bytes);
    return row;
}

Result<std::vector<CopyRow>> read_rows(const Json& all) {
    const auto found = all.find("rows");
    if (found == all.end() || !found->is_array() || found->empty() ||
        found->size() > row_count_max) {
        return fail(
            Errc::argument, "field 'rows' must be a list of 1 to {} objects", row_count_max
        );
    }
    std::vector<CopyRow> rows;
    for (const Json& entry : *found) {
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
    if (text.empty()) return fail(Errc::argument, "the file is empty");
    const Result<Json> all = parse(text);
    if (!all) return all.error();
    if (const Status status = ObjectReader("", *all).check_fields(table_fields); !status.ok()) {
        return status;
    }
    Result<MeasuredHost> host = read_host(*all);
    if (!host) return host.error();
    Result<std::vector<CopyRow>> rows = read_rows(*all);
    if (!rows) return rows.error();
    return CopyTable{std::move(*rows), std::move(*host)};
}

std::string copy_table_text(const CopyTable& table) {
    Json all;
    if (table.measured_on) {
        all["measured_on"]["cpu_model"] = table.measured_on->cpu_model;
        all["measured_on"]["online_cpus"] = table.measured_on->online_cpus;
    }
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
    all["rows"] = std::move(rows);
    return all.dump(2) + "\n";
}

}  // namespace dlrt::shm
