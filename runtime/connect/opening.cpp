// SPDX-License-Identifier: Apache-2.0
#include "runtime/connect/opening.hpp"

#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <utility>

#include <fmt/format.h>

namespace dlrt::tcp {
namespace {

static_assert(challenge_bytes >= hello_bytes && challenge_bytes >= proof_bytes);

void set_up(int socket) {
    const auto set = [socket](int level, int option, int value) {
        ::setsockopt(socket, level, option, &value, sizeof value);
    };
    set(IPPROTO_TCP, TCP_NODELAY, 1);
    // A host that has gone answers no probe; a process that computes has its system answer. So a
    // link is found dead within 25 s when nothing is on its way.
    set(SOL_SOCKET, SO_KEEPALIVE, 1);
    set(IPPROTO_TCP, TCP_KEEPIDLE, 10);
    set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
    set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

}  // namespace

Opening Opening::to(const Identity& identity, std::uint32_t peer, const SocketAddress& address) {
    Opening opening(identity);
    opening.is_own_ = true;
    opening.hello_ = {identity.own, peer, new_nonce()};
    opening.target_ = address.text();
    opening.step_ = Step::connect;
    opening.socket_.reset(
        ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)
    );
    if (!opening.socket_.is_open()) {
        static_cast<void>(opening.fail_because(std::strerror(errno)));
        return opening;
    }
    set_up(opening.socket());
    if (::connect(opening.socket(), address.get(), address.length) != 0 && errno != EINPROGRESS) {
        static_cast<void>(opening.fail_because(std::strerror(errno)));
    }
    return opening;
}

Opening Opening::from(const Identity& identity, Fd socket) {
    Opening opening(identity);
    opening.socket_ = std::move(socket);
    opening.step_ = Step::await_hello;
    set_up(opening.socket());
    return opening;
}

Opening::State Opening::advance() {
    switch (step_) {
        case Step::connect:
            return connected();
        case Step::await_hello:
            if (have_read(hello_bytes)) return answer_hello();
            break;
        case Step::await_challenge:
            if (have_read(challenge_bytes)) return answer_challenge();
            break;
        case Step::await_proof:
            if (have_read(proof_bytes)) return check_proof();
            break;
        case Step::over:
            break;
    }
    return step_ == Step::over ? State::failed : State::waiting;
}

Opening::State Opening::connected() {
    int error = 0;
    socklen_t length = sizeof error;
    ::getsockopt(socket(), SOL_SOCKET, SO_ERROR, &error, &length);
    if (error != 0) return fail_because(std::strerror(error));
    sockaddr_storage other{};
    length = sizeof other;
    if (::getpeername(socket(), reinterpret_cast<sockaddr*>(&other), &length) != 0) {
        return errno == ENOTCONN ? State::waiting : fail_because(std::strerror(errno));
    }
    if (!write(encode(hello_))) return State::failed;
    step_ = Step::await_challenge;
    return State::waiting;
}

Opening::State Opening::answer_hello() {
    const auto hello = decode_hello(std::span(input_).first<hello_bytes>());
    if (!hello) return fail_because("what came is no greeting of this version of dlrt");
    hello_ = *hello;
    const bool is_known = hello_.opener < identity_->count && hello_.opener != identity_->own;
    if (hello_.owner != identity_->own || !is_known) {
        return fail_because(fmt::format(
            "process {} looked for {} and found {}", hello_.opener, hello_.owner, identity_->own
        ));
    }
    owner_nonce_ = new_nonce();
    const ProofBytes proof = prove(identity_->secret, Side::owner, hello_, owner_nonce_);
    if (!write(encode(Challenge{owner_nonce_, proof}))) return State::failed;
    step_ = Step::await_proof;
    return State::waiting;
}

Opening::State Opening::answer_challenge() {
    const Challenge challenge = decode_challenge(input_);
    if (!is_proof(identity_->secret, Side::owner, hello_, challenge.nonce, challenge.proof)) {
        return fail_because("whoever listens there doesn't know this job's secret");
    }
    owner_nonce_ = challenge.nonce;
    if (!write(prove(identity_->secret, Side::opener, hello_, owner_nonce_))) {
        return State::failed;
    }
    step_ = Step::over;
    return State::established;
}

Opening::State Opening::check_proof() {
    ProofBytes proof;
    std::memcpy(proof.data(), input_.data(), proof.size());
    if (!is_proof(identity_->secret, Side::opener, hello_, owner_nonce_, proof)) {
        return fail_because("whoever connected doesn't know this job's secret");
    }
    step_ = Step::over;
    return State::established;
}

Opening::State Opening::fail_because(std::string reason) {
    reason_ = std::move(reason);
    step_ = Step::over;
    socket_.reset();
    return State::failed;
}

Secret Opening::session_secret() const {
    const auto hello = encode(hello_);
    std::string shared(reinterpret_cast<const char*>(identity_->secret.data()), secret_bytes);
    shared.append(reinterpret_cast<const char*>(hello.data()), hello.size());
    shared.append(reinterpret_cast<const char*>(owner_nonce_.data()), owner_nonce_.size());
    return derive_secret(shared, "session");
}

void Opening::give_up(std::uint64_t after_ms) {
    static_cast<void>(fail_because(fmt::format("no answer within {} ms", after_ms)));
}

bool Opening::write(Bytes bytes) {
    // A new socket has room for so little.
    const ssize_t sent = ::send(socket(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent == static_cast<ssize_t>(bytes.size())) return true;
    static_cast<void>(fail_because(sent < 0 ? std::strerror(errno) : "the connection is stuck"));
    return false;
}

bool Opening::have_read(std::size_t size_bytes) {
    const ssize_t got = ::recv(
        socket(), input_.data() + input_bytes_, size_bytes - input_bytes_, 0
    );
    const bool is_reset = got < 0 && (errno == ECONNRESET || errno == EPIPE);
    was_turned_away_ = step_ == Step::await_challenge && (got == 0 || is_reset);
    if (got == 0) {
        static_cast<void>(fail_because("it was closed in the middle of the greeting"));
    } else if (got < 0) {
        if (errno != EAGAIN && errno != EINTR)
            static_cast<void>(fail_because(std::strerror(errno)));
    } else {
        input_bytes_ += static_cast<std::size_t>(got);
    }
    if (step_ == Step::over || input_bytes_ < size_bytes) return false;
    input_bytes_ = 0;
    return true;
}

}  // namespace dlrt::tcp
