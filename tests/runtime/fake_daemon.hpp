// SPDX-License-Identifier: Apache-2.0
/// The daemons of one or several hosts in the words of format.md, single-threaded in one, and ranks
/// that are forked children of the test. It serves while the ranks run.
#pragma once

#include "runtime/wireup/control_socket.hpp"
#include "runtime/wireup/host_segment.hpp"
#include "runtime/wireup/job_map.hpp"
#include "tests/runtime/forked.hpp"

#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <poll.h>
#include <set>
#include <stdlib.h>
#include <string>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace dlrt::test {

class FakeDaemon {
  public:
    explicit FakeDaemon(std::uint32_t size, std::uint32_t host_count = 1) {
        map.job_id = "fake-job";
        std::vector<std::vector<std::uint32_t>> ranks(host_count);
        for (std::uint32_t rank = 0; rank < size; ++rank) {
            const std::uint32_t host = rank * host_count / size;
            map.ranks.push_back({host, static_cast<std::uint32_t>(ranks[host].size()), 0, {}});
            ranks[host].push_back(rank);
        }
        for (std::uint32_t host = 0; host < host_count; ++host) {
            map.hosts.push_back({host == 0 ? "here" : "host" + std::to_string(host), 2});
            segments.push_back(std::move(*HostSegment::create(
                {.job_id = map.job_id,
                 .host_index = host,
                 .usable_cpu_count = 2,
                 .world_ranks = ranks[host],
                 .job_size = host_count > 1 ? size : 0}
            )));
            segments.back().set_wake_descriptor([this, own = ranks[host]](std::uint32_t local) {
                const std::uint64_t one = 1;
                [[maybe_unused]] const ssize_t written = ::write(
                    doorbells[own[local]].get(), &one, sizeof one
                );
            });
        }
        map_file = std::move(*create_job_map_file(map));
        segment = &segments.front();
        socket_name = "dlrt-test-" + *random_hex(8);
        listener = std::move(*listen_abstract(socket_name));
        for (std::uint32_t rank = 0; rank < size; ++rank) {
            std::array<int, 2> ends{};
            if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) abort();
            inherited.emplace_back(ends[1]);
            doorbells.emplace_back(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
            connections.push_back({Fd(ends[0]), rank});
        }
    }

    /// Called in a forked child: what dlrun would have set for the rank.
    void set_environment(std::uint32_t rank) const {
        const auto set = [](const char* name, const std::string& value) {
            ::setenv(name, value.c_str(), 1);
        };
        set(environment::job_id, map.job_id);
        set(environment::rank, std::to_string(rank));
        set(environment::size, std::to_string(map.size()));
        set(environment::token, token);
        set(environment::daemon_socket, socket_name);
        set(environment::descriptors, std::to_string(inherited[rank].get()) + "," +
                                          std::to_string(map_file.get()) + "," +
                                          std::to_string(segment_of(rank).descriptor()) + "," +
                                          std::to_string(doorbells[rank].get()));
    }

    /// Starts a rank that runs `body` in the environment above.
    template<typename Body>
    void start(std::uint32_t rank, Body body) {
        children.push_back(fork_child([&] {
            for (const Connection& connection : connections) ::close(connection.socket.get());
            ::close(listener.get());
            set_environment(rank);
            return body();
        }));
    }

    /// Answers until all children have ended; returns their exit statuses in order of start.
    std::vector<int> serve() {
        std::vector<bool> has_ended(children.size());
        for (std::size_t left = children.size(); left > 0;) {
            std::vector<int> living;
            for (std::size_t i = 0; i < children.size(); ++i) {
                if (has_ended[i]) continue;
                if (!children[i].has_ended()) {
                    living.push_back(children[i].descriptor.get());
                    continue;
                }
                has_ended[i] = true;
                --left;
                if (on_end) on_end(i);
            }
            serve_once(living, left > 0 ? -1 : 0);
        }
        // What a child said last may arrive between the last poll and the news of its end.
        while (serve_once({}, 0)) {}
        std::vector<int> statuses;
        for (const Child& child : children) statuses.push_back(child.status());
        children.clear();
        return statuses;
    }
    [[nodiscard]] const HostSegment& segment_of(std::uint32_t rank) const {
        return segments[map.ranks[rank].host_index];
    }

