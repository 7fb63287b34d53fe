// SPDX-License-Identifier: Apache-2.0
/// Claims of a rank that come over several connections, in the order in which they were made.
#include "launcher/control_server.hpp"

#include "runtime/wireup/control_socket.hpp"

#include <array>
#include <chrono>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

void say(const Fd& socket, const ControlMessage& message) {
    REQUIRE(send_message(socket.get(), message).ok());
}

Hello hello_of(pid_t pid, bool is_reattach) {
    return {control_protocol_version, 0, pid, "token", is_reattach};
}

/// As many messages as keep the server from what comes after them for some rounds of its loop.
void say_much(const Fd& socket) {
    for (int i = 0; i < 20; ++i) say(socket, PutAddress{"tcp", {}});
}

std::string answer_on(const Fd& socket) {
    const auto received = receive_message(socket.get(), 0);
    if (!received) return "nothing";
    if (const auto* refused = std::get_if<Refused>(&received->message)) return refused->reason;
    if (std::holds_alternative<DoorbellReply>(received->message)) return "doorbell";
    if (const auto* request = std::get_if<ConnectBack>(&received->message)) {
        return fmt::format(
            "rank {} by {}: {}", request->rank, request->transport, request->failure
        );
    }
    return std::holds_alternative<Welcome>(received->message) ? "welcome" : "something else";
}

/// Of a job of two ranks, each on a host of its own, the first; and the rank's end of its control
/// socket.
struct Host {
    EventLoop loop;
    Fd rank_end;
    PreparedJob job;
    std::vector<RankConnectBack> passed_on;
    ControlServer server;

    Host()
        : job(make_job(rank_end)),
          server(
              loop, job,
              {.on_abort = [](auto, auto, const auto&) {},
               .on_address = [](const auto&) {},
               .on_address_wanted = [](const auto&) {},
               .on_connect_back = [this](const auto& request) { passed_on.push_back(request); },
               .on_departed = [](auto) {}}
          ) {
        REQUIRE(server.listen().ok());
    }
    static PreparedJob make_job(Fd& rank_end) {
        std::array<int, 2> pair{};
        REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) == 0);
        rank_end = Fd(pair[0]);
        JobMap map;
        map.job_id = "control-" + *random_hex(4);
        map.hosts = {{"here", 1}, {"there", 1}};
        map.ranks.resize(2);
        map.ranks[1].host_index = 1;
        Fd map_file = *create_job_map_file(map);
        HostSegment segment = *HostSegment::create({map.job_id, 0, 1, std::array{0U}, 0});
        std::vector<RankEnds> ends(1);
        ends[0].control = Fd(pair[1]);
        ends[0].doorbell = Fd(::dup(map_file.get()));
        std::string name = daemon_socket_name(map.job_id, 0);
        return {
            std::move(map),  0, "token", std::move(name), std::move(map_file), std::move(segment),
            std::move(ends), {}};
    }
    /// Until the server has said something on this connection.
    void serve_until_answer_on(const Fd& socket) {
        DescriptorWatch answer(loop, ::dup(socket.get()));
        Timer limit(loop);
        answer.when_readable([this] { loop.stop(); });
        limit.start(std::chrono::seconds(20), [this] { loop.stop(); });
        loop.run();
    }
    /// Until the server has taken all that was said on this connection, where it is still open.
    void serve_all_on(const Fd& socket) {
        say(socket, GetDoorbell{0});
        serve_until_answer_on(socket);
        CHECK(answer_on(socket) == "doorbell");
    }
    [[nodiscard]] Fd reattach() const { return *connect_abstract(job.daemon_socket_name); }
};

}  // namespace

TEST_CASE("control: who comes after a rank was left is let in over whatever way", "[launcher]") {
    Host host;
    say(host.rank_end, hello_of(::getpid(), false));
    host.serve_until_answer_on(host.rank_end);
    REQUIRE(answer_on(host.rank_end) == "welcome");
    say_much(host.rank_end);
    say(host.rank_end, Finalized{});
    const Fd second = host.reattach();
    say(second, hello_of(::getppid(), true));
    host.serve_until_answer_on(second);
    CHECK(answer_on(second) == "welcome");
    host.serve_all_on(host.rank_end);
    CHECK(host.server.is_claimed(0));
}

TEST_CASE(
    "control: a process that comes back keeps its claim when its farewell is late", "[launcher]"
) {
    Host host;
    say(host.rank_end, hello_of(::getpid(), false));
    host.serve_until_answer_on(host.rank_end);
    REQUIRE(answer_on(host.rank_end) == "welcome");
    say_much(host.rank_end);
    say(host.rank_end, Finalized{});
    const Fd second = host.reattach();
    say(second, hello_of(::getpid(), true));
    host.serve_until_answer_on(second);
    CHECK(answer_on(second) == "welcome");
    host.serve_all_on(host.rank_end);
    CHECK(host.server.is_claimed(0));
    say(second, Finalized{});
    host.serve_all_on(second);
    CHECK_FALSE(host.server.is_claimed(0));
}

TEST_CASE("control: ranks of several hosts ask each other to connect", "[launcher]") {
    Host host;
    host.server.deliver({1, 0, "tcp", ""});
    // Nobody is there to be asked.
    REQUIRE(host.passed_on.size() == 1);
    CHECK(host.passed_on[0] == RankConnectBack{0, 1, "tcp", "it isn't in the job any more"});
    say(host.rank_end, hello_of(::getpid(), false));
    host.serve_until_answer_on(host.rank_end);
    CHECK(answer_on(host.rank_end) == "welcome");
    host.server.deliver({1, 0, "tcp", ""});
    CHECK(answer_on(host.rank_end) == "rank 1 by tcp: ");
    host.server.deliver({1, 0, "tcp", "no route"});
    CHECK(answer_on(host.rank_end) == "rank 1 by tcp: no route");
    host.server.deliver({1, 7, "tcp", ""});
    say(host.rank_end, ConnectBack{1, "tcp", "why"});
    say(host.rank_end, GetDoorbell{0});
    host.serve_until_answer_on(host.rank_end);
    CHECK(answer_on(host.rank_end) == "doorbell");
    REQUIRE(host.passed_on.size() == 2);
    CHECK(host.passed_on[1] == RankConnectBack{0, 1, "tcp", "why"});
    say(host.rank_end, ConnectBack{2, "tcp", ""});
    host.serve_until_answer_on(host.rank_end);
    CHECK(answer_on(host.rank_end) == "rank 2 is not in 0..1");
}

TEST_CASE("control: only the claimant's own farewell gives a rank free", "[launcher]") {
    Host host;
    const pid_t dead = ::fork();
    if (dead == 0) ::_exit(0);
    ::waitpid(dead, nullptr, 0);
    say(host.rank_end, hello_of(dead, false));
    host.serve_until_answer_on(host.rank_end);
    REQUIRE(answer_on(host.rank_end) == "welcome");
    const Fd second = host.reattach();
    say(second, hello_of(::getpid(), true));
    host.serve_until_answer_on(second);
    REQUIRE(answer_on(second) == "welcome");
    say(host.rank_end, Finalized{});
    host.serve_all_on(host.rank_end);
    CHECK(host.server.is_claimed(0));
    say(second, Finalized{});
    host.serve_all_on(second);
    CHECK_FALSE(host.server.is_claimed(0));
}

}  // namespace dlrt::launcher
