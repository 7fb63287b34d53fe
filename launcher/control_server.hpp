// SPDX-License-Identifier: Apache-2.0
/// The daemon's side of the control sockets: lets ranks in, keeps their addresses, hands out
/// doorbells, and takes in ranks that lost their inherited descriptors through the abstract socket.
#pragma once

#include "launcher/event_loop.hpp"
#include "launcher/launch_plan.hpp"
#include "runtime/wireup/message.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dlrt::launcher {

class ControlServer {
  public:
    struct Handlers {
        std::function<void(std::uint32_t local_rank, std::int32_t pid, const Abort& abort)>
            on_abort;
        /// For ranks on other hosts.
        std::function<void(const RankAddress& address)> on_address;
        /// The address of a rank on another host, asked for once; learn() brings it.
        std::function<void(const AddressWanted& wanted)> on_address_wanted;
        /// For a rank on another host.
        std::function<void(const RankConnectBack& request)> on_connect_back;
        /// A rank has left without finalizing, and somebody may wait for it.
        std::function<void(std::uint32_t rank)> on_departed;
    };

    /// Takes the control ends of `job`, and uses the rest of it until destroyed.
    ControlServer(EventLoop& loop, PreparedJob& job, Handlers handlers);

    /// Opens the abstract socket for ranks that come back. Errors: Errc::system.
    Status listen();

    /// The process that was started as this rank.
    void set_rank_pid(std::uint32_t local_rank, std::int32_t pid);
    /// Takes what this rank has sent so far: its last words count though its end is known already.
    void take_pending(std::uint32_t local_rank);
    /// The address of a rank on another host. Answers who has asked for it.
    void learn(const RankAddress& address);
    /// To a rank of this host, from one of another. Who isn't in the job any more is answered for.
    void deliver(const RankConnectBack& request);
    /// Somebody has joined the job as this rank and has not left in good order.
    [[nodiscard]] bool is_claimed(std::uint32_t local_rank) const;
    /// A claimed rank will not come back: others must not wait for it.
    void give_up_claim(std::uint32_t local_rank);

  private:
    struct Connection {
        Connection(EventLoop& loop, int descriptor) : watch(loop, descriptor) {}
        DescriptorWatch watch;
        std::uint32_t local_rank = UINT32_MAX;  ///< Not known before Hello over the abstract
                                                ///< socket.
        std::int32_t pid = 0;                   ///< Of the process that was welcomed last over it.
    };
    struct Claim {
        std::int32_t rank_pid = 0;
        std::int32_t pid = 0;                    ///< Of the process that joined; 0: nobody.
        std::unique_ptr<DescriptorWatch> death;  ///< Its pidfd, when it isn't the rank's own
                                                 ///< process.
        bool has_died_early = false;  ///< Before the keeper told which process was started.
    };
    struct Question {
        Connection* asker = nullptr;
        std::uint32_t rank = 0;
        std::string transport;
    };

    void add_connection(int descriptor, std::uint32_t local_rank);
    void accept();
    void read(Connection& connection);
    enum class Taken : std::uint8_t { message, nothing_yet, nothing_more };
    Taken take_next(Connection& connection);
    void take_pending_beside(const Connection* reader, std::uint32_t local_rank);
    void close(Connection& connection);
    bool answer(Connection& connection, const ControlMessage& message, int descriptor = -1);
    bool refuse(Connection& connection, std::string reason);
    void watch_claimant(std::uint32_t local_rank);

    // One per message; they return whether the connection goes on.
    bool take(Connection& connection, const Hello& hello);
    bool take(Connection& connection, const Abort& abort);
    bool take(Connection& connection, const Finalized& finalized);
    bool take(Connection& connection, const PutAddress& put);
    bool take(Connection& connection, const GetAddress& get);
    bool take(Connection& connection, const GetDoorbell& get);
    bool take(Connection& connection, const ConnectBack& request);
    template<typename Other>
    bool take(Connection& connection, const Other& other);

    EventLoop& loop_;
    PreparedJob& job_;
    Handlers handlers_;
    std::vector<Claim> claims_;  ///< By local rank.
    std::vector<std::unique_ptr<Connection>> connections_;
    std::unique_ptr<DescriptorWatch> listener_;
    std::map<std::pair<std::uint32_t, std::string>, std::vector<std::byte>> addresses_;
    std::vector<Question> open_questions_;
    std::set<std::pair<std::uint32_t, std::string>> asked_;  ///< Of ranks on other hosts.
};

}  // namespace dlrt::launcher
