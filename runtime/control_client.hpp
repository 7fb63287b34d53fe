// SPDX-License-Identifier: Apache-2.0
/// A rank's end of a control socket, to its daemon or to the rank that stands in for one, and the
/// check that the descriptors it got belong together.
///
/// Thread: the one that calls init and finalize; doorbell_of(), address_of(), take_connect_back()
/// and take_news() from any, one after the other; tell() from any.
#pragma once

#include "runtime/wireup/control_socket.hpp"
#include "runtime/wireup_source.hpp"

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace dlrt {

class ControlClient {
  public:
    /// `served_by` names the other end in messages, such as "the daemon".
    ControlClient(Fd socket, std::string served_by, int timeout_ms);

    /// Introduces this process and waits for the answer. Returns what came beside Welcome: three
    /// descriptors after a reattach. Errors: Errc::wireup with the other side's reason.
    [[nodiscard]] Result<std::vector<Fd>> greet(const Hello& hello);
    Status tell(const ControlMessage& message);
    /// Asks once per rank, then remembers. -1 when there is none.
    [[nodiscard]] int doorbell_of(std::uint32_t local_rank);
    /// Asks once, and remembers the answer, which take_news() finds. Never waits.
    [[nodiscard]] std::optional<std::vector<std::byte>> address_of(
        std::uint32_t rank, const std::string& transport
    );
    /// What a rank of another host has said by way of the daemons, for that transport, if anything.
    [[nodiscard]] std::optional<ConnectBack> take_connect_back(const std::string& transport);
    /// Takes the answers that have come.
    void take_news();
    [[nodiscard]] int socket() const { return socket_.get(); }
    /// Closes all descriptors; only system calls.
    void close_all() noexcept;

  private:
    struct Question {
        bool is_asked = false;
        std::optional<std::vector<std::byte>> answer;
    };
    using Place = std::pair<std::uint32_t, std::string>;  ///< Rank and transport.
    void keep(ReceivedMessage&& received);

    std::mutex mutex_;  ///< For all below the socket.
    Fd socket_;
    std::string served_by_;
    int timeout_ms_;
    std::unordered_map<std::uint32_t, Fd> doorbells_;
    std::map<Place, Question> addresses_;
    std::size_t unanswered_ = 0;
    std::deque<ConnectBack> connect_backs_;
    std::atomic<std::size_t> connect_back_count_{0};  ///< Of them, for a look without the lock.
};

/// Numbers of a rank's three descriptors besides the control socket.
struct JobDescriptors {
    int map = -1;
    int segment = -1;
    int doorbell = -1;
};

/// Checks each descriptor, and that all are of that rank and job, and keeps duplicates of them.
/// Errors: Errc::wireup.
[[nodiscard]] Result<Membership> open_membership(
    std::uint32_t rank, const JobDescriptors& descriptors
);

}  // namespace dlrt
