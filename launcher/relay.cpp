// SPDX-License-Identifier: Apache-2.0
#include "launcher/relay.hpp"

#include "launcher/frame.hpp"
#include "launcher/link_dialer.hpp"
#include "launcher/link_door.hpp"
#include "launcher/local_daemon.hpp"
#include "launcher/lost_daemon.hpp"
#include "launcher/relay_link.hpp"
#include "launcher/topology_filter.hpp"
#include "launcher/tree_shape.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/connect/interfaces.hpp"
#include "runtime/connect/sodium.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <optional>
#include <sys/prctl.h>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

constexpr int launcher_fault_status = 125;
constexpr int last_words_ms = 30'000;
constexpr std::uint32_t no_host = UINT32_MAX;

class Relay {
  public:
    Relay(Stream origin, JoinTree join, LocalDaemon daemon, std::string_view interfaces);
    void run();

  private:
    struct Child {
        std::unique_ptr<RelayLink> link;
        bool has_ended = false;
    };

    // One per frame that only relays and the head say; whatever else is the daemon's.
    void take_from_above(Frame&& frame);
    void take_down(Relayed&& relayed);
    void take_down(const ToAll& to_all);
    void take_down(const AssignHosts& assignment);
    void take_from_daemon(Frame&& frame);
    void take_from_child(std::uint32_t member, Frame&& frame);

    void open_door();
    void add_child(std::uint32_t member, Fd socket, const tcp::Secret& session);
    void dial();
    void begin_uplink(Stream stream, std::unique_ptr<LinkCipher> cipher);
    void send_up(const Frame& frame);
    /// What a member says that isn't told apart by the link it comes over.
    void note_passing(Frame& frame);

    void on_daemon_lost(const std::string& reason);
    void on_child_lost(std::uint32_t member, const std::string& reason);
    void on_parent_lost(const std::string& reason);
    void on_signal(int signal);
    void fail_host(const std::string& text);
    void end_daemon();
    void abandon();
    void finish_if_done();

    EventLoop loop_;
    JoinTree join_;
    TreeShape shape_;
    tcp::Identity identity_;
    std::string interfaces_;  ///< As choose_addresses() takes them.
    LocalDaemon daemon_;
    SignalWatch signals_;
    TopologyFilter topologies_;
    std::unique_ptr<RelayLink> local_;
    std::unique_ptr<RelayLink> up_;
    std::unique_ptr<Channel> origin_;  ///< The stream to the head that started us, below a parent.
    std::unique_ptr<LinkDoor> door_;
    std::unique_ptr<LinkDialer> dialer_;
    std::map<std::uint32_t, Child> children_;
    std::vector<Frame> held_;  ///< For up_, until it is there.
    std::uint32_t host_index_ = no_host;
    int flush_limit_ms_ = last_words_ms;
    bool has_daemon_ended_ = false;
    bool is_daemon_lost_ = false;
    bool is_over_ = false;
};

Relay::Relay(Stream origin, JoinTree join, LocalDaemon daemon, std::string_view interfaces)
    : join_(std::move(join)),
      shape_(join_.member_count, join_.width),
      identity_{join_.member, join_.member_count, {}},
      interfaces_(interfaces),
      daemon_(std::move(daemon)),
      signals_(loop_) {
    std::memcpy(identity_.secret.data(), join_.secret.data(), identity_.secret.size());
    for (const std::uint32_t child : shape_.children(join_.member)) children_[child];
    local_ = std::make_unique<RelayLink>(
        loop_, Stream{std::move(daemon_.stream), Fd()}, nullptr, join_.heartbeat_ms,
        RelayLink::Handlers{
            [this](Frame&& frame) { take_from_daemon(std::move(frame)); },
            [this](const std::string& reason) { on_daemon_lost(reason); }}
    );
    if (join_.parent_name.empty()) {
        begin_uplink(std::move(origin), nullptr);
        return;
    }
    origin_ = std::make_unique<Channel>(
        loop_, std::move(origin),
        Channel::Handlers{[](Frame&&) {}, [this](const std::string&) { abandon(); }}
    );
}

void Relay::run() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) signals_.add(signal);
    signals_.when_signalled([this](int signal) { on_signal(signal); });
    if (!children_.empty()) open_door();
    if (up_ == nullptr) dial();
    loop_.run();
    if (up_ != nullptr) up_->flush_blocking(flush_limit_ms_);
    if (origin_ != nullptr) origin_->flush_blocking(flush_limit_ms_);
    if (is_daemon_lost_) {
        static_cast<void>(end_processes_of_lost_daemon(daemon_.pid, join_.job_id));
    } else {
        wait_for_local_daemon(daemon_.pid);
    }
}

