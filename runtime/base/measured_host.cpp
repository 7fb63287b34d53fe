// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/measured_host.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/base/fd.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <set>
#include <unistd.h>

#include <fmt/ranges.h>

namespace dlrt {
namespace {

constexpr const char* cpuinfo_path = "/proc/cpuinfo";
constexpr std::string_view model_field = "model name";
constexpr std::size_t model_length_max = 256;

/// Calls `take` with name and value of each whole line "name<blanks>: value".
template<typename Take>
void for_each_field(std::string_view text, Take take) {
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        if (end == text.npos) return;
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end + 1);
        const std::size_t colon = line.find(':');
        if (colon == line.npos) continue;
        const std::string_view name = line.substr(0, colon);
        const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
        take(
            name.substr(0, name.find_last_not_of(" \t") + 1),
            begin == line.npos ? std::string_view() : line.substr(begin)
        );
    }
}

std::string printable(std::string_view text) {
    std::string out(text.substr(0, std::min(text.size(), model_length_max)));
    std::ranges::replace_if(
        out, [](char c) { return c < ' ' || c > '~'; }, '?'
    );
    return out;
}

/// All of the file, or as much as holds a model name: with many cpus the rest costs milliseconds.
Result<std::string> read_cpuinfo() {
    const Fd file(::open(cpuinfo_path, O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) return fail_errno(errno, "'{}' cannot be opened", cpuinfo_path);
    std::string text;
    std::array<char, 4096> piece;
    while (true) {
        const ssize_t count = ::read(file.get(), piece.data(), piece.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return fail_errno(errno, "'{}' cannot be read", cpuinfo_path);
        if (count == 0) return text;
        text.append(piece.data(), static_cast<std::size_t>(count));
        const std::size_t found = text.find(model_field);
        if (found != text.npos && text.find('\n', found) != text.npos) return text;
    }
}

}  // namespace

std::string cpu_model_in(std::string_view cpuinfo) {
    std::string model;
    std::set<std::string> kinds;
    std::string_view implementer;
    for_each_field(cpuinfo, [&](std::string_view name, std::string_view value) {
        if (name == model_field && model.empty()) model = printable(value);
        if (name == "CPU implementer") implementer = value;
        if (name != "CPU part" || implementer.empty()) return;
        kinds.insert(fmt::format("implementer {} part {}", implementer, value));
    });
    return model.empty() ? printable(fmt::format("{}", fmt::join(kinds, ", "))) : model;
}

Result<MeasuredHost> find_measured_host() {
    const Result<std::string> text = read_cpuinfo();
    if (!text) return text.error();
    MeasuredHost host;
    host.cpu_model = cpu_model_in(*text);
    if (host.cpu_model.empty()) {
        return fail(Errc::unsupported, "'{}' names no cpu model", cpuinfo_path);
    }
    const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
    if (online < 1) return fail_errno(errno, "the number of online cpus is unknown");
    host.online_cpus = static_cast<std::uint32_t>(online);
    return host;
}

}  // namespace dlrt
