// SPDX-License-Identifier: Apache-2.0
/// A daemon for one host in the words of format.md, single-threaded, and ranks that are forked
/// children of the test. It serves while the ranks run.
#pragma once

#include "runtime/wireup/control_socket.hpp"
#include "runtime/wireup/host_segment.hpp"
#include "runtime/wireup/job_map.hpp"
#include "tests/runtime/forked.hpp"

#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <poll.h>
#include <set>
#include <stdlib.h>
#include <string>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <vector>

namespace dlrt::test {

class FakeDaemon {
  public:
    explicit FakeDaemon(std::uint32_t size) {
        map.job_id = "fake-job";
        map.hosts.push_back({"here", 2});
        for (std::uint32_t rank = 0; rank < size; ++rank) map.ranks.push_back({0, rank, 0, {}});
        std::vector<std::uint32_t> ranks(size);
        std::iota(ranks.begin(), ranks.end(), 0u);
        map_file = std::move(*create_job_map_file(map));
        segment.emplace(std::move(*HostSegment::create(
            {.job_id = map.job_id, .usable_cpu_count = 2, .world_ranks = ranks}
        )));
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
                                          std::to_string(segment->descriptor()) + "," +
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
        std::vector<int> statuses;
        for (const Child& child : children) {
            while (!child.has_ended()) serve_once(child.descriptor.get(), -1);
            // What a child said last may arrive between the last poll and the news of its end.
            while (serve_once(-1, 0)) {}
            statuses.push_back(child.status());
        }
        children.clear();
        return statuses;
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
    std::optional<HostSegment> segment;
    std::vector<Fd> inherited, doorbells;
    std::vector<Connection> connections;
    std::vector<Child> children;
    std::set<std::uint32_t> claimed;
    std::vector<Abort> aborts;
    int hello_count = 0;
    int reattach_count = 0;
    int finalized_count = 0;

  private:
    /// Whether anything happened within the time.
    bool serve_once(int child_descriptor, int wait_ms) {
        std::vector<pollfd> entries;
        for (const Connection& connection : connections) {
            entries.push_back({is_silent ? -1 : connection.socket.get(), POLLIN, 0});
        }
        const std::size_t known = entries.size();
        entries.push_back({listener.get(), POLLIN, 0});
        entries.push_back({child_descriptor, POLLIN, 0});
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
            greet(socket, *hello);
        } else if (const auto* abort_message = std::get_if<Abort>(&received->message)) {
            aborts.push_back(*abort_message);
        } else if (std::holds_alternative<Finalized>(received->message)) {
            ++finalized_count;
            claimed.clear();
        } else if (const auto* ask = std::get_if<GetDoorbell>(&received->message)) {
            const std::array<int, 1> bell = {doorbells[ask->local_rank].get()};
            static_cast<void>(send_message(socket, DoorbellReply{ask->local_rank}, bell));
        }
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
            map_file.get(), segment->descriptor(), doorbells[hello.rank].get()};
        const auto count = hello.reattach ? descriptors.size() : 0;
        static_cast<void>(send_message(socket, Welcome{}, std::span(descriptors).first(count)));
    }
};

}  // namespace dlrt::test
