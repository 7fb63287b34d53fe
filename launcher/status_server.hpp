// SPDX-License-Identifier: Apache-2.0
/// Answers `dlrun --status` about the ranks of this host, from /proc and the host segment alone: a
/// rank that is stopped or hangs is shown as well as any other.
#pragma once

#include "launcher/event_loop.hpp"
#include "launcher/launch_plan.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dlrt::launcher {

class StatusServer {
  public:
    StatusServer(EventLoop& loop, const PreparedJob& job) : loop_(loop), job_(job) {}

    /// Opens the abstract socket. Errors: Errc::system.
    Status listen();
    /// By local rank; 0 before its start and after its end.
    void set_pids(const std::vector<pid_t>& pids) { pids_ = &pids; }

  private:
    struct Asker {
        Asker(EventLoop& loop, int descriptor) : watch(loop, descriptor) {}
        DescriptorWatch watch;
        std::string text;
        std::size_t sent_bytes = 0;
    };

    void accept();
    void answer(Asker& asker);

    EventLoop& loop_;
    const PreparedJob& job_;
    const std::vector<pid_t>* pids_ = nullptr;
    std::unique_ptr<DescriptorWatch> listener_;
    std::vector<std::unique_ptr<Asker>> askers_;
};

/// The answer's text: one paragraph per rank.
[[nodiscard]] std::string describe_ranks(
    const PreparedJob& job, const std::vector<pid_t>& pids, std::uint64_t now_ns
);

}  // namespace dlrt::launcher
