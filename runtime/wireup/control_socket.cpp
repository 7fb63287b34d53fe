// SPDX-License-Identifier: Apache-2.0
/// System calls behind control sockets.
#include "runtime/wireup/control_socket.hpp"

#include "runtime/base/check.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <utility>

namespace dlrt {
namespace {

constexpr int backlog = 1024;
constexpr std::size_t ancillary_bytes = CMSG_SPACE(control_descriptors_max * sizeof(int));

struct AbstractAddress {
    sockaddr_un address{};
    socklen_t size_bytes = 0;
};

std::optional<AbstractAddress> abstract_address(std::string_view name) {
    AbstractAddress result;
    if (name.empty() || name.size() >= sizeof result.address.sun_path) return std::nullopt;
    result.address.sun_family = AF_UNIX;
    std::copy(name.begin(), name.end(), result.address.sun_path + 1);
    result.size_bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    return result;
}

const sockaddr* generic(const AbstractAddress& address) {
    return reinterpret_cast<const sockaddr*>(&address.address);
}

/// Returns whether the descriptor became readable in time.
bool wait_readable(int descriptor, int timeout_ms) {
    const std::uint64_t start_ns = monotonic_ns();
    pollfd entry{descriptor, POLLIN, 0};
    int left_ms = timeout_ms;
    while (::poll(&entry, 1, left_ms) < 0 && errno == EINTR) {
        if (timeout_ms < 0) continue;
        const auto passed_ms = static_cast<int>((monotonic_ns() - start_ns) / 1'000'000);
        left_ms = std::max(timeout_ms - passed_ms, 0);
    }
    return entry.revents != 0;
}

std::vector<Fd> take_descriptors(msghdr& header) {
    std::vector<Fd> descriptors;
    for (cmsghdr* item = CMSG_FIRSTHDR(&header); item != nullptr;
         item = CMSG_NXTHDR(&header, item)) {
        if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int descriptor = -1;
            std::memcpy(&descriptor, CMSG_DATA(item) + i * sizeof(int), sizeof(int));
            descriptors.emplace_back(descriptor);
        }
    }
    return descriptors;
}

}  // namespace

Status send_message(int socket, const ControlMessage& message, std::span<const int> descriptors) {
    DLRT_ASSERT(descriptors.size() <= control_descriptors_max);
    std::vector<std::byte> bytes = encode_message(message);
    iovec part{bytes.data(), bytes.size()};
    alignas(cmsghdr) std::array<std::byte, ancillary_bytes> ancillary{};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    if (!descriptors.empty()) {
        header.msg_control = ancillary.data();
        header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
        cmsghdr* item = CMSG_FIRSTHDR(&header);
        item->cmsg_level = SOL_SOCKET;
        item->cmsg_type = SCM_RIGHTS;
        item->cmsg_len = CMSG_LEN(descriptors.size_bytes());
        std::memcpy(CMSG_DATA(item), descriptors.data(), descriptors.size_bytes());
    }
    for (;;) {
        if (::sendmsg(socket, &header, MSG_NOSIGNAL) >= 0) return {};
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            pollfd entry{socket, POLLOUT, 0};
            ::poll(&entry, 1, -1);
        } else if (errno != EINTR) {
            break;
        }
    }
    return fail(Errc::wireup, "send on control socket {}: {}", socket, std::strerror(errno));
}

Result<ReceivedMessage> receive_message(int socket, int timeout_ms) {
    if (!wait_readable(socket, timeout_ms)) {
        return fail(Errc::timeout, "no answer on the control socket within {} ms", timeout_ms);
    }
    std::vector<std::byte> bytes(control_message_bytes_max);
    iovec part{bytes.data(), bytes.size()};
    alignas(cmsghdr) std::array<std::byte, ancillary_bytes> ancillary{};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = ancillary.data();
    header.msg_controllen = ancillary.size();
    ssize_t size_bytes = 0;
    do {
        size_bytes = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
        // A reset is said once, when the other end closed without having read all, and comes before
        // what it had sent.
    } while (size_bytes < 0 && (errno == EINTR || errno == ECONNRESET));
    if (size_bytes < 0) {
        return fail(Errc::wireup, "control socket {}: {}", socket, std::strerror(errno));
    }
    std::vector<Fd> descriptors = take_descriptors(header);
    if (size_bytes == 0) return fail(Errc::wireup, "the other end of the control socket is gone");
    if ((header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
        return fail(Errc::wireup, "a control message or its descriptors were cut off");
    }
    Result<ControlMessage> message = decode_message(
        Bytes(bytes).first(static_cast<std::size_t>(size_bytes))
    );
    if (!message) return message.error();
    return ReceivedMessage{std::move(*message), std::move(descriptors)};
}

Result<Fd> listen_abstract(std::string_view name) {
    const auto address = abstract_address(name);
    if (!address) return fail(Errc::system, "'{}' can't be the name of an abstract socket", name);
    Fd listener(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (!listener.is_open()) return fail_errno(errno, "create a unix socket");
    if (::bind(listener.get(), generic(*address), address->size_bytes) != 0 ||
        ::listen(listener.get(), backlog) != 0) {
        return fail_errno(errno, "listen on the abstract socket @{}", name);
    }
    return listener;
}

Result<Fd> connect_abstract(std::string_view name) {
    const auto address = abstract_address(name);
    if (!address) return fail(Errc::wireup, "'{}' can't be the name of an abstract socket", name);
    Fd connection(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (!connection.is_open()) return fail_errno(errno, "create a unix socket");
    while (::connect(connection.get(), generic(*address), address->size_bytes) != 0) {
        if (errno == EINTR) continue;
        return fail(
            Errc::wireup, "connect to the abstract socket @{}: {}", name, std::strerror(errno)
        );
    }
    if (!is_same_user(connection.get())) {
        return fail(Errc::wireup, "the abstract socket @{} belongs to another user", name);
    }
    return connection;
}

Result<Fd> accept_connection(int listener, int timeout_ms) {
    if (!wait_readable(listener, timeout_ms)) {
        return fail(Errc::timeout, "nobody connected within {} ms", timeout_ms);
    }
    for (;;) {
        Fd connection(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
        if (connection.is_open()) return connection;
        if (errno != EINTR && errno != ECONNABORTED) return fail_errno(errno, "accept");
    }
}

Result<PeerCredentials> peer_credentials(int socket) {
    ucred credentials{};
    socklen_t size_bytes = sizeof credentials;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size_bytes) != 0) {
        return fail_errno(errno, "ask who is behind socket {}", socket);
    }
    return PeerCredentials{credentials.pid, credentials.uid};
}

bool is_same_user(int socket) {
    const auto credentials = peer_credentials(socket);
    return credentials.has_value() && credentials->uid == ::geteuid();
}

Result<std::string> random_hex(std::size_t size_bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::vector<unsigned char> bytes(size_bytes);
    std::size_t filled_bytes = 0;
    while (filled_bytes < size_bytes) {
        const ssize_t count = ::getrandom(
            bytes.data() + filled_bytes, size_bytes - filled_bytes, 0
        );
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return fail_errno(errno, "get random numbers");
        filled_bytes += static_cast<std::size_t>(count);
    }
    std::string text;
    for (const unsigned char byte : bytes) {
        text += digits[byte >> 4U];
        text += digits[byte & 15U];
    }
    return text;
}

bool is_equal_secret(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    unsigned difference = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        difference |= static_cast<unsigned>(a[i] ^ b[i]);
    }
    return difference == 0;
}

}  // namespace dlrt