    struct Connection {
        Fd socket;
        std::optional<std::uint32_t> rank;
    };
    JobMap map;
    std::string token = "secret-token";
    std::string socket_name;
    bool is_silent = false;
    Fd map_file, listener;
    std::vector<HostSegment> segments;  ///< By host.
    HostSegment* segment = nullptr;     ///< Of the first.
    /// What ranks have put: "rank/transport".
    std::map<std::string, std::vector<std::byte>> addresses;
    /// Called when a child has ended, with its number in the order of start.
    std::function<void(std::size_t)> on_end;
    std::vector<Fd> inherited, doorbells;
    std::vector<Connection> connections;
    std::vector<Child> children;
    std::set<std::uint32_t> claimed;
    std::vector<Abort> aborts;
    int hello_count = 0;
    int reattach_count = 0;
    int finalized_count = 0;

  private:
    std::vector<std::pair<int, GetAddress>> questions;

    /// Whether anything happened within the time.
    bool serve_once(const std::vector<int>& child_descriptors, int wait_ms) {
        std::vector<pollfd> entries;
        for (const Connection& connection : connections) {
            entries.push_back({is_silent ? -1 : connection.socket.get(), POLLIN, 0});
        }
        const std::size_t known = entries.size();
        entries.push_back({listener.get(), POLLIN, 0});
        for (const int child : child_descriptors) entries.push_back({child, POLLIN, 0});
        if (::poll(entries.data(), entries.size(), wait_ms) <= 0) return false;
        for (std::size_t i = 0; i < known; ++i) {
            if (entries[i].revents == 0) continue;
            handle(connections[i]);
        }
        if (entries[known].revents != 0) {
            connections.push_back({std::move(*accept_connection(listener.get(), 1000)), {}});
        }
        return true;
    }

    void handle(Connection& connection) {
        const auto received = receive_message(connection.socket.get(), 0);
        const int socket = connection.socket.get();
        if (!received) {
            connection.socket.reset();
        } else if (const auto* hello = std::get_if<Hello>(&received->message)) {
            connection.rank = hello->rank;
            greet(socket, *hello);
        } else if (const auto* abort_message = std::get_if<Abort>(&received->message)) {
            aborts.push_back(*abort_message);
        } else if (std::holds_alternative<Finalized>(received->message)) {
            ++finalized_count;
            if (connection.rank) claimed.erase(*connection.rank);
        } else if (const auto* ask = std::get_if<GetDoorbell>(&received->message)) {
            const std::uint32_t host = connection.rank ? map.ranks[*connection.rank].host_index : 0;
            const std::uint32_t rank = map.ranks_on_host(host)[ask->local_rank];
            const std::array<int, 1> bell = {doorbells[rank].get()};
            static_cast<void>(send_message(socket, DoorbellReply{ask->local_rank}, bell));
        } else if (const auto* put = std::get_if<PutAddress>(&received->message)) {
            addresses[std::to_string(*connection.rank) + "/" + put->transport] = put->address;
            answer_all();
        } else if (const auto* get = std::get_if<GetAddress>(&received->message)) {
            questions.emplace_back(socket, *get);
            answer_all();
        }
    }

    /// The questions whose answers are there.
    void answer_all() {
        std::erase_if(questions, [this](const auto& question) {
            const auto& [socket, get] = question;
            const auto found = addresses.find(std::to_string(get.rank) + "/" + get.transport);
            if (found == addresses.end()) return false;
            const Address answer{get.rank, get.transport, found->second};
            static_cast<void>(send_message(socket, answer));
            return true;
        });
    }

    void greet(int socket, const Hello& hello) {
        ++hello_count;
        if (hello.reattach) ++reattach_count;
        std::string reason;
        if (hello.token != token) reason = "wrong token";
        if (reason.empty() && !claimed.insert(hello.rank).second) reason = "claimed already";
        if (!reason.empty()) {
            static_cast<void>(send_message(socket, Refused{reason}));
            return;
        }
        const std::array<int, 3> descriptors = {
            map_file.get(), segment_of(hello.rank).descriptor(), doorbells[hello.rank].get()};
        const auto count = hello.reattach ? descriptors.size() : 0;
        static_cast<void>(send_message(socket, Welcome{}, std::span(descriptors).first(count)));
    }
};

}  // namespace dlrt::test
