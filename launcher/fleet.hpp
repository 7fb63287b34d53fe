// SPDX-License-Identifier: Apache-2.0
/// The daemons of a job, seen from the head: starts them, some at a time, asks what their hosts
/// offer, carries frames to and from each, notices who is lost, and sees to it that none stays. In
/// the head's event loop.
///
/// Daemons of other hosts are talked with each over the stream of the command that started it, or,
/// as members of a tree, the first few of them so and all others through these (TreeShape); the
/// command's stream then only tells that both of its ends are there.
///
/// A host is known by its place in the allocation until the job is made, and by its number in the
/// job from then on.
#pragma once

#include "launcher/allocation.hpp"
#include "launcher/channel.hpp"
#include "launcher/frame.hpp"
#include "launcher/liveness.hpp"
#include "launcher/local_daemon.hpp"
#include "launcher/options.hpp"
#include "launcher/remote_daemon.hpp"
#include "launcher/topology_filter.hpp"
#include "launcher/tree_shape.hpp"
#include "runtime/connect/handshake.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dlrt::launcher {

class Fleet {
  public:
    struct Handlers {
        /// What a host must be asked beyond what it has told; the same as it has told: nothing.
        std::function<DescribeHost(std::uint32_t host, const HostFacts& facts)> question;
        /// All hosts have told what they offer.
        std::function<void()> on_described;
        /// Once, in place of on_described: some hosts can't be used, each with its line.
        std::function<void(std::vector<std::string> problems)> on_unreachable;
        std::function<void(std::uint32_t host, Frame&& frame)> on_frame;
        /// A daemon that had not said JobEnded is gone; on_lost follows once it has been cleaned up
        /// after.
        std::function<void()> on_losing;
        /// Nothing of the job is left on the head's own host if it was that one's daemon.
        std::function<void(std::uint32_t host, std::string reason)> on_lost;
        std::function<void(std::string line)> on_remark;
    };
    /// How a tree is made, and when.
    struct TreeRules {
        ControlWay way = ControlWay::by_size;
        std::uint32_t width = 32;
        std::uint64_t connect_limit_ms = 30'000;
        std::uint32_t port_first = 0;
        std::uint32_t port_last = 0;
    };
    struct Rules {
        std::uint64_t heartbeat_ms = heartbeat_default_ms;
        std::string job_id;
        std::uint32_t width = 16;  ///< How many are started at a time.
        RemoteWay way;
        TreeRules tree;
    };

    Fleet(EventLoop& loop, Rules rules, Handlers handlers);

    /// The host at that place of the allocation takes part.
    void add_local(std::uint32_t place, std::string name, LocalDaemon daemon);
    void add_remote(std::uint32_t place, const AllocatedHost& host);
    void start();

    /// By place in the allocation; nothing for those that take no part. Once described.
    [[nodiscard]] std::vector<std::optional<HostFacts>> facts(std::size_t host_count) const;
    /// From now on hosts go by their place in this list; those that aren't in it are dismissed.
    void assign(std::span<const std::uint32_t> places);

    /// After assign(): each host gets the job, with its number.
    void start_job(StartJob job);

    [[nodiscard]] std::size_t size() const { return members_.size(); }
    [[nodiscard]] const std::string& name(std::uint32_t host) const { return members_[host]->name; }
    void send(std::uint32_t host, const Frame& frame);
    void send_all(const Frame& frame);
    void send_all_but(std::uint32_t host, const Frame& frame);
    [[nodiscard]] std::uint32_t running_count() const;
    /// Nobody is left who has something to say.
    [[nodiscard]] bool have_all_ended() const;
    /// Of hosts that have not told what they offer.
    [[nodiscard]] std::vector<std::string> names_awaited() const;
    [[nodiscard]] std::vector<std::string> explain_silence(std::uint64_t waited_ms) const;
    /// Nothing that any of them says matters any more.
    void dismiss_all();
    /// After the loop: waits until their processes are gone, or ends them.
    void wait_for_ends();

  private:
    /// joining: its relay is there, but the parent can't be told to it yet.
    enum class State : std::uint8_t { waiting, starting, joining, asked, described, in_job, ended };
    static constexpr std::uint32_t no_number = UINT32_MAX;
    struct Member {
        std::string name;
        std::uint32_t host = 0;
        State state = State::waiting;
        pid_t local_pid = 0;  ///< 0: of another host.
        HostMention mention;
        std::uint32_t number = no_number;  ///< In the tree.
        bool is_relay = false;
        bool has_relay_ended = false;
        bool has_lost_parent = false;
        std::vector<std::byte> addresses;  ///< Of a relay: where children may connect.
        std::unique_ptr<RemoteDaemon> remote;
        std::unique_ptr<Channel> channel;
        std::unique_ptr<Liveness> life;  ///< Of who is talked with over that channel.
        std::optional<HostFacts> facts;
        bool has_asked_for_cpus = false;
        bool is_silent = false;
    };

    Member& add(std::uint32_t place, std::string name);
    void start_more();
    void connect(Member& member, Fd stream);
    void take(Member& member, Frame&& frame);
    void take_facts(Member& member, HostFacts&& facts);
    void on_closed(Member& member, std::string reason);
    void on_problem(Member& member, std::string problem);
    void report_problems();
    void look_whether_described();
    void end(Member& member);
    /// What of a host is gone: the way to it, with all that lies behind, or its daemon only.
    enum class Loss : std::uint8_t { way, daemon };
    /// REQUIRES: none of them has ended. The first is the reason.
    void lose(std::vector<Member*> lost, Loss loss, std::string reason);
    void watch(Member& member);
    [[nodiscard]] std::string explain_silence_of(const Member& member, std::uint64_t waited_ms)
        const;

    // fleet_tree.cpp
    void form_tree();
    void join(Member& member);
    [[nodiscard]] JoinTree place_of(const Member& member) const;
    /// Whether it was a matter of the tree only.
    bool take_in_tree(Member& member, Frame& frame);
    void take_relayed(Relayed&& relayed);
    void on_parent_lost(Member& member, const std::string& reason);
    void lose_branch(Member& member, const std::string& reason);
    void assign_in_tree();
    void send_to(Member& member, const Frame& frame);
    void send_below(const Frame& frame, std::uint32_t except);
    [[nodiscard]] bool is_below_another(const Member& member) const {
        return member.number != no_number && shape_.parent(member.number).has_value();
    }

    EventLoop& loop_;
    Rules rules_;
    Handlers handlers_;
    std::vector<std::unique_ptr<Member>> members_;
    std::vector<std::unique_ptr<Member>> dismissed_;
    std::vector<std::string> problems_;
    Timer patience_;  ///< For further problems, once there is one.
    TreeShape shape_;
    std::vector<Member*> by_number_;  ///< Members of the tree; empty: there is none.
    tcp::Secret tree_secret_{};
    TopologyStore topologies_;
    bool has_job_ = false;
    Timer blame_;  ///< For a parent's own end to be known, once a child has lost it.
    bool has_reported_ = false;
};

}  // namespace dlrt::launcher
