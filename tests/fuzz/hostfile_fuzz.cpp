// SPDX-License-Identifier: Apache-2.0
/// Any bytes as a hostfile: refused with one printable line, or hosts that mean the same when they
/// are written out plainly and read again.
#include "launcher/hostfile.hpp"
#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <cstdlib>

namespace {

using dlrt::launcher::HostMention;

constexpr std::size_t message_bytes_max = 400;

std::string written_plainly(const std::vector<HostMention>& mentions) {
    std::string text;
    for (const HostMention& host : mentions) {
        text += fmt::format("[{}]", host.name);
        if (host.name.find(':') == std::string::npos) {
            text.resize(text.size() - host.name.size() - 2);
            text += host.name;
        }
        if (host.slots) text += fmt::format(" slots={}", *host.slots);
        if (host.max_slots) text += fmt::format(" max_slots={}", *host.max_slots);
        if (!host.user.empty()) text += " user=" + host.user;
        if (host.port != 0) text += fmt::format(" port={}", host.port);
        if (!host.prefix.empty()) text += fmt::format(" prefix=\"{}\"", host.prefix);
        text += '\n';
    }
    return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto mentions = dlrt::launcher::parse_hostfile(text, "hosts");
    if (!mentions) {
        const std::string& line = dlrt::last_error_text();
        const bool is_printable = std::ranges::all_of(line, [](char letter) {
            return letter >= ' ' && letter <= '~';
        });
        if (!is_printable || !line.starts_with("hosts:") || line.size() > message_bytes_max) {
            std::abort();
        }
        return 0;
    }
    if (mentions->empty()) std::abort();
    // An unquoted folder may hold a quote, which has no plain form.
    const bool has_plain_form = std::ranges::none_of(*mentions, [](const HostMention& host) {
        return host.prefix.find('"') != std::string::npos;
    });
    if (!has_plain_form) return 0;
    const auto again = dlrt::launcher::parse_hostfile(written_plainly(*mentions), "hosts");
    if (!again || *again != *mentions) std::abort();
    return 0;
}
