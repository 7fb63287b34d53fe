// SPDX-License-Identifier: Apache-2.0
/// What is behind a TcpEndpoint. Private to tcp.cpp, gets.cpp and ending.cpp.
#pragma once

#include "transports/tcp/connection.hpp"
#include "transports/tcp/door.hpp"
#include "transports/tcp/tcp.hpp"

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dlrt::tcp {

/// What waits for one peer because its socket is full.
inline constexpr std::size_t segments_max = 16;

class Tcp final : public TcpEndpoint {
  public:
    explicit Tcp(Options options);
    [[nodiscard]] Status start();

    [[nodiscard]] std::string_view name() const override { return "tcp"; }
    [[nodiscard]] const Capabilities& capabilities() const override { return capabilities_; }
    [[nodiscard]] Post post_eager(PeerIndex peer, MessageHeader header, Bytes payload) override;
    [[nodiscard]] Post post_fragment(
        PeerIndex peer, MessageHeader header, Bytes payload, OperationId id
    ) override;
    [[nodiscard]] RemoteMemory describe(Bytes memory) override {
        return {.address = reinterpret_cast<std::uintptr_t>(memory.data()), .key = key_};
    }
    [[nodiscard]] Post post_get(
        PeerIndex peer, RemoteMemory source, MutableBytes target, OperationId id
    ) override;
    [[nodiscard]] bool can_load(PeerIndex, const RemoteMemory&, std::uint64_t) override {
        return false;
    }
    [[nodiscard]] std::size_t poll(std::span<Arrival> out) override;
    [[nodiscard]] std::size_t poll_completions(std::span<Completion> out) override;
    [[nodiscard]] bool has_work() override;
    [[nodiscard]] LargeProtocol choose_large(PeerIndex, std::uint64_t, Traffic) const override {
        return LargeProtocol::rendezvous_read;
    }
    [[nodiscard]] std::uint32_t fragment_bytes(std::uint64_t) const override {
        return fragment_bytes_max;
    }
    [[nodiscard]] std::optional<Loss> take_loss() override;
    [[nodiscard]] bool is_time_to_watch() override;
    void watch(PeerIndex peer) override;
    void part(Parting parting, std::uint32_t timeout_ms) override;
    void abandon() noexcept override;

  private:
    struct Peer {
        Connection* out = nullptr;
        std::vector<Connection*> lanes;  ///< Beside `out`: for the data of large gets.
        bool has_sought_lanes = false;
        bool is_lost = false;
        bool has_finished = false;  ///< Whatever is said to it, nobody listens any more.
    };
    struct Get {
        MutableBytes target;
        std::uint64_t missing_bytes = 0;
        OperationId id{};
        std::uint32_t peer = 0;
    };
    /// Of a get that a peer asked for.
    struct Answer {
        Connection* connection;
        std::uint64_t number;
        Bytes rest;
        std::uint64_t offset_bytes;
        bool is_large;
    };
    struct HeldLoss {
        Loss loss;
        std::uint64_t due_ns;
    };
    struct Collector {
        std::span<Arrival> out;
        std::size_t count = 0;
        [[nodiscard]] bool is_full() const { return count == out.size(); }
    };

    [[nodiscard]] Connection* connection_to(PeerIndex peer);
    void after_send(Connection& connection);
    void watch_for_room(Connection& connection, bool is_wanted);
    void take_opened(Door::Opened&& opened);
    void look_at_events(Collector& arrivals);
    void look_at_door();
    /// Whether anything has come.
    bool take_connect_backs();
    /// False: its addresses aren't known yet.
    [[nodiscard]] bool answer_asker(std::uint32_t number);
    void read(Connection& connection, Collector& arrivals);
    /// False: nothing more can be done with what is there.
    [[nodiscard]] bool take_frame(
        Connection& connection, const FrameHeader& header, Collector& arrivals
    );
    void take_get(Connection& connection, const FrameHeader& header, Bytes payload);
    void take_data(Connection& connection, const FrameHeader& header);
    void placed(Connection& connection);
    void answer_gets();
    void send_piece(Answer& answer, Connection& connection, std::uint32_t size_bytes_max);
    void share_among_lanes(Answer& answer);
    void seek_lanes(const Connection& connection, std::uint64_t get_bytes);
    void take_lane(Connection& connection, const FrameHeader& header);
    void flush(Connection& connection);
    void take_goodbye(Connection& connection, const FrameHeader& header);
    void drop(Connection& connection);
    void drop_failed();
    void fail_siblings(const Connection& connection);
    void keep_reading(Connection& connection);
    /// For a message about a peer that can't be reached.
    [[nodiscard]] std::string how_to_choose() const;
    /// From time to time, while anything is unconfirmed.
    void look_for_silence();
    void set_silence_timer(std::uint32_t period_s);
    void lose(std::uint32_t peer, std::string reason, std::uint64_t delay_ns);
    void set_loss_timer();
    void begin_watch_period(std::uint64_t period_ns);
    [[nodiscard]] bool has_connection_to(PeerIndex peer) const;
    /// Tells of the losses that are due, of those from whom all that came has been polled.
    void settle_losses();
    [[nodiscard]] bool finish_sending(Connection& connection);
    void complete(OperationId id, Status status) { completions_.push_back({id, status}); }
    void complete_gone();
    [[nodiscard]] Connection* find(int socket) const;

    Identity identity_;
    std::function<std::optional<std::vector<SocketAddress>>(std::uint32_t)> addresses_of_;
    std::function<std::vector<SocketAddress>(const Ends&, const std::vector<SocketAddress>&)>
        lanes_of_;
    std::vector<SocketAddress> own_addresses_;
    Capabilities capabilities_;
    Fd events_;
    Fd silence_timer_;
    bool is_silence_timed_ = false;
    Door door_;
    std::uint64_t key_ = 0;  ///< Who shows it has got the address from here.
    std::vector<Peer> peers_;
    std::unordered_map<int, std::unique_ptr<Connection>> connections_;  ///< By socket.
    std::vector<Connection*> hot_;
    std::vector<Connection*> lenders_;  ///< Of payloads among the arrivals of the last poll.
    std::vector<Connection*> failed_;
    std::unordered_map<std::uint64_t, Get> gets_;
    std::uint64_t next_get_ = 1;
    std::deque<Answer> answers_;
    std::vector<OperationId> gone_;
    std::deque<Completion> completions_;
    std::uint64_t loss_delay_ns_;
    Fd loss_timer_;
    std::vector<HeldLoss> unsettled_losses_;
    std::deque<Loss> losses_;
    bool watches_awaited_;
    Fd watch_timer_;
    std::uint64_t watch_period_ns_ = 0;
    bool is_time_to_watch_ = false;
    int news_descriptor_;
    std::function<void()> take_news_;
    std::function<bool(std::uint32_t, const std::string&)> connect_back_;
    std::function<std::optional<Options::ConnectBack>()> take_connect_back_;
    std::vector<std::uint32_t> askers_;  ///< Who has asked to be connected to.
    std::uint64_t looked_at_ns_ = 0;     ///< At the events. 0: look in the next poll.
    /// While the containers of descriptors change: a child forked then leaves them alone.
    std::atomic<bool> is_changing_{false};
};

}  // namespace dlrt::tcp
