// SPDX-License-Identifier: Apache-2.0
#include "launcher/hostfile.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/base/fd.hpp"
#include "runtime/base/nearest_name.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <set>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
constexpr std::uint32_t port_max = 65'535;
constexpr std::size_t prefix_bytes_max = 1023;
/// A misspelt key isn't longer than this, and comparing a huge word would take its time.
constexpr std::size_t key_bytes_max = 32;

enum class Key : std::uint8_t { slots, max_slots, user, port, prefix };

struct Spelling {
    std::string_view text;
    Key key;
};

constexpr Spelling spellings[] = {
    {"slots", Key::slots},         {"count", Key::slots},         {"cpu", Key::slots},
    {"cpus", Key::slots},          {"procs", Key::slots},         {"np", Key::slots},
    {"max_slots", Key::max_slots}, {"max-slots", Key::max_slots}, {"maxslots", Key::max_slots},
    {"slots_max", Key::max_slots}, {"slots-max", Key::max_slots}, {"max_cpu", Key::max_slots},
    {"max-cpu", Key::max_slots},   {"cpu_max", Key::max_slots},   {"cpu-max", Key::max_slots},
    {"max_count", Key::max_slots}, {"max-count", Key::max_slots}, {"count_max", Key::max_slots},
    {"count-max", Key::max_slots}, {"max_procs", Key::max_slots}, {"max-procs", Key::max_slots},
    {"user", Key::user},           {"username", Key::user},       {"user_name", Key::user},
    {"user-name", Key::user},      {"port", Key::port},           {"prefix", Key::prefix},
};

std::optional<Key> find_key(std::string_view word) {
    for (const Spelling& spelling : spellings) {
        if (spelling.text == word) return spelling.key;
    }
    return {};
}

std::string unknown_key(std::string_view word) {
    std::vector<std::string_view> names;
    for (const Spelling& spelling : spellings) names.push_back(spelling.text);
    const std::string_view near = nearest_name(word.substr(0, key_bytes_max), names);
    if (!near.empty()) {
        return fmt::format("key {} is unknown; did you mean {}?", quoted(word), near);
    }
    return fmt::format(
        "key {} is unknown; valid are slots, max_slots, user, port and prefix", quoted(word)
    );
}

class HostfileParser {
  public:
    explicit HostfileParser(std::string_view text) : text_(text) {}

    std::optional<TextProblem> parse();
    std::vector<HostMention> take_mentions() { return std::move(mentions_); }
    /// "line:column", both from 1; columns count letters, not bytes.
    std::string place_of(std::size_t offset) const;

  private:
    enum class WordKind : std::uint8_t { host, key, value, path };

    std::optional<TextProblem> parse_line();
    std::optional<TextProblem> parse_setting(HostMention& settings, std::set<Key>& given);
    std::optional<TextProblem> apply(
        HostMention& settings, Key key, std::string_view value, std::size_t offset
    );
    std::optional<TextProblem> skip_blanks();
    std::optional<TextProblem> take_value(Key key, std::string_view& value);
    std::string_view take_word(WordKind kind);

    char letter(std::size_t ahead = 0) const {
        if (position_ + ahead >= text_.size()) return '\n';
        return text_[position_ + ahead];
    }
    bool is_at_end() const { return position_ >= text_.size(); }
    bool is_at_line_end() const { return letter() == '\n'; }
    bool is_at_slash_comment() const {
        return letter() == '/' && (letter(1) == '/' || letter(1) == '*');
    }

    std::string_view text_;
    std::size_t position_ = 0;
    std::vector<HostMention> mentions_;
};

std::string HostfileParser::place_of(std::size_t offset) const {
    const std::string_view before = text_.substr(0, offset);
    const auto line = std::ranges::count(before, '\n') + 1;
    std::string_view part = before.substr(before.rfind('\n') + 1);
    if (line == 1 && part.starts_with(byte_order_mark)) part.remove_prefix(byte_order_mark.size());
    const auto column = std::ranges::count_if(part, [](char letter) {
        return (static_cast<unsigned char>(letter) & 0xc0u) != 0x80u;
    });
    return fmt::format("{}:{}", line, column + 1);
}

/// Blanks and comments up to the end of the line; a comment in /* */ may hold line ends.
std::optional<TextProblem> HostfileParser::skip_blanks() {
    while (!is_at_end()) {
        if (letter() == ' ' || letter() == '\t' || letter() == '\r') {
            ++position_;
        } else if (letter() == '#' || (letter() == '/' && letter(1) == '/')) {
            position_ = std::min(text_.find('\n', position_), text_.size());
        } else if (is_at_slash_comment()) {
            const std::size_t close = text_.find("*/", position_ + 2);
            if (close == text_.npos) return TextProblem{position_, "'/*' has no '*/'"};
            position_ = close + 2;
        } else {
            break;
        }
    }
    return {};
}

std::string_view HostfileParser::take_word(WordKind kind) {
    const std::size_t begin = position_;
    while (!is_at_line_end() && letter() != ' ' && letter() != '\t' && letter() != '\r') {
        if (kind == WordKind::key && letter() == '=') break;
        if (kind != WordKind::path && (letter() == '#' || is_at_slash_comment())) break;
        ++position_;
    }
    return text_.substr(begin, position_ - begin);
}

std::optional<TextProblem> HostfileParser::take_value(Key key, std::string_view& value) {
    if (letter() != '"') {
        value = take_word(key == Key::prefix ? WordKind::path : WordKind::value);
        return {};
    }
    const std::size_t begin = ++position_;
    while (!is_at_line_end() && letter() != '"') ++position_;
    if (is_at_line_end()) return TextProblem{begin - 1, "'\"' has no end on its line"};
    value = text_.substr(begin, position_ - begin);
    ++position_;
    return {};
}

