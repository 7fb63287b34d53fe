// SPDX-License-Identifier: Apache-2.0
/// Control messages and the descriptors beside them over SOCK_SEQPACKET sockets, and the abstract
/// unix sockets by which processes of one user find each other. Nothing here touches a file system.
/// Any thread; one at a time per socket and direction.
#pragma once

#include "runtime/base/fd.hpp"
#include "runtime/base/result.hpp"
#include "runtime/wireup/message.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlrt {

/// Descriptors that may travel beside one message.
inline constexpr std::size_t control_descriptors_max = 8;

struct ReceivedMessage {
    ControlMessage message;
    std::vector<Fd> descriptors;  ///< Close-on-exec.
};

/// Waits while the peer's queue is full, however long. Never raises SIGPIPE.
/// Errors: Errc::wireup when the peer is gone.
Status send_message(
    int socket, const ControlMessage& message, std::span<const int> descriptors = {}
);

/// Waits for one message. timeout_ms < 0: for ever.
/// Errors: Errc::timeout; Errc::wireup when the peer is gone or sent what is no message.
[[nodiscard]] Result<ReceivedMessage> receive_message(int socket, int timeout_ms);

/// Listens under an abstract name (without its leading zero byte). Errors: Errc::system.
[[nodiscard]] Result<Fd> listen_abstract(std::string_view name);

/// Errors: Errc::wireup when nobody listens there or the listener is of another user.
[[nodiscard]] Result<Fd> connect_abstract(std::string_view name);

/// The next connection, or Errc::timeout. The caller asks is_same_user() before it trusts a word.
[[nodiscard]] Result<Fd> accept_connection(int listener, int timeout_ms);

struct PeerCredentials {
    std::int32_t pid = 0;
    std::uint32_t uid = 0;
};
/// As the kernel recorded them when the connection was made. Errors: Errc::system.
[[nodiscard]] Result<PeerCredentials> peer_credentials(int socket);
[[nodiscard]] bool is_same_user(int socket);

/// size_bytes * 2 hexadecimal digits from the kernel's random numbers: names and secrets.
/// Errors: Errc::system.
[[nodiscard]] Result<std::string> random_hex(std::size_t size_bytes);

/// Compares without telling by its duration where the first difference is.
[[nodiscard]] bool is_equal_secret(std::string_view a, std::string_view b);

}  // namespace dlrt
