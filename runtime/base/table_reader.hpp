// SPDX-License-Identifier: Apache-2.0
/// Reads tables of measurements in JSON, strictly: whatever is wrong is named by line or field, and
/// with what is valid. Pure.
#pragma once

#include "runtime/base/measured_host.hpp"
#include "runtime/base/result.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace dlrt {

using TableJson = nlohmann::ordered_json;

/// Errors: Errc::argument with the line.
[[nodiscard]] Result<TableJson> parse_table(std::string_view text);

/// A word of a file that may hold anything, fit for one line of a message.
[[nodiscard]] std::string shown_word(std::string_view word);

/// One object of a table, with what is needed to say where something is wrong. Errors:
/// Errc::argument.
class ObjectReader {
  public:
    struct Range {
        std::uint64_t least = 0;
        std::uint64_t most = UINT64_MAX;
    };

    /// REQUIRES: the object stays.
    ObjectReader(std::string where, const TableJson& object)
        : where_(std::move(where)), object_(object) {}

    [[nodiscard]] Status check_fields(std::span<const std::string_view> names) const;
    [[nodiscard]] Status wrong(std::string_view field, std::string_view why) const;
    [[nodiscard]] bool has(const char* field) const { return object_.contains(field); }
    /// Without a standard value the field must be there.
    [[nodiscard]] Status read_number(
        const char* field, const Range& range, std::uint64_t& out,
        std::optional<std::uint64_t> standard = std::nullopt
    ) const;
    /// 1 to 256 printable characters.
    [[nodiscard]] Status read_text(const char* field, std::string& out) const;
    /// Which of the names it is.
    [[nodiscard]] Status read_name(
        const char* field, std::span<const std::string_view> names, std::size_t& out
    ) const;

  private:
    std::string where_;
    const TableJson& object_;
};

/// The field "measured_on" of a table.
[[nodiscard]] Result<MeasuredHost> read_measured_host(const TableJson& table);
[[nodiscard]] TableJson measured_host_json(const MeasuredHost& host);

}  // namespace dlrt
