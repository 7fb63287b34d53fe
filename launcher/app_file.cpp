// SPDX-License-Identifier: Apache-2.0
#include "launcher/app_file.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/base/fd.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

constexpr std::size_t file_bytes_max = 16u << 20;
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

}  // namespace

Result<std::string> read_app_file(const std::string& path) {
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat facts = {};
    if (!file.is_open() || ::fstat(file.get(), &facts) != 0) {
        return fail_errno(errno, "--app: cannot open '{}'", path);
    }
    if (S_ISDIR(facts.st_mode)) {
        return fail(Errc::argument, "--app: '{}' is a folder; valid is a file", path);
    }
    std::string text;
    char part[4096];
    while (true) {
        const ssize_t got = ::read(file.get(), part, sizeof part);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail_errno(errno, "--app: cannot read '{}'", path);
        if (got == 0) return text;
        text.append(part, static_cast<std::size_t>(got));
        if (text.size() > file_bytes_max) {
            return fail(
                Errc::argument, "--app: '{}' is too long; valid are {} MiB", path,
                file_bytes_max >> 20
            );
        }
    }
}

Result<std::vector<AppLine>> parse_app_text(std::string_view path, std::string_view text) {
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    std::vector<AppLine> lines;
    std::size_t number = 0;
    while (!text.empty()) {
        ++number;
        const std::size_t length = std::min(text.find('\n'), text.size());
        SplitFailure failure;
        AppLine line{number, split_words(text.substr(0, length), Comments::hash, failure)};
        if (!failure.problem.empty()) {
            return fail(
                Errc::argument, "{}:{}:{}: {}", path, number, failure.column + 1, failure.problem
            );
        }
        for (const SplitWord& word : line.words) {
            if (word.is_quoted || word.text != ":") continue;
            return fail(
                Errc::argument,
                "{}:{}:{}: ':' separates programs on the command line; here each "
                "has a line of its own",
                path, number, word.column + 1
            );
        }
        if (!line.words.empty()) lines.push_back(std::move(line));
        text.remove_prefix(std::min(length + 1, text.size()));
    }
    if (lines.empty()) return fail(Errc::argument, "--app: '{}' names no program", path);
    return lines;
}

}  // namespace dlrt::launcher
