// SPDX-License-Identifier: Apache-2.0
#include "launcher/options.hpp"

#include "launcher/nearest_name.hpp"
#include "launcher/rank_environment.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/wireup/host_segment.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

enum class Scope : std::uint8_t { job, block };
enum class Takes : std::uint8_t { nothing, value, maybe_value };

constexpr double seconds_max = 1e9;

/// Options so far, and which of those that can be given once have been.
struct ParseState {
    Options options;
    std::set<std::string_view> given_in_job;
    std::set<std::string_view> given_in_block;

    Block& block() { return options.blocks.back(); }
};

/// One option's use: its rule's preferred spelling is for messages.
struct Use {
    std::string_view spelling;  ///< As the user wrote it, with its dashes.
    std::string_view value;
};

struct OptionRule {
    std::string_view name;  ///< Without dashes.
    std::array<std::string_view, 2> aliases;
    Scope scope;
    Takes takes;
    bool is_repeatable;
    std::string_view value_name;
    std::string_view help;
    Status (*apply)(ParseState& state, const Use& use);
};

Status apply_np(ParseState& state, const Use& use) {
    std::uint32_t count = 0;
    const char* end = use.value.data() + use.value.size();
    const auto [stop, error] = std::from_chars(use.value.data(), end, count);
    if (error != std::errc() || stop != end || count < 1 || count > local_rank_count_max) {
        return fail(
            Errc::argument, "{}: '{}' is not a number of ranks; valid are 1 to {}", use.spelling,
            use.value, local_rank_count_max
        );
    }
    state.block().rank_count = count;
    return {};
}

Result<std::uint64_t> parse_seconds(const Use& use, double seconds_min) {
    double seconds = 0;
    const char* end = use.value.data() + use.value.size();
    const auto [stop, error] = std::from_chars(use.value.data(), end, seconds);
    const bool is_number = error == std::errc() && stop == end && std::isfinite(seconds);
    if (!is_number || seconds < seconds_min || seconds > seconds_max) {
        return fail(
            Errc::argument, "{}: '{}' is not a number of seconds; valid are {} to {}", use.spelling,
            use.value, seconds_min, static_cast<std::uint64_t>(seconds_max)
        );
    }
    return static_cast<std::uint64_t>(std::llround(seconds * 1000));
}

Status apply_timeout(ParseState& state, const Use& use) {
    const auto time_ms = parse_seconds(use, 0.001);
    if (time_ms) state.options.timeout_ms = *time_ms;
    return time_ms.error();
}

Status apply_grace(ParseState& state, const Use& use) {
    const auto time_ms = parse_seconds(use, 0);
    if (time_ms) state.options.grace_ms = *time_ms;
    return time_ms.error();
}

Status add_edit(ParseState& state, const Use& use, EnvironmentEdit edit) {
    if (edit.name.empty()) {
        return fail(
            Errc::argument, "{}: '{}' has no variable name; valid is {}", use.spelling, use.value,
            edit.kind == EnvironmentEdit::Kind::unset ? "NAME" : "NAME=value"
        );
    }
    if (is_reserved_variable(edit.name)) {
        return fail(
            Errc::argument, "{}: {} is set by dlrun itself for every rank", use.spelling, edit.name
        );
    }
    for (const EnvironmentEdit& earlier : state.block().environment_edits) {
        if (earlier.name != edit.name || earlier == edit) continue;
        return fail(
            Errc::argument, "{}: {} is given twice in one block, in different ways", use.spelling,
            edit.name
        );
    }
    state.block().environment_edits.push_back(std::move(edit));
    return {};
}

Status apply_env(ParseState& state, const Use& use) {
    const std::size_t equals = use.value.find('=');
    if (equals == std::string_view::npos) {
        return fail(
            Errc::argument, "{}: '{}' has no '='; valid is NAME=value", use.spelling, use.value
        );
    }
    return add_edit(
        state, use,
        {EnvironmentEdit::Kind::assign, std::string(use.value.substr(0, equals)),
         std::string(use.value.substr(equals + 1))}
    );
}

Status apply_export(ParseState& state, const Use& use) {
    if (use.value.find('=') != std::string_view::npos) return apply_env(state, use);
    return add_edit(state, use, {EnvironmentEdit::Kind::forward, std::string(use.value), ""});
}

Status apply_unset(ParseState& state, const Use& use) {
    if (use.value.find('=') != std::string_view::npos) {
        return fail(
            Errc::argument, "{}: '{}' holds a '='; valid is the NAME of a variable", use.spelling,
            use.value
        );
    }
    return add_edit(state, use, {EnvironmentEdit::Kind::unset, std::string(use.value), ""});
}

Status apply_wdir(ParseState& state, const Use& use) {
    if (use.value.empty()) {
        return fail(Errc::argument, "{}: the folder's name is empty", use.spelling);
    }
    state.block().working_directory = use.value;
    return {};
}

