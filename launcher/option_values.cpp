// SPDX-License-Identifier: Apache-2.0
#include "launcher/option_values.hpp"

#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstring>
#include <string>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

/// More milliseconds than anybody waits, and far from where the number would overflow.
constexpr double readable_seconds_max = 1e12;
constexpr std::string_view digits = "0123456789";

std::optional<std::uint64_t> place_in(std::string_view choices, std::string_view word) {
    const std::vector<std::string_view> names = split_list(choices, '|');
    const auto found = std::ranges::find(names, word);
    if (found == names.end()) return {};
    return static_cast<std::uint64_t>(found - names.begin());
}

}  // namespace

std::optional<std::uint64_t> parse_whole_number(std::string_view text) {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || stop != end) return {};
    return number;
}

std::optional<std::uint64_t> parse_seconds_as_ms(std::string_view text) {
    double seconds = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, seconds);
    if (error != std::errc() || stop != end || !std::isfinite(seconds)) return {};
    if (std::signbit(seconds) || seconds > readable_seconds_max) return {};
    return static_cast<std::uint64_t>(std::llround(seconds * ms_per_s));
}

std::optional<int> parse_signal(std::string_view text) {
    if (const auto number = parse_whole_number(text)) {
        if (*number < 1 || *number >= static_cast<std::uint64_t>(NSIG)) return {};
        return static_cast<int>(*number);
    }
    if (text.starts_with("SIG")) text.remove_prefix(3);
    for (int signal = 1; signal < NSIG; ++signal) {
        const char* const name = ::sigabbrev_np(signal);
        if (name != nullptr && text == name) return signal;
    }
    return {};
}

std::optional<TopologyLevel> parse_level(std::string_view text) {
    if (text == "package" || text == "socket") return TopologyLevel::package;
    if (text == "numa") return TopologyLevel::numa;
    if (text == "l3" || text == "l3cache") return TopologyLevel::l3;
    if (text == "core") return TopologyLevel::core;
    if (text == "hwthread") return TopologyLevel::hwthread;
    return {};
}

Status read_value(OptionUse& use) {
    const OptionValue& value = use.rule.value;
    if (value.kind == OptionValue::Kind::nothing || (use.value.empty() && value.is_optional)) {
        return {};
    }
    if (use.value.empty()) return refuse_value(use);
    std::optional<std::uint64_t> number;
    switch (value.kind) {
        case OptionValue::Kind::number:
            number = parse_whole_number(use.value);
            break;
        case OptionValue::Kind::seconds:
            number = parse_seconds_as_ms(use.value);
            break;
        case OptionValue::Kind::choice:
            number = place_in(value.choices, use.value);
            if (!number) return refuse_value(use);
            use.number = *number;
            return {};
        case OptionValue::Kind::nothing:
        case OptionValue::Kind::folder:
        case OptionValue::Kind::file:
        case OptionValue::Kind::form:
        case OptionValue::Kind::pair:
            return {};
    }
    if (!number || *number < value.min || *number > value.max) return refuse_value(use);
    use.number = *number;
    return {};
}

Status refuse_value(const OptionUse& use) {
    return fail(
        Errc::argument, "{}: '{}' is not valid; valid is {}", use.spelling, use.value,
        valid_values(use.rule)
    );
}

Status refuse_value(const OptionUse& use, std::string_view reason) {
    return fail(
        Errc::argument, "{}: '{}' is not valid, {}; valid is {}", use.spelling, use.value, reason,
        valid_values(use.rule)
    );
}

std::optional<std::string_view> find_wrong_sign(std::string_view format) {
    constexpr std::string_view signs = "rRhpsbj%";
    constexpr std::size_t width_digits_max = 2;
    for (std::size_t at = format.find('%'); at != std::string_view::npos;
         at = format.find('%', at)) {
        const std::size_t sign = format.find_first_not_of(digits, at + 1);
        if (sign == std::string_view::npos || signs.find(format[sign]) == std::string_view::npos ||
            sign - at - 1 > width_digits_max) {
            return format.substr(at, sign == std::string_view::npos ? sign : sign + 1 - at);
        }
        at = sign + 1;
    }
    return {};
}

}  // namespace dlrt::launcher