void Relay::open_door() {
    std::vector<std::uint32_t> expected;
    for (const auto& [member, child] : children_) expected.push_back(member);
    door_ = std::make_unique<LinkDoor>(
        loop_, identity_, std::move(expected),
        [this](std::uint32_t member, Fd socket, const tcp::Secret& session) {
            add_child(member, std::move(socket), session);
        }
    );
    const tcp::PortRange ports{
        static_cast<std::uint16_t>(join_.port_first), static_cast<std::uint16_t>(join_.port_last)};
    if (!door_->listen(ports).ok()) return fail_host(std::string(last_error_text()));
    const auto addresses = tcp::choose_addresses(
        tcp::find_interface_addresses(), interfaces_, tcp::Family::any, door_->port()
    );
    if (!addresses) return fail_host(std::string(last_error_text()));
    send_up(RelayReady{tcp::encode_addresses(*addresses)});
}

void Relay::add_child(std::uint32_t member, Fd socket, const tcp::Secret& session) {
    children_[member].link = std::make_unique<RelayLink>(
        loop_, Stream{std::move(socket), Fd()},
        std::make_unique<LinkCipher>(session, tcp::Side::owner), join_.heartbeat_ms,
        RelayLink::Handlers{
            [this, member](Frame&& frame) { take_from_child(member, std::move(frame)); },
            [this, member](const std::string& reason) { on_child_lost(member, reason); }}
    );
}

void Relay::dial() {
    const auto addresses = tcp::decode_addresses(join_.parent_addresses);
    const std::optional<std::uint32_t> parent = shape_.parent(join_.member);
    if (!addresses || !parent) return abandon();
    dialer_ = std::make_unique<LinkDialer>(
        loop_, identity_, *parent, *addresses,
        LinkDialer::Handlers{
            [this](Fd socket, const tcp::Secret& session) {
                begin_uplink(
                    {std::move(socket), Fd()},
                    std::make_unique<LinkCipher>(session, tcp::Side::opener)
                );
            },
            [this](const std::string& reasons) {
                fail_host(fmt::format(
                    "it cannot reach {}, its parent in the tree of daemons, by TCP ({}); does a "
                    "firewall forbid it? --port-range names the ports, --control pipe needs none",
                    join_.parent_name, reasons
                ));
            }}
    );
    dialer_->start(std::chrono::milliseconds(join_.connect_limit_ms));
}

void Relay::begin_uplink(Stream stream, std::unique_ptr<LinkCipher> cipher) {
    up_ = std::make_unique<RelayLink>(
        loop_, std::move(stream), std::move(cipher), join_.heartbeat_ms,
        RelayLink::Handlers{
            [this](Frame&& frame) { take_from_above(std::move(frame)); },
            [this](const std::string& reason) { on_parent_lost(reason); }}
    );
    for (const Frame& frame : std::exchange(held_, {})) up_->send(frame);
}

void Relay::send_up(const Frame& frame) {
    if (up_ == nullptr) {
        held_.push_back(frame);
    } else {
        up_->send(frame);
    }
}

void Relay::take_from_above(Frame&& frame) {
    if (auto* relayed = std::get_if<Relayed>(&frame)) return take_down(std::move(*relayed));
    if (const auto* to_all = std::get_if<ToAll>(&frame)) return take_down(*to_all);
    if (const auto* hosts = std::get_if<AssignHosts>(&frame)) return take_down(*hosts);
    if (!has_daemon_ended_) local_->send(frame);
}

void Relay::take_down(Relayed&& relayed) {
    const std::optional<std::uint32_t> hop = shape_.next_hop(join_.member, relayed.member);
    if (!hop || children_[*hop].link == nullptr) return;
    RelayLink& link = *children_[*hop].link;
    if (*hop == relayed.member) return link.send_encoded(relayed.frame);
    link.send(std::move(relayed));
}

void Relay::take_down(const ToAll& to_all) {
    const std::vector<std::byte> bytes = encode_frame(to_all);
    for (const auto& [member, child] : children_) {
        if (child.link != nullptr) child.link->send_encoded(bytes);
    }
    if (to_all.except == join_.member || has_daemon_ended_) return;
    if (!is_encoded<StartJob>(to_all.frame)) return local_->send_encoded(to_all.frame);
    Result<Frame> frame = decode_whole_frame(to_all.frame);
    auto* job = frame ? std::get_if<StartJob>(&*frame) : nullptr;
    if (job == nullptr) return;
    job->host_index = host_index_;
    local_->send(*frame);
}

void Relay::take_down(const AssignHosts& assignment) {
    const std::vector<std::byte> bytes = encode_frame(assignment);
    for (const auto& [member, child] : children_) {
        if (child.link != nullptr) child.link->send_encoded(bytes);
    }
    if (join_.member >= assignment.host_of_member.size()) return;
    host_index_ = assignment.host_of_member[join_.member];
    if (host_index_ == no_host) end_daemon();
}

