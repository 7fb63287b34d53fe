// SPDX-License-Identifier: Apache-2.0
#include "launcher/option_pages.hpp"

#include "launcher/option_table.hpp"

#include <algorithm>
#include <set>
#include <string>

#include <catch2/catch.hpp>

namespace dlrt::launcher {

TEST_CASE("option table: no name stands for two options", "[launcher]") {
    std::set<std::string_view> names;
    for (const OptionRule& rule : option_rules()) {
        INFO(rule.name);
        CHECK(names.insert(rule.name).second);
        CHECK(answer_to_foreign_option(rule.name).empty());
        if (rule.aliases.empty()) continue;
        for (const std::string_view alias : split_list(rule.aliases, ' ')) {
            INFO(alias);
            CHECK(names.insert(alias).second);
            CHECK(answer_to_foreign_option(alias).empty());
        }
    }
}

TEST_CASE("option table: every option says what it does and takes", "[launcher]") {
    for (const OptionRule& rule : option_rules()) {
        INFO(rule.name);
        CHECK(!rule.help.empty());
        CHECK(rule.apply != nullptr);
        const bool takes_nothing = rule.value.kind == OptionValue::Kind::nothing;
        CHECK(rule.value.name.empty() == takes_nothing);
        CHECK(valid_values(rule).empty() == takes_nothing);
    }
}

TEST_CASE("option pages: the help names every option once, within 80 columns", "[launcher]") {
    const std::string help = help_text();
    for (const OptionRule& rule : option_rules()) {
        const std::string name = "\n  " + with_dashes(rule.name);
        std::size_t count = 0;
        for (const char* after : {" ", ",", "\n"}) {
            for (std::size_t at = help.find(name + after); at != std::string::npos;
                 at = help.find(name + after, at + 1)) {
                ++count;
            }
        }
        INFO(rule.name);
        CHECK(count == 1);
    }
    for (const std::string_view line : split_list(help, '\n')) {
        INFO(line);
        CHECK((line.starts_with("usage:") || line.size() <= 79));
    }
}

TEST_CASE("option pages: the settings are those of the library", "[launcher]") {
    CHECK(settings_text().find("\nDLRT_PROTO (list, else by size and host)") != std::string::npos);
    CHECK(settings_text().find("  Valid: 0 to 1m (k, m: powers of 1024)\n") != std::string::npos);
}

}  // namespace dlrt::launcher
