// SPDX-License-Identifier: Apache-2.0
#include "launcher/remote_command.hpp"

#include "launcher/word_splitter.hpp"
#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <array>

namespace dlrt::launcher {
namespace {

constexpr int status_not_found = 127;
constexpr int status_not_executable = 126;

void replace_all(std::string& text, std::string_view name, std::string_view value) {
    for (std::size_t at = text.find(name); at != std::string::npos;
         at = text.find(name, at + value.size())) {
        text.replace(at, name.size(), value);
    }
}

std::string daemon_for(const HostMention& host, std::string_view daemon) {
    if (host.prefix.empty()) return std::string(daemon);
    return host.prefix + "/bin/dlrund";
}

/// What ssh says, in lower case, and what that means to its user; {} are filled in.
struct KnownFailure {
    std::string_view said;
    std::string_view meaning;
};
constexpr std::array known_failures = {
    KnownFailure{
        "host key verification failed",
        "its host key is not known here, or has changed: "
        "log in once with 'ssh {host}' and compare it"},
    KnownFailure{
        "permission denied",
        "it refuses our key, or asks for a password, which dlrun "
        "never does: make 'ssh {host} true' work without one "
        "(ssh-copy-id {host})"},
    KnownFailure{
        "could not resolve",
        "there is no host of that name: check the hostfile, or "
        "/etc/hosts and DNS"},
    KnownFailure{
        "name or service not known",
        "there is no host of that name: check the hostfile, "
        "or /etc/hosts and DNS"},
    KnownFailure{
        "connection refused",
        "nothing listens on its ssh port: is sshd running there, and "
        "on the port that the hostfile says?"},
    KnownFailure{"timed out", "it does not answer: is it up, and does a firewall let ssh through?"},
    KnownFailure{"no route to host", "no network leads there: is it up, and on this network?"},
    KnownFailure{
        "network is unreachable",
        "no network leads there: is it up, and on this "
        "network?"},
};

/// The daemon on a busy host drops connections of which there are too many at once.
constexpr std::array<std::string_view, 3> signs_of_a_busy_host = {
    "kex_exchange_identification", "connection closed by remote host", "connection reset by peer"};

constexpr std::array<std::string_view, 5> signs_of_an_absent_host = {
    "could not resolve", "name or service not known", "connection refused", "timed out",
    "no route to host"};

std::string lower(std::string_view text) {
    std::string result(text);
    std::ranges::transform(result, result.begin(), [](char letter) {
        return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    });
    return result;
}

std::string last_line(std::string_view text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
    const std::size_t begin = text.rfind('\n');
    std::string line(begin == std::string_view::npos ? text : text.substr(begin + 1));
    while (!line.empty() && line.back() == '\r') line.pop_back();
    return line;
}

}  // namespace

Result<LauncherTemplate> parse_launcher_template(std::string_view text) {
    SplitFailure failure;
    LauncherTemplate launcher;
    for (SplitWord& word : split_words(text, Comments::none, failure)) {
        launcher.words.push_back(std::move(word.text));
    }
    if (!failure.problem.empty()) {
        return fail(Errc::argument, "{} at column {}", failure.problem, failure.column + 1);
    }
    const bool has_host = std::ranges::any_of(launcher.words, [](const std::string& word) {
        return word.find("{host}") != std::string::npos;
    });
    if (!has_host) {
        return fail(Errc::argument, "it lacks {{host}}");
    }
    return launcher;
}

std::vector<std::string> remote_command(
    const LauncherTemplate& launcher, const HostMention& host, std::string_view daemon,
    DaemonRole role, std::uint32_t connect_timeout_s
) {
    const std::string task = role == DaemonRole::in_tree ? "--relay-over-stdio" : "--over-stdio";
    std::vector<std::string> words;
    if (launcher.is_simulation) return {std::string(daemon), task, "--as", host.name};
    if (launcher.words.empty()) {
        words = {
            "ssh",
            "-x",
            "-T",
            "-o",
            "BatchMode=yes",
            "-o",
            fmt::format("ConnectTimeout={}", connect_timeout_s)};
        if (host.port != 0) words.insert(words.end(), {"-p", fmt::format("{}", host.port)});
        if (!host.user.empty()) words.insert(words.end(), {"-l", host.user});
        words.insert(words.end(), {"--", host.name});
    } else {
        words = launcher.words;
        for (std::string& word : words) {
            replace_all(word, "{host}", host.name);
            replace_all(word, "{user}", host.user);
            replace_all(word, "{port}", host.port != 0 ? fmt::format("{}", host.port) : "");
        }
    }
    words.push_back(daemon_for(host, daemon));
    words.push_back(task);
    return words;
}

bool is_worth_another_try(const RemoteFailure& failure) {
    const std::string said = lower(failure.words);
    return std::ranges::any_of(signs_of_a_busy_host, [&](std::string_view sign) {
        return said.find(sign) != std::string::npos;
    });
}

bool is_host_absent(const RemoteFailure& failure) {
    const std::string said = lower(failure.words);
    return std::ranges::any_of(signs_of_an_absent_host, [&](std::string_view sign) {
        return said.find(sign) != std::string::npos;
    });
}

std::string explain_remote_failure(
    const LauncherTemplate& launcher, const HostMention& host, const RemoteFailure& failure
) {
    const std::string program = launcher.is_simulation   ? "dlrund"
                                : launcher.words.empty() ? "ssh"
                                                         : launcher.words.front();
    std::string text = fmt::format("cannot start the daemon on {}: ", host.name);
    if (failure.exit_status == status_not_found) {
        return text + fmt::format(
                          "there is no {} on it: install dlrt there in the same place as here, or "
                          "say where with prefix= in the hostfile",
                          failure.daemon_path
                      );
    }
    if (failure.exit_status == status_not_executable) {
        return text + fmt::format("{} can't be executed there", failure.daemon_path);
    }
    const std::string said = lower(failure.words);
    for (const KnownFailure& known : known_failures) {
        if (said.find(known.said) == std::string::npos) continue;
        std::string meaning(known.meaning);
        replace_all(meaning, "{host}", host.name);
        return text + fmt::format("{} ({}: {})", meaning, program, last_line(failure.words));
    }
    if (is_worth_another_try(failure)) {
        return text +
               fmt::format(
                   "it drops connections, also after several tries: raise MaxStartups of its "
                   "sshd, or lower --launch-width ({}: {})",
                   program, last_line(failure.words)
               );
    }
    const std::string line = last_line(failure.words);
    return text + fmt::format(
                      "{} ended with status {}{}{}", program, failure.exit_status,
                      line.empty() ? " and said nothing" : ": ", line
                  );
}

}  // namespace dlrt::launcher
