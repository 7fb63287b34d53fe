// SPDX-License-Identifier: Apache-2.0
/// A child's way to its parent in the tree: tries all addresses at once, again and again, until one
/// leads to somebody who proves to be that parent. In the event loop.
#pragma once

#include "launcher/event_loop.hpp"
#include "runtime/connect/address.hpp"
#include "runtime/connect/opening.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dlrt::launcher {

class LinkDialer {
  public:
    struct Handlers {
        std::function<void(Fd socket, const tcp::Secret& session)> on_link;
        /// In place of on_link, when the time is over: what came of each address.
        std::function<void(std::string reasons)> on_failed;
    };

    LinkDialer(
        EventLoop& loop, const tcp::Identity& identity, std::uint32_t parent,
        std::vector<tcp::SocketAddress> addresses, Handlers handlers
    );
    ~LinkDialer();

    void start(std::chrono::milliseconds limit);
    void stop();

  private:
    struct Attempt;
    void try_all();
    void look(Attempt& attempt);
    void advance(Attempt& attempt);
    void note_failure();
    void fail();

    EventLoop& loop_;
    tcp::Identity identity_;
    std::uint32_t parent_;
    std::vector<tcp::SocketAddress> addresses_;
    Handlers handlers_;
    std::vector<std::unique_ptr<Attempt>> attempts_;
    std::vector<std::unique_ptr<Attempt>> finished_;  ///< Until none of their handlers can run.
    Timer limit_;
    Timer round_;
    std::chrono::milliseconds pause_;
};

}  // namespace dlrt::launcher
