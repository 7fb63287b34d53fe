// SPDX-License-Identifier: Apache-2.0
#include "launcher/option_table.hpp"

#include "launcher/option_values.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace dlrt::launcher {

std::string_view ParseState::spelling_of(std::string_view choice_or_name) const {
    const auto found = given_in_job.find(choice_or_name);
    return found == given_in_job.end() ? std::string_view() : found->second.spelling;
}

std::span<const OptionRule> option_rules() {
    static const std::vector<OptionRule> rules = [] {
        std::vector<OptionRule> all;
        for (const std::span<const OptionRule> group :
             {size_options(), environment_options(), placement_options(), host_options(),
              stream_options(), time_options(), look_options(), familiar_options()}) {
            all.insert(all.end(), group.begin(), group.end());
        }
        return all;
    }();
    return rules;
}

const OptionRule* find_option(std::string_view name) {
    if (name.empty()) return nullptr;
    for (const OptionRule& rule : option_rules()) {
        if (name == rule.name) return &rule;
        const std::vector<std::string_view> aliases = split_list(rule.aliases, ' ');
        if (std::ranges::find(aliases, name) != aliases.end()) return &rule;
    }
    return nullptr;
}

std::vector<std::string_view> split_list(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(separator, begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

std::string with_dashes(std::string_view name) {
    return fmt::format("{}{}", name.size() > 2 ? "--" : "-", name);
}

std::string valid_values(const OptionRule& rule) {
    const OptionValue& value = rule.value;
    switch (value.kind) {
        case OptionValue::Kind::number:
            return fmt::format("a number of {}, {} to {}", value.valid, value.min, value.max);
        case OptionValue::Kind::seconds:
            return fmt::format(
                "a number of seconds, {:g} to {}", static_cast<double>(value.min) / ms_per_s,
                value.max / static_cast<std::uint64_t>(ms_per_s)
            );
        case OptionValue::Kind::choice: {
            std::string text;
            for (const std::string_view choice : split_list(value.choices, '|')) {
                text += fmt::format("{}{}", text.empty() ? "one of " : ", ", choice);
            }
            return text;
        }
        case OptionValue::Kind::nothing:
        case OptionValue::Kind::folder:
        case OptionValue::Kind::file:
        case OptionValue::Kind::form:
        case OptionValue::Kind::pair:
            break;
    }
    return std::string(value.valid);
}

}  // namespace dlrt::launcher
