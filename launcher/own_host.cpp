// SPDX-License-Identifier: Apache-2.0
#include "launcher/own_host.hpp"

#include "launcher/host_facts.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cstring>
#include <fstream>
#include <ifaddrs.h>
#include <iterator>
#include <netinet/in.h>
#include <optional>
#include <sys/socket.h>
#include <utility>

namespace dlrt::launcher {
namespace {

constexpr std::string_view loopback_network = "127.";

std::string text_of(int family, const void* address) {
    std::array<char, INET6_ADDRSTRLEN> text = {};
    if (::inet_ntop(family, address, text.data(), text.size()) == nullptr) return {};
    return text.data();
}

/// The one spelling of an address; nothing for what is none. The zone of IPv6 is left out.
std::optional<std::string> comparable_address(std::string_view text) {
    const std::string address(text.substr(0, text.find('%')));
    in_addr four = {};
    if (::inet_pton(AF_INET, address.c_str(), &four) == 1) return text_of(AF_INET, &four);
    in6_addr six = {};
    if (::inet_pton(AF_INET6, address.c_str(), &six) != 1) return {};
    if (IN6_IS_ADDR_V4MAPPED(&six)) return text_of(AF_INET, &six.s6_addr[12]);
    return text_of(AF_INET6, &six);
}

/// The words of each line of a system's file, without comments.
std::vector<std::vector<std::string_view>> words_by_line(std::string_view text) {
    std::vector<std::vector<std::string_view>> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, std::min(text.find_first_of("#;\n"), end));
        text.remove_prefix(std::min(end + 1, text.size()));
        auto& words = lines.emplace_back();
        while (true) {
            line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
            if (line.empty()) break;
            const std::size_t length = std::min(line.find_first_of(" \t\r"), line.size());
            words.push_back(line.substr(0, length));
            line.remove_prefix(length);
        }
    }
    return lines;
}

std::string content_of(const char* path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> interface_addresses() {
    std::vector<std::string> addresses;
    ifaddrs* first = nullptr;
    if (::getifaddrs(&first) != 0) return addresses;
    for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
        if (entry->ifa_addr == nullptr) continue;
        if (entry->ifa_addr->sa_family == AF_INET) {
            sockaddr_in address = {};
            std::memcpy(&address, entry->ifa_addr, sizeof address);
            addresses.push_back(text_of(AF_INET, &address.sin_addr));
        } else if (entry->ifa_addr->sa_family == AF_INET6) {
            sockaddr_in6 address = {};
            std::memcpy(&address, entry->ifa_addr, sizeof address);
            addresses.push_back(text_of(AF_INET6, &address.sin6_addr));
        }
    }
    ::freeifaddrs(first);
    return addresses;
}

}  // namespace

std::string comparable_host_name(std::string_view name) {
    if (name.size() > 1 && name.ends_with('.')) name.remove_suffix(1);
    std::string result(name);
    for (char& letter : result) {
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    }
    return result;
}

OwnHost::OwnHost(
    std::string name, const std::vector<std::string>& addresses, std::string_view hosts_file,
    std::string_view resolver_file
)
    : name_(std::move(name)) {
    for (const std::string& address : addresses) {
        if (auto text = comparable_address(address)) addresses_.push_back(std::move(*text));
    }
    const std::string own = comparable_host_name(name_);
    const bool has_domain = own.find('.') != std::string::npos;
    names_ = {"localhost", "localhost.localdomain", own, own.substr(0, own.find('.'))};
    for (const auto& words : words_by_line(hosts_file)) {
        if (words.empty() || !is_own_address(words[0])) continue;
        for (std::size_t i = 1; i < words.size(); ++i) {
            names_.push_back(comparable_host_name(words[i]));
        }
    }
    for (const auto& words : words_by_line(resolver_file)) {
        const bool lists_domains = !words.empty() && (words[0] == "search" || words[0] == "domain");
        for (std::size_t i = 1; lists_domains && !has_domain && i < words.size(); ++i) {
            names_.push_back(own + '.' + comparable_host_name(words[i]));
        }
    }
}

bool OwnHost::is_own_address(std::string_view text) const {
    const std::optional<std::string> address = comparable_address(text);
    if (!address) return false;
    // The kernel takes the whole network for its own.
    if (address->starts_with(loopback_network) || *address == "::1") return true;
    return std::ranges::find(addresses_, *address) != addresses_.end();
}

bool OwnHost::is_called(std::string_view name) const {
    return std::ranges::find(names_, comparable_host_name(name)) != names_.end() ||
           is_own_address(name);
}

OwnHost find_own_host() {
    return {
        local_host_name(), interface_addresses(), content_of("/etc/hosts"),
        content_of("/etc/resolv.conf")};
}

}  // namespace dlrt::launcher
