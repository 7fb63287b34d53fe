// SPDX-License-Identifier: Apache-2.0
/// The daemon of another host: started by a command like ssh, again if the host was too busy to
/// let us in, until it has said that it is there and of which version. In the head's event loop.
#pragma once

#include "launcher/event_loop.hpp"
#include "launcher/process_defaults.hpp"
#include "launcher/remote_command.hpp"
#include "launcher/remote_process.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dlrt::launcher {

/// What is the same for all hosts of a job.
struct RemoteWay {
    LauncherTemplate launcher;
    std::string daemon_path;  ///< Of dlrund on this host.
    std::string version;      ///< What daemon_version() says of this dlrun.
    std::uint32_t connect_timeout_s = 30;
    const ProcessDefaults* defaults = nullptr;
    /// Hosts are being set up just now: names that aren't known and doors that are closed are
    /// tried again.
    bool awaits_hosts = false;
};

class RemoteDaemon {
  public:
    struct Handlers {
        std::function<void(Fd stream)> on_ready;
        /// In place of on_ready: why there will be no daemon, in one line.
        std::function<void(std::string problem)> on_failed;
        /// What the host wrote before the daemon did.
        std::function<void(std::string text)> on_noise;
    };

    RemoteDaemon(
        EventLoop& loop, const RemoteWay& way, HostMention host, DaemonRole role, Handlers handlers
    );

    void start();
    /// What to tell about one that hasn't said anything for so long.
    [[nodiscard]] std::string explain_silence(std::uint64_t waited_ms);
    /// Ends the command of a daemon that is lost, which may end by itself for so long. Returns what
    /// it said, or how it ended; empty if it didn't.
    [[nodiscard]] std::string end_lost(int limit_ms);
    /// The daemon has said its last, or isn't needed: gives the command so long to end by itself.
    void finish(int limit_ms);

  private:
    void look();
    void read_preamble();
    void on_ended();
    void fail(const std::string& problem);

    EventLoop& loop_;
    const RemoteWay& way_;
    HostMention host_;
    Handlers handlers_;
    std::vector<std::string> words_;
    std::unique_ptr<RemoteProcess> process_;
    std::unique_ptr<DescriptorWatch> stream_;  ///< Until the daemon has said that it is there.
    Timer retry_;
    std::string noise_;
    std::uint32_t try_count_ = 0;
    bool is_settled_ = false;  ///< on_ready or on_failed has been called, or nobody waits for it.
};

}  // namespace dlrt::launcher
