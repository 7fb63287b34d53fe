// SPDX-License-Identifier: Apache-2.0
/// The options of dlrun as one table: what they are called, what they take, where they may stand
/// and what they set. Parsing, help, man page, completion and the test of wrong values all come
/// from it. Pure.
#pragma once

#include "launcher/options.hpp"
#include "runtime/base/result.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlrt::launcher {

enum class OptionGroup : std::uint8_t {
    size,
    environment,
    placement,
    hosts,
    streams,
    time,
    look,
    familiar,  ///< Spellings of other launchers that are more than another name of ours.
};

enum class OptionScope : std::uint8_t {
    job,       ///< Before the first program.
    block,     ///< Holds for the program that follows.
    anywhere,  ///< In any block, for the whole job.
};

enum class OptionRepeat : std::uint8_t {
    refused,
    harmless,  ///< Says the same again.
    adds,
};

/// What an option takes, and how its value is read before it is applied.
struct OptionValue {
    enum class Kind : std::uint8_t {
        nothing,
        number,   ///< OptionUse::number, from min to max.
        seconds,  ///< OptionUse::number in ms, from min to max.
        choice,   ///< OptionUse::number is the place in `choices`.
        folder,
        file,
        form,  ///< Has a form of its own, which apply() checks.
        pair,  ///< Two words, or NAME=value: a variable.
    };
    Kind kind = Kind::nothing;
    std::string_view name;   ///< As the help shows it: "SECONDS".
    std::string_view valid;  ///< Ends "…; valid is".
    std::uint64_t min = 0;
    std::uint64_t max = 0;
    std::string_view choices = {};  ///< "kill|wait|ignore"
    bool is_optional = false;
};

struct OptionRule;

/// One option's use.
struct OptionUse {
    const OptionRule& rule;
    std::string_view spelling;  ///< As the user wrote it, with its dashes.
    std::string_view value;
    std::string_view second_value;  ///< Of a pair.
    std::uint64_t number = 0;
};

struct ParseState;

struct OptionRule {
    std::string_view name;     ///< Without dashes.
    std::string_view aliases;  ///< Separated by blanks.
    OptionGroup group = OptionGroup::size;
    OptionScope scope = OptionScope::job;
    OptionRepeat repeat = OptionRepeat::refused;
    /// Options that make the same choice contradict each other.
    std::string_view choice = {};
    OptionValue value = {};
    std::string_view help;
    Status (*apply)(ParseState& state, const OptionUse& use) = nullptr;
};

/// Options so far, and which options have been given.
struct ParseState {
    struct Given {
        const OptionRule* rule = nullptr;
        std::string spelling;
    };

    Options options;
    std::map<std::string_view, Given> given_in_job;  ///< By choice, or name where there is none.
    std::map<std::string_view, Given> given_in_block;
    std::vector<EnvironmentEdit> edits_of_all;  ///< For every block, before its own.
    EnvironmentBase environment_base_of_all = EnvironmentBase::usual;
    std::optional<EnvironmentBase> environment_base_of_block;
    std::string app_file;
    std::size_t position = 0;  ///< Of the word that is being read.

    [[nodiscard]] Block& block() { return options.blocks.back(); }
    /// As the user wrote it; empty if it wasn't given for the whole job.
    [[nodiscard]] std::string_view spelling_of(std::string_view choice_or_name) const;
};

/// All rules, group by group.
[[nodiscard]] std::span<const OptionRule> option_rules();

/// Null: no option of ours. `name` has no dashes.
[[nodiscard]] const OptionRule* find_option(std::string_view name);

[[nodiscard]] std::vector<std::string_view> split_list(std::string_view text, char separator);

/// "-np", "--timeout": one dash for up to two letters.
[[nodiscard]] std::string with_dashes(std::string_view name);

/// "a number of ranks, 1 to 1024"
[[nodiscard]] std::string valid_values(const OptionRule& rule);

/// What an option of another launcher is called here; empty for words that nobody knows.
[[nodiscard]] std::string_view answer_to_foreign_option(std::string_view name);

// The groups, by noun.
[[nodiscard]] std::span<const OptionRule> size_options();
[[nodiscard]] std::span<const OptionRule> environment_options();
[[nodiscard]] std::span<const OptionRule> placement_options();
[[nodiscard]] std::span<const OptionRule> host_options();
[[nodiscard]] std::span<const OptionRule> stream_options();
[[nodiscard]] std::span<const OptionRule> time_options();
[[nodiscard]] std::span<const OptionRule> look_options();
[[nodiscard]] std::span<const OptionRule> familiar_options();

}  // namespace dlrt::launcher
