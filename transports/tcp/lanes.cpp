// SPDX-License-Identifier: Apache-2.0
#include "transports/tcp/lanes.hpp"

#include "transports/tcp/wire.hpp"

#include <algorithm>
#include <string_view>

namespace dlrt::tcp {
namespace {

std::string_view without_port(std::string_view end) {
    return end.substr(0, end.rfind(':'));
}

const InterfaceAddress* find_interface(
    const std::vector<InterfaceAddress>& present, std::string_view end
) {
    const auto found = std::ranges::find_if(present, [end](const InterfaceAddress& one) {
        return without_port(one.address.text()) == without_port(end);
    });
    return found != present.end() ? &*found : nullptr;
}

}  // namespace

std::optional<SocketAddress> find_source(const SocketAddress& target) {
    const Fd socket(::socket(target.storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!socket.is_open()) return std::nullopt;
    if (::connect(socket.get(), target.get(), target.length) != 0) return std::nullopt;
    SocketAddress source;
    source.length = sizeof source.storage;
    auto* const place = reinterpret_cast<sockaddr*>(&source.storage);
    if (::getsockname(socket.get(), place, &source.length) != 0) return std::nullopt;
    return source;
}

std::vector<SocketAddress> choose_lanes(
    const LaneWish& wish, const std::vector<SocketAddress>& of_peer,
    const std::vector<InterfaceAddress>& present,
    const std::function<std::optional<SocketAddress>(const SocketAddress&)>& source_of
) {
    const InterfaceAddress* const first = find_interface(present, wish.first.own);
    if (first == nullptr) return {};
    std::vector<SocketAddress> lanes;
    const auto same = std::ranges::find_if(of_peer, [&](const SocketAddress& address) {
        return without_port(address.text()) == without_port(wish.first.other);
    });
    if (same != of_peer.end()) lanes.assign(wish.sockets - 1, *same);
    std::vector<std::string_view> used = {first->interface};
    for (const SocketAddress& address : of_peer) {
        if (used.size() == networks_max) break;
        const auto source = source_of(address);
        if (!source) continue;
        const InterfaceAddress* const other = find_interface(present, source->text());
        if (other == nullptr || other->is_loopback || other->is_bridge) continue;
        if (std::ranges::find(used, other->interface) != used.end()) continue;
        used.push_back(other->interface);
        lanes.insert(lanes.end(), wish.sockets, address);
    }
    return lanes;
}

}  // namespace dlrt::tcp