Status apply_stdin(ParseState& state, const Use& use) {
    StdinChoice& choice = state.options.stdin_choice;
    if (use.value.empty()) {
        return fail(
            Errc::argument, "{}: '' is not valid; valid are a rank, 'none' or a file", use.spelling
        );
    }
    if (use.value == "none") {
        choice.kind = StdinChoice::Kind::none;
        return {};
    }
    if (use.value.find_first_not_of("0123456789") != std::string_view::npos) {
        choice.kind = StdinChoice::Kind::file;
        choice.file = use.value;
        return {};
    }
    const auto [stop, error] = std::from_chars(
        use.value.data(), use.value.data() + use.value.size(), choice.rank
    );
    // Whether the job has that rank is known at the end.
    if (error != std::errc()) choice.rank = UINT32_MAX;
    return {};
}

Status apply_tag(ParseState& state, const Use&) {
    state.options.output.tag_format = "[%r] ";
    return {};
}

Status apply_verbose(ParseState& state, const Use&) {
    state.options.is_verbose = true;
    return {};
}

Status apply_status(ParseState& state, const Use& use) {
    constexpr std::string_view letters = "0123456789abcdefghijklmnopqrstuvwxyz";
    if (use.value.find_first_not_of(letters) != std::string_view::npos) {
        return fail(
            Errc::argument, "{}: '{}' is not a job's id; valid are small letters and digits",
            use.spelling, use.value
        );
    }
    state.options.action = Options::Action::show_status;
    state.options.status_job = use.value;
    return {};
}

Status apply_help(ParseState& state, const Use&) {
    state.options.action = Options::Action::show_help;
    return {};
}

Status apply_version(ParseState& state, const Use&) {
    state.options.action = Options::Action::show_version;
    return {};
}

constexpr OptionRule rules[] = {
    {"np",
     {"n", ""},
     Scope::block,
     Takes::value,
     false,
     "N",
     "number of ranks; without it one for each usable cpu",
     apply_np},
    {"env",
     {"", ""},
     Scope::block,
     Takes::value,
     true,
     "NAME=value",
     "set a variable for the ranks",
     apply_env},
    {"x",
     {"", ""},
     Scope::block,
     Takes::value,
     true,
     "NAME[=value]",
     "set a variable, or pass on the caller's value of it",
     apply_export},
    {"unset",
     {"", ""},
     Scope::block,
     Takes::value,
     true,
     "NAME",
     "don't pass a variable on",
     apply_unset},
    {"wdir",
     {"wd", ""},
     Scope::block,
     Takes::value,
     false,
     "FOLDER",
     "working directory of the ranks",
     apply_wdir},
    {"stdin",
     {"", ""},
     Scope::job,
     Takes::value,
     false,
     "RANK|none|FILE",
     "which rank reads the input (0), or what rank 0 reads",
     apply_stdin},
    {"tag",
     {"l", "label"},
     Scope::job,
     Takes::nothing,
     true,
     "",
     "begin every line of output with its rank",
     apply_tag},
    {"timeout",
     {"", ""},
     Scope::job,
     Takes::value,
     false,
     "SECONDS",
     "end the job after this time, with status 124",
     apply_timeout},
    {"grace",
     {"", ""},
     Scope::job,
     Takes::value,
     false,
     "SECONDS",
     "time between asking ranks to end and killing them (5)",
     apply_grace},
    {"status",
     {"", ""},
     Scope::job,
     Takes::maybe_value,
     false,
     "[JOB]",
     "show what the ranks of a running job do",
     apply_status},
    {"verbose",
     {"v", ""},
     Scope::job,
     Takes::nothing,
     true,
     "",
     "say what is started where",
     apply_verbose},
    {"help", {"h", ""}, Scope::job, Takes::nothing, true, "", "show this text", apply_help},
    {"version", {"", ""}, Scope::job, Takes::nothing, true, "", "show the version", apply_version},
};

const OptionRule* find_rule(std::string_view name) {
    for (const OptionRule& rule : rules) {
        if (name.empty()) return nullptr;
        if (name == rule.name || std::ranges::count(rule.aliases, name) > 0) return &rule;
    }
    return nullptr;
}

bool is_option(std::string_view word) {
    return word.size() > 1 && word[0] == '-';
}

std::string_view without_dashes(std::string_view word) {
    return word.substr(word.starts_with("--") ? 2 : 1);
}

std::string with_dashes(std::string_view name) {
    return fmt::format("{}{}", name.size() > 2 ? "--" : "-", name);
}

Status refuse_unknown(std::string_view word) {
    std::vector<std::string_view> names;
    for (const OptionRule& rule : rules) {
        names.push_back(rule.name);
        for (const std::string_view alias : rule.aliases) {
            if (!alias.empty()) names.push_back(alias);
        }
    }
    const std::string_view name = without_dashes(word.substr(0, word.find('=')));
    const std::string_view near = nearest_name(name, names);
    const std::string shown(word.substr(0, word.find('=')));
    if (near.empty()) {
        return fail(Errc::argument, "option {} is unknown; 'dlrun --help' lists them", shown);
    }
    return fail(Errc::argument, "option {} is unknown; did you mean {}?", shown, with_dashes(near));
}