void Relay::note_passing(Frame& frame) {
    if (auto* facts = std::get_if<HostFacts>(&frame)) topologies_.pass(*facts);
    // The head stops itself then.
    if (std::holds_alternative<RanksSuspended>(frame) && up_ != nullptr) up_->excuse();
}

void Relay::take_from_daemon(Frame&& frame) {
    note_passing(frame);
    send_up(frame);
    if (std::holds_alternative<JobEnded>(frame)) end_daemon();
}

void Relay::take_from_child(std::uint32_t member, Frame&& frame) {
    if (std::holds_alternative<RelayEnded>(frame)) {
        children_[member].has_ended = true;
        children_[member].link->close();
        return finish_if_done();
    }
    auto* relayed = std::get_if<Relayed>(&frame);
    if (relayed == nullptr) {
        note_passing(frame);
        return send_up(Relayed{member, encode_frame(frame)});
    }
    if (!shape_.is_below(relayed->member, member)) return;
    if (is_encoded<HostFacts>(relayed->frame) || is_encoded<RanksSuspended>(relayed->frame)) {
        Result<Frame> within = decode_whole_frame(relayed->frame);
        if (!within) return;
        note_passing(*within);
        relayed->frame = encode_frame(*within);
    }
    send_up(frame);
}

void Relay::on_daemon_lost(const std::string& reason) {
    is_daemon_lost_ = true;
    local_->close();
    has_daemon_ended_ = true;
    send_up(DaemonLost{reason});
    finish_if_done();
}

void Relay::on_child_lost(std::uint32_t member, const std::string& reason) {
    Child& child = children_[member];
    child.has_ended = true;
    child.link->close();
    send_up(LinkLost{member, reason});
    finish_if_done();
}

void Relay::on_parent_lost(const std::string& reason) {
    if (up_->is_open()) {
        // A head that is silent may be continued, and then finds out why its job is gone.
        flush_limit_ms_ = 0;
        fail_host(fmt::format("the daemon ended the ranks: it had {}", reason));
    }
    if (origin_ != nullptr) origin_->send(ParentLost{reason});
    abandon();
}

void Relay::on_signal(int signal) {
    send_up(HostSignalled{signal, "relay"});
}

void Relay::fail_host(const std::string& text) {
    const HostFailed failure{
        launcher_fault_status, fmt::format("host {}: {}", join_.host_name, text)};
    if (up_ != nullptr) return up_->send(failure);
    origin_->send(failure);
}

void Relay::end_daemon() {
    local_->close();
    has_daemon_ended_ = true;
    finish_if_done();
}

void Relay::abandon() {
    is_over_ = true;
    local_->close();
    if (door_ != nullptr) door_->close();
    if (dialer_ != nullptr) dialer_->stop();
    for (auto& [member, child] : children_) {
        if (child.link != nullptr) child.link->close();
    }
    loop_.post([this] { loop_.stop(); });
}

void Relay::finish_if_done() {
    const bool are_children_done = std::ranges::all_of(children_, [](const auto& entry) {
        return entry.second.has_ended;
    });
    if (!has_daemon_ended_ || !are_children_done || std::exchange(is_over_, true)) return;
    send_up(RelayEnded{});
    if (origin_ != nullptr) origin_->send(RelayEnded{});
    loop_.post([this] { loop_.stop(); });
}

bool is_sound(const JoinTree& join) {
    return join.secret.size() == tcp::secret_bytes && join.width > 0 &&
           join.member < join.member_count && join.heartbeat_ms > 0 &&
           std::max(join.port_first, join.port_last) <= UINT16_MAX;
}

}  // namespace

int run_relay(Stream stream, const DaemonPlace& place, const ProcessDefaults& defaults) {
    ::prctl(PR_SET_NAME, "dlrt-relay");
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ignore_write_signals();
    Result<Frame> frame = receive_frame(stream.input.get());
    if (!frame) return 0;
    auto* join = std::get_if<JoinTree>(&*frame);
    if (join == nullptr || !is_sound(*join)) return launcher_fault_status;
    std::optional<LocalDaemon> daemon;
    if (tcp::load_sodium().ok()) {
        Result<LocalDaemon> forked = fork_local_daemon(defaults, place);
        if (forked) daemon = std::move(*forked);
    }
    if (!daemon) {
        const std::string text = fmt::format("host {}: {}", join->host_name, last_error_text());
        static_cast<void>(
            send_frame(stream.output_descriptor(), HostFailed{launcher_fault_status, text})
        );
        return launcher_fault_status;
    }
    const bool is_simulated = place.kind == DaemonPlace::Kind::simulated_host;
    Relay(std::move(stream), std::move(*join), std::move(*daemon), is_simulated ? "lo" : "").run();
    return 0;
}

}  // namespace dlrt::launcher
