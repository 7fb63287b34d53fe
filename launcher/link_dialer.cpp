// SPDX-License-Identifier: Apache-2.0
#include "launcher/link_dialer.hpp"

#include "launcher/link_socket.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

constexpr std::chrono::milliseconds first_pause{50};
constexpr std::chrono::milliseconds last_pause{2000};
/// For one round of attempts.
constexpr std::chrono::seconds round_time{5};

}  // namespace

struct LinkDialer::Attempt {
    Attempt(EventLoop& loop, tcp::Opening begun)
        : opening(std::move(begun)), watch(loop, opening) {}

    tcp::Opening opening;
    LinkSocketWatch watch;
    bool is_over = false;
};

LinkDialer::LinkDialer(
    EventLoop& loop, const tcp::Identity& identity, std::uint32_t parent,
    std::vector<tcp::SocketAddress> addresses, Handlers handlers
)
    : loop_(loop),
      identity_(identity),
      parent_(parent),
      addresses_(std::move(addresses)),
      handlers_(std::move(handlers)),
      limit_(loop),
      round_(loop),
      pause_(first_pause) {
}

LinkDialer::~LinkDialer() = default;

void LinkDialer::start(std::chrono::milliseconds limit) {
    limit_.start(limit, [this] { fail(); });
    try_all();
}

void LinkDialer::stop() {
    limit_.cancel();
    round_.cancel();
    for (const auto& attempt : attempts_) attempt->watch.close();
    // One of them may be the caller.
    finished_ = std::exchange(attempts_, {});
    loop_.post([this] { finished_.clear(); });
}

void LinkDialer::try_all() {
    attempts_.clear();
    for (const tcp::SocketAddress& address : addresses_) {
        Attempt& attempt = *attempts_.emplace_back(
            std::make_unique<Attempt>(loop_, tcp::Opening::to(identity_, parent_, address))
        );
        look(attempt);
    }
    round_.start(round_time, [this] { try_all(); });
    note_failure();
}

void LinkDialer::look(Attempt& attempt) {
    attempt.is_over = attempt.opening.socket() < 0;
    attempt.watch.when_ready(attempt.opening, [this, &attempt] { advance(attempt); });
}

void LinkDialer::advance(Attempt& attempt) {
    const tcp::Opening::State state = attempt.opening.advance();
    if (state == tcp::Opening::State::waiting) return look(attempt);
    attempt.watch.close();
    if (state == tcp::Opening::State::failed) {
        attempt.is_over = true;
        return note_failure();
    }
    const tcp::Secret session = attempt.opening.session_secret();
    Fd socket = attempt.opening.take_socket();
    stop();
    handlers_.on_link(std::move(socket), session);
}

void LinkDialer::note_failure() {
    if (!std::ranges::all_of(attempts_, [](const auto& attempt) { return attempt->is_over; })) {
        return;
    }
    round_.start(pause_, [this] { try_all(); });
    pause_ = std::min(pause_ * 2, last_pause);
}

void LinkDialer::fail() {
    std::string reasons;
    for (const auto& attempt : attempts_) {
        const std::string& reason = attempt->opening.reason();
        reasons += fmt::format(
            "{}{}: {}", reasons.empty() ? "" : "; ", attempt->opening.target(),
            reason.empty() ? "no answer" : reason
        );
    }
    stop();
    handlers_.on_failed(reasons.empty() ? "it told no address" : reasons);
}

}  // namespace dlrt::launcher
