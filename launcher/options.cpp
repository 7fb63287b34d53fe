// SPDX-License-Identifier: Apache-2.0
/// The words of a command line, read by the table of options.
#include "launcher/options.hpp"

#include "launcher/app_file.hpp"
#include "launcher/option_checks.hpp"
#include "launcher/option_table.hpp"
#include "launcher/option_values.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/base/nearest_name.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

using Words = std::span<const std::string>;
using Kind = OptionValue::Kind;

bool is_option(std::string_view word) {
    return word.size() > 1 && word[0] == '-';
}

std::string_view without_dashes(std::string_view word) {
    return word.substr(word.starts_with("--") ? 2 : 1);
}

Status refuse_unknown(std::string_view word) {
    const std::string_view shown = word.substr(0, word.find('='));
    const std::string_view name = without_dashes(shown);
    if (const std::string_view answer = answer_to_foreign_option(name); !answer.empty()) {
        return fail(Errc::argument, "option {} is not dlrun's; {}", shown, answer);
    }
    std::vector<std::string_view> names;
    for (const OptionRule& rule : option_rules()) {
        names.push_back(rule.name);
        if (rule.aliases.empty()) continue;
        for (const std::string_view alias : split_list(rule.aliases, ' ')) names.push_back(alias);
    }
    const std::string_view near = nearest_name(name, names);
    if (near.empty()) {
        return fail(Errc::argument, "option {} is unknown; 'dlrun --help' lists them", shown);
    }
    return fail(Errc::argument, "option {} is unknown; did you mean {}?", shown, with_dashes(near));
}

/// Whether a word can be an option's value: no end of options, and no option itself.
bool is_value(std::string_view word) {
    if (word == ":" || word == "--") return false;
    return !is_option(word) ||
           find_option(without_dashes(word.substr(0, word.find('=')))) == nullptr;
}

/// Finds the value in the option's own word or in those that follow. Returns how many words it
/// took.
Result<std::size_t> take_value(OptionUse& use, Words words) {
    const OptionRule& rule = use.rule;
    const std::string_view word = words[0];
    const std::size_t equals = word.find('=');
    std::size_t taken = 1;
    if (equals != std::string_view::npos) {
        use.value = word.substr(equals + 1);
        if (rule.value.kind == Kind::nothing) {
            return fail(
                Errc::argument, "{}: takes no value, but got '{}'", use.spelling, use.value
            );
        }
    } else if (rule.value.kind != Kind::nothing) {
        if (words.size() > 1 && is_value(words[1])) {
            use.value = words[1];
            taken = 2;
        } else if (!rule.value.is_optional) {
            return fail(
                Errc::argument, "{}: needs a value; valid is {}", use.spelling, valid_values(rule)
            );
        }
    }
    if (rule.value.kind != Kind::pair) return taken;
    if (const std::size_t inner = use.value.find('='); inner != std::string_view::npos) {
        use.second_value = use.value.substr(inner + 1);
        use.value = use.value.substr(0, inner);
        return taken;
    }
    // The second word is a value whatever it looks like: -genv FLAGS -O2.
    if (words.size() <= taken || words[taken] == ":") {
        return fail(
            Errc::argument, "{}: needs two words; valid is {}", use.spelling, valid_values(rule)
        );
    }
    use.second_value = words[taken];
    return taken + 1;
}

Status note_given(ParseState& state, const OptionUse& use) {
    const OptionRule& rule = use.rule;
    if (rule.scope == OptionScope::job && state.options.blocks.size() > 1) {
        return fail(
            Errc::argument, "{}: holds for the whole job; valid before the first program",
            use.spelling
        );
    }
    auto& given = rule.scope == OptionScope::block ? state.given_in_block : state.given_in_job;
    const std::string_view key = rule.choice.empty() ? rule.name : rule.choice;
    const auto [earlier, is_new] = given.try_emplace(
        key, ParseState::Given{&rule, std::string(use.spelling)}
    );
    if (is_new) return {};
    if (earlier->second.rule != &rule) {
        return fail(
            Errc::argument, "{}: contradicts {}; valid is one of them", use.spelling,
            earlier->second.spelling
        );
    }
    if (rule.repeat != OptionRepeat::refused) return {};
    return fail(Errc::argument, "{}: is given twice; valid is once", use.spelling);
}

/// Applies the option at words[0] and says how many words it took.
Result<std::size_t> parse_option(ParseState& state, Words words) {
    const std::string_view word = words[0];
    const std::string_view spelling = word.substr(0, word.find('='));
    const OptionRule* rule = find_option(without_dashes(spelling));
    if (rule == nullptr) return refuse_unknown(word);
    OptionUse use{*rule, spelling, {}, {}};
    const Result<std::size_t> taken = take_value(use, words);
    if (!taken) return taken.error();
    if (const Status status = note_given(state, use); !status.ok()) return status;
    if (const Status status = read_value(use); !status.ok()) return status;
    if (const Status status = rule->apply(state, use); !status.ok()) return status;
    return *taken;
}

