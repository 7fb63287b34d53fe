// SPDX-License-Identifier: Apache-2.0
/// Where a daemon's children in the tree knock: listens until all of them are there, and lets in
/// those who prove that they know the tree's secret. Strangers get nothing: each may say a greeting
/// of fixed size, within a time, and only so many at once; the oldest has to go for the newest. In
/// the event loop.
#pragma once

#include "launcher/event_loop.hpp"
#include "runtime/connect/opening.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace dlrt::launcher {

class LinkDoor {
  public:
    /// Members that may come, each once; and what happens when one has.
    using OnLink = std::function<void(std::uint32_t member, Fd socket, const tcp::Secret& session)>;

    LinkDoor(
        EventLoop& loop, const tcp::Identity& identity, std::vector<std::uint32_t> expected,
        OnLink on_link
    );
    ~LinkDoor();

    /// Errors: Errc::system.
    Status listen(tcp::PortRange ports);
    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] std::size_t pending_count() const { return pending_.size(); }
    void close();

    static constexpr std::size_t pending_max = 64;

  private:
    struct Pending;
    void wait();
    void accept();
    void look(Pending& pending);
    void advance(Pending& pending);
    void forget(Pending& pending);

    EventLoop& loop_;
    tcp::Identity identity_;
    std::vector<std::uint32_t> expected_;
    OnLink on_link_;
    std::unique_ptr<DescriptorWatch> listener_;
    std::uint16_t port_ = 0;
    std::vector<std::unique_ptr<Pending>> pending_;
    std::vector<std::unique_ptr<Pending>> forgotten_;  ///< Until no handler of theirs can run.
    Timer pause_;
};

}  // namespace dlrt::launcher
