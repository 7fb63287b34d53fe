// SPDX-License-Identifier: Apache-2.0
/// A transport between threads of one process that does everything the contract allows and nobody
/// likes: by a seed it delays, reorders between peers (never within one), answers busy for no
/// reason, keeps fragments pending and reads their payload as late as it may, refuses reads, or
/// stops granting them.
///
/// The network outlives its endpoints. Endpoints of different ranks may be used by different
/// threads.
#pragma once

#include "transports/transport.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace dlrt::testing {

enum class FakeGet : std::uint8_t {
    granted,
    refused,        ///< Capabilities say can_get, every post is refused.
    refused_later,  ///< Works a few times, then is refused for good.
    absent,         ///< Capabilities say it cannot.
};

struct FakeOptions {
    std::uint64_t seed = 1;
    std::uint32_t eager_bytes_max = 4096;
    std::uint32_t fragment_bytes_max = 16 * 1024;
    std::uint32_t busy_percent = 20;
    std::uint32_t pending_percent = 50;      ///< Of the fragments and gets.
    std::uint32_t delay_polls_max = 6;       ///< Polls of the receiver until a message shows.
    std::uint32_t queued_messages_max = 64;  ///< Per ordered pair; more are busy.
    FakeGet get = FakeGet::granted;
    /// By rank, eventfds that others write when they queue something: ranks sleep on these instead
    /// of their doorbells. Empty: they don't.
    std::vector<int> sleep_descriptors;
    /// Called after something was queued for that rank, by the posting thread, with nothing locked.
    std::function<void(std::uint32_t rank)> wake;
};

class FakeNetwork {
  public:
    FakeNetwork(std::uint32_t size, FakeOptions options);
    ~FakeNetwork();
    [[nodiscard]] std::unique_ptr<Endpoint> open_endpoint(std::uint32_t rank);

    struct State;

  private:
    std::unique_ptr<State> state_;
};

}  // namespace dlrt::testing
