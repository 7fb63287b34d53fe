// SPDX-License-Identifier: Apache-2.0
#include "launcher/keeper_link.hpp"

#include "launcher/job_outcome.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <sys/socket.h>
#include <sys/wait.h>
#include <utility>

namespace dlrt::launcher {
namespace {

constexpr std::chrono::seconds keeper_kill_time{12};

}  // namespace

KeeperLink::KeeperLink(
    EventLoop& loop, Keeper keeper, std::uint64_t heartbeat_ms, Handlers handlers
)
    : pid_(keeper.pid),
      watch_(loop, keeper.link.release()),
      handlers_(std::move(handlers)),
      kill_timer_(loop),
      liveness_(
          loop, heartbeat_ms,
          {[this] { command(KeeperCommand::Kind::beat, 0); }, [this] { on_silent(); }}
      ) {
    watch_.when_readable([this] { read(); });
}

void KeeperLink::signal_ranks(int signal) {
    command(KeeperCommand::Kind::signal_ranks, signal);
}

void KeeperLink::end_ranks(int signal) {
    command(KeeperCommand::Kind::end_ranks, signal);
}

void KeeperLink::kill_all() {
    if (is_open() && !is_killing_) {
        is_killing_ = true;
        // A keeper that is stopped or stuck must not keep the job alive; this process can do its
        // work.
        kill_timer_.start(keeper_kill_time, [this] { ::kill(pid_, SIGKILL); });
    }
    command(KeeperCommand::Kind::kill_all, 0);
}

void KeeperLink::command(KeeperCommand::Kind kind, int signal) {
    if (!is_open()) return;
    const KeeperCommand command{kind, signal};
    ::send(watch_.get(), &command, sizeof command, MSG_NOSIGNAL);
}

void KeeperLink::on_silent() {
    is_silent_ = true;
    // Its ranks die with it, and what they started becomes ours.
    ::kill(pid_, SIGKILL);
}

void KeeperLink::read() {
    while (is_open()) {
        KeeperReport report;
        const ssize_t got = ::recv(watch_.get(), &report, sizeof report, MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) break;
        // Said once when a keeper ends without having read all: before what it had reported.
        if (got < 0 && errno == ECONNRESET) continue;
        if (got != static_cast<ssize_t>(sizeof report)) return end();
        liveness_.heard();
        handlers_.on_report(report);
    }
    watch_.when_readable([this] { read(); });
}

void KeeperLink::end() {
    watch_.close();
    kill_timer_.cancel();
    liveness_.stop();
    int wait_status = 0;
    ::waitpid(pid_, &wait_status, 0);
    if (is_silent_) return handlers_.on_gone(silence_text(liveness_.heartbeat_ms()));
    handlers_.on_gone(wait_status == 0 ? "" : describe_end(wait_status));
}

}  // namespace dlrt::launcher
