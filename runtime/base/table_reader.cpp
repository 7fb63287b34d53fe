// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/table_reader.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/base/nearest_name.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/ranges.h>

namespace dlrt {
namespace {

constexpr std::array<std::string_view, 2> host_fields = {"cpu_model", "online_cpus"};
constexpr std::uint32_t online_cpus_max = 1 << 20;
constexpr std::size_t text_length_max = 256;
constexpr std::size_t shown_length_max = 60;

bool is_printable(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

Result<TableJson> parse_table(std::string_view text) {
    if (text.empty()) return fail(Errc::argument, "the file is empty");
    try {
        return TableJson::parse(text);
    } catch (const TableJson::parse_error& error) {
        const std::size_t end = std::min(error.byte, text.size());
        const auto line = 1 + std::count(text.begin(), text.begin() + std::ptrdiff_t(end), '\n');
        return fail(Errc::argument, "line {}: not JSON", line);
    } catch (const TableJson::exception&) {
        return fail(Errc::argument, "not JSON: a number is out of every range");
    }
}

std::string shown_word(std::string_view word) {
    std::string text(word.substr(0, shown_length_max));
    std::ranges::replace_if(
        text, [](char c) { return c < ' ' || c > '~'; }, '?'
    );
    return text;
}

Status ObjectReader::check_fields(std::span<const std::string_view> names) const {
    if (!object_.is_object()) return fail(Errc::argument, "{}must be an object", where_);
    for (const auto& [name, value] : object_.items()) {
        if (std::ranges::find(names, name) != names.end()) continue;
        return fail(
            Errc::argument, "{}unknown field '{}'; {}", where_, shown_word(name),
            did_you_mean(name, names)
        );
    }
    return {};
}

Status ObjectReader::wrong(std::string_view field, std::string_view why) const {
    return fail(Errc::argument, "{}field '{}' {}", where_, field, why);
}

Status ObjectReader::read_number(
    const char* field, const Range& range, std::uint64_t& out, std::optional<std::uint64_t> standard
) const {
    const auto found = object_.find(field);
    if (found == object_.end() && standard) {
        out = *standard;
        return {};
    }
    if (found == object_.end()) return wrong(field, "is missing");
    const bool is_number = found->is_number_unsigned();
    if (!is_number || found->get<std::uint64_t>() < range.least ||
        found->get<std::uint64_t>() > range.most) {
        return wrong(
            field, fmt::format("must be a whole number, {} to {}", range.least, range.most)
        );
    }
    out = found->get<std::uint64_t>();
    return {};
}

Status ObjectReader::read_text(const char* field, std::string& out) const {
    const auto found = object_.find(field);
    if (found == object_.end()) return wrong(field, "is missing");
    if (found->is_string()) out = found->get<std::string>();
    if (!found->is_string() || out.empty() || out.size() > text_length_max || !is_printable(out)) {
        return wrong(field, fmt::format("must be 1 to {} printable characters", text_length_max));
    }
    return {};
}

Status ObjectReader::read_name(
    const char* field, std::span<const std::string_view> names, std::size_t& out
) const {
    const auto found = object_.find(field);
    if (found == object_.end()) return wrong(field, "is missing");
    const std::string text = found->is_string() ? found->get<std::string>() : std::string();
    const auto name = std::ranges::find(names, text);
    if (name != names.end()) {
        out = static_cast<std::size_t>(name - names.begin());
        return {};
    }
    if (names.size() == 2) {
        return wrong(field, fmt::format("must be '{}' or '{}'", names[0], names[1]));
    }
    return wrong(
        field, fmt::format("can't be '{}'; {}", shown_word(text), did_you_mean(text, names))
    );
}

Result<MeasuredHost> read_measured_host(const TableJson& table) {
    const auto found = table.find("measured_on");
    if (found == table.end()) {
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
    if (status.ok()) {
        status = reader.read_number("online_cpus", {1, online_cpus_max}, online_cpus);
    }
    if (!status.ok()) return status;
    host.online_cpus = static_cast<std::uint32_t>(online_cpus);
    return host;
}

TableJson measured_host_json(const MeasuredHost& host) {
    return {{"cpu_model", host.cpu_model}, {"online_cpus", host.online_cpus}};
}

}  // namespace dlrt
