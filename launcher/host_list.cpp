// SPDX-License-Identifier: Apache-2.0
#include "launcher/host_list.hpp"

#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

constexpr std::size_t host_name_bytes_max = 253;
constexpr std::size_t range_digits_max = 9;
constexpr std::size_t user_name_bytes_max = 256;
constexpr std::size_t shown_bytes_max = 48;

bool is_letter_or_digit(char letter) {
    return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
           (letter >= 'A' && letter <= 'Z');
}

bool is_host_letter(char letter) {
    return is_letter_or_digit(letter) || letter == '-' || letter == '.' || letter == '_';
}

bool is_all_digits(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_ipv6_address(std::string_view text) {
    const std::size_t percent = text.find('%');
    const std::string address(text.substr(0, percent));
    in6_addr parsed = {};
    // A zero byte would end the text for inet_pton, and what follows would pass unseen.
    if (address.find('\0') != std::string::npos) return false;
    if (::inet_pton(AF_INET6, address.c_str(), &parsed) != 1) return false;
    if (percent == std::string_view::npos) return true;
    const std::string_view zone = text.substr(percent + 1);
    return !zone.empty() && std::ranges::all_of(zone, is_host_letter);
}

/// The parts of one word. `host` is without the brackets of an IPv6 address.
struct HostWord {
    std::string_view user;
    std::string_view host;
    bool is_address = false;
    std::optional<std::string_view> count;
};

std::optional<TextProblem> split_count(
    std::string_view rest, std::size_t begin, std::optional<std::string_view>& count
) {
    if (rest.empty()) return {};
    if (rest[0] != ':') {
        return TextProblem{begin, fmt::format("{} stands behind ']'; valid is :N", quoted(rest))};
    }
    count = rest.substr(1);
    return {};
}

/// The last ":" that is not within the brackets of a range.
std::size_t find_last_colon(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    const std::size_t bracket = text.rfind(']');
    const bool is_inside = bracket != std::string_view::npos && colon < bracket;
    return is_inside ? std::string_view::npos : colon;
}

std::optional<TextProblem> split(std::string_view word, HostWord& parts) {
    std::size_t begin = 0;
    if (const std::size_t at = word.rfind('@'); at != std::string_view::npos) {
        parts.user = word.substr(0, at);
        if (!is_user_name(parts.user)) {
            return TextProblem{0, fmt::format("{} is not a user's name", quoted(parts.user))};
        }
        begin = at + 1;
    }
    const std::string_view rest = word.substr(begin);
    if (rest.empty()) return TextProblem{begin, "a host's name is missing"};
    const std::size_t close = rest.find(']');
    const std::string_view bracketed = rest.substr(1, close == rest.npos ? close : close - 1);
    if (rest[0] == '[' && bracketed.find(':') != rest.npos) {
        if (close == rest.npos) return TextProblem{begin, "'[' has no ']'"};
        parts.host = bracketed;
        parts.is_address = true;
        if (!is_ipv6_address(parts.host)) {
            return TextProblem{
                begin + 1, fmt::format("{} is not an IPv6 address", quoted(parts.host))};
        }
        return split_count(rest.substr(close + 1), begin + close + 1, parts.count);
    }
    if (std::ranges::count(rest, ':') > 1 && rest.find('[') == rest.npos) {
        parts.host = rest;
        parts.is_address = true;
        if (is_ipv6_address(rest)) return {};
        return TextProblem{
            begin, fmt::format(
                       "{} is neither host:N nor an IPv6 address; valid is [ADDRESS]:N for an "
                       "address with a number of slots",
                       quoted(rest)
                   )};
    }
    const std::size_t colon = find_last_colon(rest);
    parts.host = rest.substr(0, colon);
    if (colon != rest.npos) parts.count = rest.substr(colon + 1);
    if (parts.host.empty()) return TextProblem{begin, "a host's name is missing before ':'"};
    return {};
}

/// "01-16,20" to the texts it stands for.
std::optional<TextProblem> expand_numbers(
    std::string_view text, std::size_t begin, std::vector<std::string>& numbers
) {
    while (true) {
        const std::size_t comma = text.find(',');
        const std::string_view item = text.substr(0, comma);
        const std::size_t dash = item.find('-');
        const std::string_view first = item.substr(0, dash);
        const std::string_view last = dash == item.npos ? first : item.substr(dash + 1);
        const bool is_short = first.size() <= range_digits_max && last.size() <= range_digits_max;
        if (!is_all_digits(first) || !is_all_digits(last) || !is_short) {
            return TextProblem{
                begin,
                fmt::format("{} is not a range; valid are such as [01-16,20]", quoted(item))};
        }
        std::uint32_t low = 0;
        std::uint32_t high = 0;
        std::from_chars(first.data(), first.data() + first.size(), low);
        std::from_chars(last.data(), last.data() + last.size(), high);
        if (high < low) {
            return TextProblem{begin, fmt::format("the range {} runs backwards", quoted(item))};
        }
        if (high - low >= host_mention_count_max - numbers.size()) {
            return TextProblem{
                begin, fmt::format(
                           "the range {} is too long; valid are {} hosts altogether", quoted(item),
                           host_mention_count_max
                       )};
        }
        for (std::uint32_t number = low; number <= high; ++number) {
            numbers.push_back(fmt::format("{:0{}}", number, first.size()));
        }
        if (comma == text.npos) return {};
        begin += comma + 1;
        text.remove_prefix(comma + 1);
    }
}

TextProblem too_many_hosts(std::size_t offset) {
    return {offset, fmt::format("more than {} hosts are named", host_mention_count_max)};
}

/// All names that a name with ranges stands for, in order: the last range runs fastest.
std::optional<TextProblem> expand_name(
    std::string_view text, std::size_t begin, std::vector<std::string>& names
) {
    names.assign(1, "");
    std::size_t at = 0;
    while (at < text.size()) {
        if (names[0].size() > host_name_bytes_max) break;
        if (text[at] != '[') {
            if (!is_host_letter(text[at])) {
                return TextProblem{
                    begin + at, fmt::format(
                                    "{} can't stand in a host's name; valid are letters, digits, "
                                    "'-', '.' and '_'",
                                    quoted(text.substr(at, 1))
                                )};
            }
            for (std::string& name : names) name += text[at];
            ++at;
            continue;
        }
        const std::size_t close = text.find(']', at);
        if (close == text.npos) return TextProblem{begin + at, "'[' has no ']'"};
        std::vector<std::string> numbers;
        auto problem = expand_numbers(text.substr(at + 1, close - at - 1), begin + at + 1, numbers);
        if (problem) return problem;
        if (names.size() > host_mention_count_max / numbers.size()) {
            return too_many_hosts(begin + at);
        }
        std::vector<std::string> longer;
        longer.reserve(names.size() * numbers.size());
        for (const std::string& name : names) {
            for (const std::string& number : numbers) longer.push_back(name + number);
        }
        names = std::move(longer);
        at = close + 1;
    }
    return {};
}

}  // namespace

