// SPDX-License-Identifier: Apache-2.0
/// Reads /proc.
#include "runtime/host_identity.hpp"

#include "runtime/base/fd.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace dlrt {
namespace {

std::string read_word(const char* path) {
    const Fd file(::open(path, O_RDONLY | O_CLOEXEC));
    std::array<char, 128> text{};
    if (!file.is_open()) return {};
    const ssize_t length = ::read(file.get(), text.data(), text.size());
    std::string word(text.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
    std::erase_if(word, [](unsigned char c) { return std::isalnum(c) == 0 && c != '-'; });
    return word;
}

/// Number of a namespace; 0 where /proc doesn't tell.
std::uint64_t namespace_number(const char* path) {
    struct stat info {};
    return ::stat(path, &info) == 0 ? info.st_ino : 0;
}

std::string host_name() {
    std::array<char, 256> text{};
    if (::gethostname(text.data(), text.size() - 1) != 0 || text[0] == '\0') return "localhost";
    std::string name(text.data());
    const auto is_odd = [](unsigned char c) { return std::isgraph(c) == 0 || c == ';'; };
    std::replace_if(name.begin(), name.end(), is_odd, '?');
    return name;
}

}  // namespace

HostIdentity find_host_identity() {
    HostIdentity identity;
    identity.name = host_name();
    const std::string boot = read_word("/proc/sys/kernel/random/boot_id");
    identity.key = fmt::format(
        "{}/{}/{}", boot.empty() ? identity.name : boot, namespace_number("/proc/self/ns/net"),
        namespace_number("/proc/self/ns/user")
    );
    return identity;
}

}  // namespace dlrt
