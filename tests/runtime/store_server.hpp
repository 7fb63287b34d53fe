// SPDX-License-Identifier: Apache-2.0
/// A key-value store for ranks that are forked children of the test: the parent keeps the values,
/// a get waits for its put.
#pragma once

#include "runtime/base/error_text.hpp"
#include "runtime/wireup/control_socket.hpp"
#include "runtime/wireup_source.hpp"
#include "tests/runtime/forked.hpp"

#include <array>
#include <map>
#include <string>
#include <sys/socket.h>
#include <vector>

namespace dlrt::test {

class StoreServer {
  public:
    explicit StoreServer(std::uint32_t size) : size_(size) {}

    /// Starts a process that is that rank; `body` gets its end of the store.
    template<typename Body>
    void start(std::uint32_t rank, Body body) {
        std::array<int, 2> ends{};
        if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) abort();
        clients_.push_back({Fd(ends[0]), {}});
        children_.push_back(fork_child([&] {
            for (const Client& client : clients_) ::close(client.socket.get());
            return body(make_store(rank, ends[1]));
        }));
        ::close(ends[1]);
    }

    /// Kills the one that was started as that number, once it has ended by itself or not.
    [[nodiscard]] pid_t pid(std::size_t index) const { return children_[index].pid; }

    std::vector<int> serve() {
        std::vector<int> statuses;
        for (const Child& child : children_) {
            while (!child.has_ended()) serve_once(child.descriptor.get());
            statuses.push_back(child.status());
        }
        children_.clear();
        clients_.clear();
        return statuses;
    }

    /// Changes a value on its way in, such as to play another host.
    std::function<void(const std::string& key, std::string& value)> on_put;

  private:
    struct Client {
        Fd socket;
        std::string wanted;
    };

    /// A put is an Address-like pair in one message, a get a Refused with the key; any messages do.
    [[nodiscard]] KeyValueStore make_store(std::uint32_t rank, int socket) const {
        KeyValueStore store;
        store.rank = rank;
        store.size = size_;
        store.put = [socket](const std::string& key, const std::string& value) {
            const auto bytes = std::as_bytes(std::span(value));
            return send_message(socket, PutAddress{key, {bytes.begin(), bytes.end()}});
        };
        store.get = [socket](const std::string& key) -> Result<std::string> {
            if (Status status = send_message(socket, GetAddress{0, key}); !status.ok()) {
                return status;
            }
            auto answer = receive_message(socket, 20'000);
            if (!answer) return answer.error();
            const auto& bytes = std::get<Address>(answer->message).address;
            return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        };
        return store;
    }

    void serve_once(int child_descriptor) {
        std::vector<pollfd> entries;
        for (const Client& client : clients_) entries.push_back({client.socket.get(), POLLIN, 0});
        entries.push_back({child_descriptor, POLLIN, 0});
        ::poll(entries.data(), entries.size(), -1);
        for (std::size_t i = 0; i < clients_.size(); ++i) {
            if (entries[i].revents != 0) handle(clients_[i]);
        }
        for (Client& client : clients_) answer(client);
    }

    void handle(Client& client) {
        const auto received = receive_message(client.socket.get(), 0);
        if (!received) {
            client.socket.reset();
        } else if (const auto* put = std::get_if<PutAddress>(&received->message)) {
            std::string value(
                reinterpret_cast<const char*>(put->address.data()), put->address.size()
            );
            if (on_put) on_put(put->transport, value);
            values_[put->transport] = value;
        } else if (const auto* get = std::get_if<GetAddress>(&received->message)) {
            client.wanted = get->transport;
        }
    }

    void answer(Client& client) {
        const auto found = values_.find(client.wanted);
        if (client.wanted.empty() || found == values_.end()) return;
        const auto bytes = std::as_bytes(std::span(found->second));
        static_cast<void>(send_message(
            client.socket.get(), Address{0, client.wanted, {bytes.begin(), bytes.end()}}
        ));
        client.wanted.clear();
    }

    std::uint32_t size_;
    std::map<std::string, std::string> values_;
    std::vector<Client> clients_;
    std::vector<Child> children_;
};

}  // namespace dlrt::test