std::optional<TextProblem> HostfileParser::apply(
    HostMention& settings, Key key, std::string_view value, std::size_t offset
) {
    if (key == Key::user) {
        if (!is_user_name(value)) {
            return TextProblem{offset, fmt::format("{} is not a user's name", quoted(value))};
        }
        settings.user = value;
        return {};
    }
    if (key == Key::prefix) {
        const bool is_valid = value.starts_with('/') && value.size() <= prefix_bytes_max &&
                              value.find('\0') == value.npos;
        if (!is_valid) {
            return TextProblem{
                offset, fmt::format(
                            "{} is not a folder's absolute name of up to {} letters", quoted(value),
                            prefix_bytes_max
                        )};
        }
        settings.prefix = value;
        return {};
    }
    const std::uint32_t max = key == Key::port ? port_max : host_slots_max;
    const std::optional<std::uint32_t> number = parse_count(value, max);
    if (!number) {
        return TextProblem{
            offset, fmt::format("{} is not valid here; valid are 1 to {}", quoted(value), max)};
    }
    if (key == Key::port) settings.port = *number;
    if (key == Key::slots) settings.slots = number;
    if (key == Key::max_slots) settings.max_slots = number;
    if (settings.slots && settings.max_slots && *settings.slots > *settings.max_slots) {
        return TextProblem{
            offset, fmt::format(
                        "slots={} is more than max_slots={}", *settings.slots, *settings.max_slots
                    )};
    }
    return {};
}

std::optional<TextProblem> HostfileParser::parse_setting(
    HostMention& settings, std::set<Key>& given
) {
    const std::size_t begin = position_;
    const std::string_view word = take_word(WordKind::key);
    const std::optional<Key> key = find_key(word);
    if (auto problem = skip_blanks()) return problem;
    if (word.empty() || (letter() != '=' && !key)) {
        const bool is_number = parse_count(word, host_slots_max).has_value();
        return TextProblem{
            begin, word.empty() ? std::string("a key is missing before '='")
                                : fmt::format(
                                      "{} is not key=value{}", quoted(word),
                                      is_number ? fmt::format("; did you mean slots={}?", word) : ""
                                  )};
    }
    if (!key) return TextProblem{begin, unknown_key(word)};
    if (letter() != '=') return TextProblem{begin, fmt::format("{} has no value", word)};
    ++position_;
    if (auto problem = skip_blanks()) return problem;
    const std::size_t value_begin = position_;
    std::string_view value;
    if (auto problem = take_value(*key, value)) return problem;
    if (value.empty()) return TextProblem{begin, fmt::format("{} has no value", word)};
    if (!given.insert(*key).second) {
        return TextProblem{begin, fmt::format("{} is given twice for one host", word)};
    }
    return apply(settings, *key, value, value_begin);
}

std::optional<TextProblem> HostfileParser::parse_line() {
    const std::size_t begin = position_;
    const std::size_t first = mentions_.size();
    const std::string_view word = take_word(WordKind::host);
    if (word.find('=') != word.npos) {
        return TextProblem{begin, fmt::format("a host's name is missing before {}", quoted(word))};
    }
    if (auto problem = add_hosts(word, mentions_)) {
        problem->offset += begin;
        return problem;
    }
    HostMention settings = mentions_[first];
    std::set<Key> given;
    if (settings.slots) given.insert(Key::slots);
    if (!settings.user.empty()) given.insert(Key::user);
    while (true) {
        if (auto problem = skip_blanks()) return problem;
        if (is_at_line_end()) break;
        if (auto problem = parse_setting(settings, given)) return problem;
    }
    for (std::size_t i = first; i < mentions_.size(); ++i) {
        settings.name = std::move(mentions_[i].name);
        mentions_[i] = settings;
    }
    return {};
}

std::optional<TextProblem> HostfileParser::parse() {
    if (text_.starts_with(byte_order_mark)) position_ = byte_order_mark.size();
    while (true) {
        if (auto problem = skip_blanks()) return problem;
        if (is_at_end()) break;
        if (is_at_line_end())
            ++position_;
        else if (auto problem = parse_line())
            return problem;
    }
    if (!mentions_.empty()) return {};
    return TextProblem{text_.size(), "no host is named; valid are lines such as 'host slots=4'"};
}

Result<std::string> read_whole(const std::string& file_name) {
    const Fd file(::open(file_name.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    if (!file.is_open()) return fail_errno(errno, "cannot open hostfile {}", quoted(file_name));
    std::string text;
    constexpr std::size_t piece_bytes = 65'536;
    while (text.size() <= hostfile_bytes_max) {
        const std::size_t had = text.size();
        text.resize(had + piece_bytes);
        const ssize_t got = ::read(file.get(), text.data() + had, piece_bytes);
        text.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        if (got == 0) return text;
        if (got < 0 && errno != EINTR) {
            return fail_errno(errno, "cannot read hostfile {}", quoted(file_name));
        }
    }
    return fail(
        Errc::argument, "hostfile {} is larger than {} MiB", quoted(file_name),
        hostfile_bytes_max >> 20
    );
}

}  // namespace

Result<std::vector<HostMention>> parse_hostfile(std::string_view text, std::string_view file_name) {
    HostfileParser parser(text);
    if (const auto problem = parser.parse()) {
        return fail(
            Errc::argument, "{}:{}: {}", printable(file_name), parser.place_of(problem->offset),
            problem->text
        );
    }
    return parser.take_mentions();
}

Result<std::vector<HostMention>> read_hostfile(const std::string& file_name) {
    const Result<std::string> text = read_whole(file_name);
    if (!text) return text.error();
    return parse_hostfile(*text, file_name);
}

}  // namespace dlrt::launcher