/// Applies the option at words[0] and says how many words it took.
Result<std::size_t> parse_option(ParseState& state, std::span<const std::string> words) {
    const std::string_view word = words[0];
    const std::size_t equals = word.find('=');
    const OptionRule* rule = find_rule(without_dashes(word.substr(0, equals)));
    if (rule == nullptr) return refuse_unknown(word);
    Use use{word.substr(0, equals), ""};
    std::size_t taken = 1;
    if (equals != std::string_view::npos) {
        use.value = word.substr(equals + 1);
        if (rule->takes == Takes::nothing) {
            return fail(
                Errc::argument, "{}: takes no value, but got '{}'", use.spelling, use.value
            );
        }
    } else if (rule->takes != Takes::nothing) {
        const bool has_next = words.size() > 1 && words[1] != ":" && words[1] != "--";
        const bool is_next_option = has_next && is_option(words[1]) &&
                                    find_rule(without_dashes(words[1])) != nullptr;
        if (has_next && !is_next_option) {
            use.value = words[1];
            taken = 2;
        } else if (rule->takes == Takes::value) {
            return fail(Errc::argument, "{}: needs a value, {}", use.spelling, rule->value_name);
        }
    }
    if (rule->scope == Scope::job && state.options.blocks.size() > 1) {
        return fail(
            Errc::argument, "{}: holds for the whole job; valid before the first program",
            use.spelling
        );
    }
    auto& given = rule->scope == Scope::job ? state.given_in_job : state.given_in_block;
    if (!given.insert(rule->name).second && !rule->is_repeatable) {
        return fail(Errc::argument, "{}: is given twice", use.spelling);
    }
    if (const Status status = rule->apply(state, use); !status.ok()) return status;
    return taken;
}

/// Parses one block from the front of `words` and takes it off, with the ":" that ends it.
Status parse_block(ParseState& state, std::span<const std::string>& words) {
    state.options.blocks.emplace_back();
    state.given_in_block.clear();
    while (!words.empty() && is_option(words[0])) {
        if (words[0] == "--") {
            words = words.subspan(1);
            break;
        }
        const Result<std::size_t> taken = parse_option(state, words);
        if (!taken) return taken.error();
        words = words.subspan(*taken);
        if (state.options.action == Options::Action::show_help) return {};
    }
    const auto colon = std::ranges::find(words, ":");
    state.block().arguments.assign(words.begin(), colon);
    const auto length = static_cast<std::size_t>(colon - words.begin());
    const bool is_last = colon == words.end();
    if (state.block().arguments.empty() && state.options.action == Options::Action::run) {
        return fail(
            Errc::argument, "a program to run is missing{}; 'dlrun --help' shows the usage",
            is_last && state.options.blocks.size() == 1 ? "" : " beside ':'"
        );
    }
    words = words.subspan(is_last ? length : length + 1);
    if (words.empty() && !is_last) {
        return fail(Errc::argument, "a program to run is missing beside ':'");
    }
    return {};
}

Status check_whole(const Options& options) {
    if (options.action == Options::Action::show_status) {
        const Block& block = options.blocks[0];
        if (options.blocks.size() > 1 || !block.arguments.empty() || block.rank_count) {
            return fail(
                Errc::argument, "--status: shows a running job; it can't start one as well"
            );
        }
    }
    if (options.action != Options::Action::run) return {};
    std::uint64_t total = 0;
    for (const Block& block : options.blocks) {
        if (!block.rank_count && options.blocks.size() > 1) {
            return fail(
                Errc::argument, "-np: is missing for '{}'; with ':' each program needs it",
                block.arguments[0]
            );
        }
        total += block.rank_count.value_or(0);
    }
    if (total > local_rank_count_max) {
        return fail(
            Errc::argument, "-np: {} ranks altogether are too many; valid are 1 to {}", total,
            local_rank_count_max
        );
    }
    return {};
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
    do {
        if (const Status status = parse_block(state, words); !status.ok()) return status;
    } while (!words.empty() && state.options.action == Options::Action::run);
    if (const Status status = check_whole(state.options); !status.ok()) return status;
    return std::move(state.options);
}

std::string help_text() {
    std::string text =
        "usage: dlrun [option]... program [argument]... [: [option]... program [argument]...]...\n"
        "       dlrun --status [JOB]\n"
        "Starts the ranks of a parallel program on this host and stays until all of them are "
        "gone.\n";
    for (const Scope scope : {Scope::block, Scope::job}) {
        text += scope == Scope::block ? "\nFor each program:\n" : "\nFor the whole job:\n";
        for (const OptionRule& rule : rules) {
            if (rule.scope != scope) continue;
            std::string names = with_dashes(rule.name);
            for (const std::string_view alias : rule.aliases) {
                if (!alias.empty()) names += ", " + with_dashes(alias);
            }
            names += fmt::format("{}{}", rule.value_name.empty() ? "" : " ", rule.value_name);
            text += fmt::format("  {:<26} {}\n", names, rule.help);
        }
    }
    text +=
        "\nExit status: that of the first rank that failed, 128 + number if it died by a signal;\n"
        "124 after --timeout, 125 if dlrun itself fails, 126/127 if a program can't be run or "
        "found.\n";
    return text;
}

}  // namespace dlrt::launcher
