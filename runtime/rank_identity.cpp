// SPDX-License-Identifier: Apache-2.0
/// "dlrt1;host key;host name;nonce;socket;secret;0-3,8".
#include "runtime/rank_identity.hpp"

#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace dlrt {
namespace {

constexpr std::string_view format_name = "dlrt1";
constexpr std::size_t field_count = 7;
constexpr std::size_t cpu_text_bytes_max = 400;
constexpr std::uint32_t cpu_number_max = 8191;

std::string cpu_text(const std::vector<std::uint32_t>& cpus) {
    std::string text;
    for (std::size_t first = 0; first < cpus.size();) {
        std::size_t last = first;
        while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
        if (!text.empty()) text += ',';
        text += fmt::format("{}", cpus[first]);
        if (last > first) text += fmt::format("-{}", cpus[last]);
        first = last + 1;
    }
    return text.size() <= cpu_text_bytes_max ? text : std::string();
}

std::optional<std::uint32_t> parse_cpu(std::string_view text) {
    std::uint32_t value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_number = error == std::errc{} && stop == text.data() + text.size();
    return is_number && value <= cpu_number_max ? std::optional(value) : std::nullopt;
}

std::optional<std::vector<std::uint32_t>> parse_cpus(std::string_view text) {
    std::vector<std::uint32_t> cpus;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        const std::string_view part = text.substr(0, comma);
        text.remove_prefix(std::min(comma + 1, text.size()));
        const std::size_t dash = std::min(part.find('-'), part.size());
        const auto first = parse_cpu(part.substr(0, dash));
        const auto last = dash < part.size() ? parse_cpu(part.substr(dash + 1)) : first;
        if (!first || !last || *last < *first) return std::nullopt;
        if (!cpus.empty() && *first <= cpus.back()) return std::nullopt;
        for (std::uint32_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
    }
    return cpus;
}

}  // namespace

std::string encode_identity(const RankIdentity& identity) {
    return fmt::format(
        "{};{};{};{};{};{};{}", format_name, identity.host_key, identity.host_name, identity.nonce,
        identity.socket, identity.secret, cpu_text(identity.cpus)
    );
}

Result<RankIdentity> decode_identity(std::string_view text) {
    std::array<std::string, field_count> fields;
    std::string_view rest = text;
    for (std::size_t i = 0; i < field_count; ++i) {
        const std::size_t end = rest.find(';');
        const bool is_last = i + 1 == field_count;
        if (is_last != (end == std::string_view::npos)) {
            return fail(Errc::wireup, "'{}' is no identity of a rank", text);
        }
        fields[i] = rest.substr(0, end);
        if (!is_last) rest.remove_prefix(end + 1);
    }
    if (fields[0] != format_name) {
        return fail(Errc::wireup, "a rank of another version of dlrt says '{}'", text);
    }
    auto cpus = parse_cpus(fields[6]);
    if (!cpus || fields[1].empty() || fields[3].empty()) {
        return fail(Errc::wireup, "'{}' is no identity of a rank", text);
    }
    return RankIdentity{fields[1], fields[2], fields[3], fields[4], fields[5], std::move(*cpus)};
}

}  // namespace dlrt
