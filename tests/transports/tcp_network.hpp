// SPDX-License-Identifier: Apache-2.0
/// TCP endpoints of one process that know each other's addresses, on the loopback.
#pragma once

#include "runtime/base/clock.hpp"
#include "transports/tcp/tcp.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

namespace dlrt::testing {

inline tcp::Secret secret_of(unsigned char letter) {
    tcp::Secret secret;
    secret.fill(std::byte{letter});
    return secret;
}

class TcpNetwork {
  public:
    explicit TcpNetwork(std::uint32_t size, std::uint32_t connect_timeout_ms = 20'000)
        : addresses_(size), connect_timeout_ms_(connect_timeout_ms) {
        for (std::uint32_t rank = 0; rank < size; ++rank) add(rank, secret_of('s'));
    }

    /// Another of that number, in its place.
    void replace(std::uint32_t rank, const tcp::Secret& secret) {
        endpoints_[rank] = open(rank, secret);
    }
    [[nodiscard]] std::uint32_t size() const {
        return static_cast<std::uint32_t>(addresses_.size());
    }
    [[nodiscard]] tcp::TcpEndpoint& endpoint(std::uint32_t rank) { return *endpoints_[rank]; }
    [[nodiscard]] std::vector<tcp::SocketAddress>& addresses(std::uint32_t rank) {
        return addresses_[rank];
    }

    /// To which of a peer's addresses further connections are made.
    std::vector<tcp::SocketAddress> lanes;
    /// What each has been told by the others' connect_back, where that can be passed on.
    std::map<std::uint32_t, std::deque<tcp::Options::ConnectBack>> connect_backs;
    bool can_connect_back = false;
    /// Of endpoints that are made from now on.
    std::uint32_t loss_delay_ms = 0;
    bool watches_awaited = false;

    /// Each has said something to each other, and nothing of it is left.
    void connect_all() {
        for (std::uint32_t source = 0; source < size(); ++source) {
            for (std::uint32_t target = 0; target < size(); ++target) {
                if (source != target) say(source, target, 0);
            }
        }
    }
    /// One message of 8 bytes, until it has arrived.
    void say(std::uint32_t source, std::uint32_t target, std::uint64_t what) {
        const Bytes payload = std::as_bytes(std::span(&what, 1));
        const std::uint64_t begin_ns = monotonic_ns();
        bool is_said = false;
        std::array<Arrival, 1> arrivals;
        for (;;) {
            if (!is_said) {
                is_said = endpoint(source).post_eager(PeerIndex{target}, {1, 2}, payload) ==
                          Post::done;
            }
            static_cast<void>(endpoint(source).poll({}));
            if (endpoint(target).poll(arrivals) == 1) break;
            if (monotonic_ns() - begin_ns > limit_ns) throw std::runtime_error("not said in time");
        }
        static_cast<void>(endpoint(target).poll({}));
    }

    static constexpr std::uint64_t limit_ns = 20'000'000'000;

  private:
    void add(std::uint32_t rank, const tcp::Secret& secret) {
        endpoints_.push_back(open(rank, secret));
    }
    [[nodiscard]] std::unique_ptr<tcp::TcpEndpoint> open(
        std::uint32_t rank, const tcp::Secret& secret
    ) {
        tcp::Options options;
        options.identity = {rank, size(), secret};
        options.listener = std::move(*tcp::listen_anywhere(tcp::Family::any, {}));
        options.addresses_of = [this](std::uint32_t peer) { return addresses_[peer]; };
        options.connect_timeout_ms = connect_timeout_ms_;
        options.loss_delay_ms = loss_delay_ms;
        options.watches_awaited = watches_awaited;
        if (can_connect_back) {
            options.connect_back = [this, rank](std::uint32_t peer, const std::string& failure) {
                connect_backs[peer].push_back({rank, failure});
                return true;
            };
            options.take_connect_back = [this, rank] { return take_connect_back(rank); };
        }
        options.own_addresses = {*tcp::make_address("192.0.2.77", 4000)};
        options.lanes_of = [this](const tcp::Ends&, const std::vector<tcp::SocketAddress>&) {
            return lanes;
        };
        addresses_[rank] = {*tcp::make_address("127.0.0.1", options.listener.port)};
        return std::move(*tcp::open_endpoint(std::move(options)));
    }

    [[nodiscard]] std::optional<tcp::Options::ConnectBack> take_connect_back(std::uint32_t rank) {
        auto& waiting = connect_backs[rank];
        if (waiting.empty()) return std::nullopt;
        tcp::Options::ConnectBack first = std::move(waiting.front());
        waiting.pop_front();
        return first;
    }

    std::vector<std::vector<tcp::SocketAddress>> addresses_;
    std::uint32_t connect_timeout_ms_;
    std::vector<std::unique_ptr<tcp::TcpEndpoint>> endpoints_;
};

}  // namespace dlrt::testing