std::optional<std::uint32_t> parse_count(std::string_view text, std::uint32_t max) {
    std::uint32_t value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_whole = error == std::errc() && stop == text.data() + text.size();
    if (!is_whole || value == 0 || value > max) return {};
    return value;
}

bool is_user_name(std::string_view text) {
    const auto is_letter = [](char letter) {
        return is_host_letter(letter) || letter == '+' || letter == '@';
    };
    return !text.empty() && text.size() <= user_name_bytes_max && text[0] != '-' &&
           std::ranges::all_of(text, is_letter);
}

std::string printable(std::string_view text) {
    std::string result;
    for (const char letter : text) {
        const auto byte = static_cast<unsigned char>(letter);
        if (byte >= 0x20 && byte < 0x7f)
            result += letter;
        else
            result += fmt::format("\\x{:02x}", byte);
    }
    return result;
}

std::string quoted(std::string_view text) {
    return fmt::format(
        "'{}{}'", printable(text.substr(0, shown_bytes_max)),
        text.size() > shown_bytes_max ? "..." : ""
    );
}

std::optional<TextProblem> add_hosts(std::string_view word, std::vector<HostMention>& mentions) {
    HostWord parts;
    if (auto problem = split(word, parts)) return problem;
    HostMention mention;
    mention.user = parts.user;
    if (parts.count) {
        mention.slots = parse_count(*parts.count, host_slots_max);
        if (!mention.slots) {
            return TextProblem{
                static_cast<std::size_t>(parts.count->data() - word.data()),
                fmt::format(
                    "{} is not a number of slots; valid are 1 to {}", quoted(*parts.count),
                    host_slots_max
                )};
        }
    }
    const auto begin = static_cast<std::size_t>(parts.host.data() - word.data());
    std::vector<std::string> names(1, std::string(parts.host));
    if (!parts.is_address) {
        if (auto problem = expand_name(parts.host, begin, names)) return problem;
    }
    if (names.size() > host_mention_count_max - mentions.size()) return too_many_hosts(begin);
    for (std::string& name : names) {
        // A dash in front would make an option of it for the programs that it is handed to.
        if (name[0] == '-' || name[0] == '.') {
            return TextProblem{begin, fmt::format("a host's name can't begin with '{}'", name[0])};
        }
        if (name.size() > host_name_bytes_max) {
            return TextProblem{
                begin, fmt::format(
                           "the host's name {} is longer than {} letters", quoted(name),
                           host_name_bytes_max
                       )};
        }
        mention.name = std::move(name);
        mentions.push_back(mention);
    }
    return {};
}

Result<std::vector<HostMention>> parse_host_list(std::string_view text) {
    std::vector<HostMention> mentions;
    std::size_t begin = 0;
    while (true) {
        std::size_t end = begin;
        for (bool is_inside = false; end < text.size(); ++end) {
            if (text[end] == '[') is_inside = true;
            if (text[end] == ']') is_inside = false;
            if (text[end] == ',' && !is_inside) break;
        }
        if (auto problem = add_hosts(text.substr(begin, end - begin), mentions)) {
            return fail(
                Errc::argument, "--host: {} (letter {} of {})", problem->text,
                begin + problem->offset + 1, quoted(text)
            );
        }
        if (end == text.size()) return mentions;
        begin = end + 1;
    }
}

}  // namespace dlrt::launcher
