// SPDX-License-Identifier: Apache-2.0
/// The daemon's side of its keeper: commands down, reports up, and the keeper's own end.
#pragma once

#include "launcher/event_loop.hpp"
#include "launcher/keeper.hpp"
#include "launcher/liveness.hpp"

#include <functional>
#include <string>
#include <sys/types.h>

namespace dlrt::launcher {

class KeeperLink {
  public:
    struct Handlers {
        std::function<void(const KeeperReport& report)> on_report;
        /// Once: the keeper is gone and reaped. What it left behind has become the daemon's.
        /// `trouble` says how it was lost; empty when it went in good order.
        std::function<void(std::string trouble)> on_gone;
    };

    KeeperLink(EventLoop& loop, Keeper keeper, std::uint64_t heartbeat_ms, Handlers handlers);

    void signal_ranks(int signal);
    /// As signal_ranks; who ends from now on has been told to.
    void end_ranks(int signal);
    /// Everything below the keeper; the keeper goes when nothing is left.
    void kill_all();
    [[nodiscard]] bool is_open() const { return watch_.is_open(); }
    [[nodiscard]] pid_t pid() const { return pid_; }

  private:
    void command(KeeperCommand::Kind kind, int signal);
    void read();
    void end();
    void on_silent();

    pid_t pid_;
    DescriptorWatch watch_;
    Handlers handlers_;
    Timer kill_timer_;
    Liveness liveness_;
    bool is_killing_ = false;
    bool is_silent_ = false;
};

}  // namespace dlrt::launcher