bool shows_text(const ParseState& state) {
    return state.options.action != Options::Action::run &&
           state.options.action != Options::Action::show_status;
}

/// Parses a block's options and program; `words` end with it.
Status parse_block(ParseState& state, Words words) {
    state.options.blocks.emplace_back();
    state.given_in_block.clear();
    state.environment_base_of_block.reset();
    std::size_t position = 0;
    while (position < words.size() && is_option(words[position])) {
        state.position = position;
        if (words[position] == "--") {
            ++position;
            break;
        }
        const Result<std::size_t> taken = parse_option(state, words.subspan(position));
        if (!taken) return taken.error();
        position += *taken;
        if (shows_text(state)) return {};
    }
    state.position = std::min(position, words.empty() ? 0 : words.size() - 1);
    Block& block = state.block();
    block.arguments.assign(words.begin() + static_cast<std::ptrdiff_t>(position), words.end());
    block.environment_base = state.environment_base_of_block.value_or(state.environment_base_of_all
    );
    // What was given for all programs comes before what each has of its own.
    auto& edits = block.environment_edits;
    edits.insert(edits.begin(), state.edits_of_all.begin(), state.edits_of_all.end());
    return {};
}

Status refuse_missing_program(const ParseState& state, std::size_t block_count) {
    if (!state.options.blocks.back().arguments.empty()) return {};
    return fail(
        Errc::argument, "a program to run is missing{}; 'dlrun --help' shows the usage",
        block_count == 1 ? "" : " beside ':'"
    );
}

/// Adds "path:line:column: " to what went wrong.
Status at_place(const std::string& path, const AppLine& line, std::size_t position) {
    const std::string text(last_error_text());
    return fail(
        Errc::argument, "{}:{}:{}: {}", path, line.number, line.words[position].column + 1, text
    );
}

Status parse_app_file(ParseState& state) {
    const std::string path = state.app_file;
    const Result<std::string> text = read_app_file(path);
    if (!text) return text.error();
    const Result<std::vector<AppLine>> lines = parse_app_text(path, *text);
    if (!lines) return lines.error();
    // The command line is a block without a program, before those of the file.
    for (const AppLine& line : *lines) {
        std::vector<std::string> words;
        for (const SplitWord& word : line.words) words.push_back(word.text);
        Status status = parse_block(state, words);
        if (status.ok()) status = refuse_missing_program(state, 1);
        if (!status.ok()) return at_place(path, line, state.position);
    }
    state.options.blocks.erase(state.options.blocks.begin());
    return {};
}

Status parse_app_job(ParseState& state, std::size_t block_count) {
    const bool has_program = !state.options.blocks[0].arguments.empty();
    if (has_program || block_count > 1) {
        return fail(
            Errc::argument, "--app: '{}' says which programs run; the command line can't as well",
            state.app_file
        );
    }
    if (!state.given_in_block.empty()) {
        return fail(
            Errc::argument, "{}: holds for one program; valid in the lines of '{}'",
            state.given_in_block.begin()->second.spelling, state.app_file
        );
    }
    return parse_app_file(state);
}

Status parse_blocks(ParseState& state, Words words) {
    const auto block_count = static_cast<std::size_t>(std::ranges::count(words, ":")) + 1;
    while (true) {
        const auto colon = std::ranges::find(words, ":");
        const Words block(words.begin(), colon);
        if (const Status status = parse_block(state, block); !status.ok()) return status;
        if (shows_text(state)) return {};
        if (state.options.action == Options::Action::run && state.app_file.empty()) {
            const Status status = refuse_missing_program(state, block_count);
            if (!status.ok()) return status;
        }
        if (colon == words.end()) break;
        words = Words(colon + 1, words.end());
    }
    if (state.app_file.empty() || state.options.action != Options::Action::run) return {};
    return parse_app_job(state, block_count);
}

}  // namespace

std::optional<std::uint32_t> Options::rank_count() const {
    std::uint32_t total = 0;
    for (const Block& block : blocks) {
        if (!block.rank_count) return {};
        total += *block.rank_count;
    }
    return total;
}

Result<Options> parse_options(std::span<const std::string> words) {
    ParseState state;
    if (const Status status = parse_blocks(state, words); !status.ok()) return status;
    if (const Status status = check_options(state); !status.ok()) return status;
    state.options.words.assign(words.begin(), words.end());
    return std::move(state.options);
}

}  // namespace dlrt::launcher
