// SPDX-License-Identifier: Apache-2.0
#include "launcher/link_door.hpp"

#include "launcher/link_socket.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <sys/socket.h>
#include <utility>

namespace dlrt::launcher {
namespace {

constexpr std::chrono::seconds greeting_time{5};
/// For descriptors to become free.
constexpr std::chrono::milliseconds accept_pause{100};

}  // namespace

struct LinkDoor::Pending {
    Pending(EventLoop& loop, tcp::Opening begun)
        : opening(std::move(begun)), watch(loop, opening), limit(loop) {}

    tcp::Opening opening;
    LinkSocketWatch watch;
    Timer limit;
};

LinkDoor::LinkDoor(
    EventLoop& loop, const tcp::Identity& identity, std::vector<std::uint32_t> expected,
    OnLink on_link
)
    : loop_(loop),
      identity_(identity),
      expected_(std::move(expected)),
      on_link_(std::move(on_link)),
      pause_(loop) {
}

LinkDoor::~LinkDoor() = default;

Status LinkDoor::listen(tcp::PortRange ports) {
    Result<tcp::Listener> listener = tcp::listen_anywhere(tcp::Family::any, ports);
    if (!listener) return listener.error();
    port_ = listener->port;
    listener_ = std::make_unique<DescriptorWatch>(loop_, listener->socket.release());
    wait();
    return {};
}

void LinkDoor::wait() {
    listener_->when_readable([this] { accept(); });
}

void LinkDoor::accept() {
    Fd socket(::accept4(listener_->get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket.is_open()) {
        const bool is_short = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
        if (!is_short) return wait();
        return pause_.start(accept_pause, [this] { wait(); });
    }
    if (pending_.size() >= pending_max) forget(*pending_.front());
    Pending& pending = *pending_.emplace_back(
        std::make_unique<Pending>(loop_, tcp::Opening::from(identity_, std::move(socket)))
    );
    pending.limit.start(greeting_time, [this, &pending] { forget(pending); });
    look(pending);
    wait();
}

void LinkDoor::look(Pending& pending) {
    pending.watch.when_ready(pending.opening, [this, &pending] { advance(pending); });
}

void LinkDoor::advance(Pending& pending) {
    const tcp::Opening::State state = pending.opening.advance();
    if (state == tcp::Opening::State::waiting) return look(pending);
    const auto found = std::ranges::find(expected_, pending.opening.peer());
    if (state == tcp::Opening::State::failed || found == expected_.end()) return forget(pending);
    const std::uint32_t member = *found;
    expected_.erase(found);
    const tcp::Secret session = pending.opening.session_secret();
    pending.watch.close();
    Fd socket = pending.opening.take_socket();
    forget(pending);
    if (expected_.empty()) close();
    on_link_(member, std::move(socket), session);
}

void LinkDoor::forget(Pending& pending) {
    pending.limit.cancel();
    pending.watch.close();
    const auto found = std::ranges::find(pending_, &pending, &std::unique_ptr<Pending>::get);
    if (found == pending_.end()) return;
    static_cast<void>((*found)->opening.take_socket());
    if (forgotten_.empty()) loop_.post([this] { forgotten_.clear(); });
    forgotten_.push_back(std::move(*found));
    pending_.erase(found);
}

void LinkDoor::close() {
    pause_.cancel();
    if (listener_ != nullptr) listener_->close();
    while (!pending_.empty()) forget(*pending_.back());
}

}  // namespace dlrt::launcher
