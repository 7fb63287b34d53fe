// SPDX-License-Identifier: Apache-2.0
/// What a rank and its daemon say to each other, as values. One message is one SOCK_SEQPACKET
/// datagram of at most control_message_bytes_max bytes; descriptors travel beside it (SCM_RIGHTS)
/// and are named here. Bytes on the wire: format.md.
#pragma once

#include "runtime/base/bytes.hpp"
#include "runtime/base/result.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace dlrt {

inline constexpr std::size_t control_message_bytes_max = 64 * 1024;
inline constexpr std::uint32_t control_protocol_version = 1;

/// Rank → daemon. First message on every control socket, also after a reattach.
struct Hello {
    std::uint32_t protocol_version = control_protocol_version;
    std::uint32_t rank = 0;
    std::int32_t pid = 0;
    std::string token;      ///< DLRT_TOKEN of the environment: proves membership on a reattach.
    bool reattach = false;  ///< True over the abstract socket: the answer must carry the
                            ///< descriptors.
    friend bool operator==(const Hello&, const Hello&) = default;
};
/// Daemon → rank: you are in. With a reattach the descriptors map, segment and doorbell follow in
/// that order.
struct Welcome {
    std::uint32_t protocol_version = control_protocol_version;
    friend bool operator==(const Welcome&, const Welcome&) = default;
};
/// Daemon → rank: no, and why (rank already claimed, wrong token, version).
struct Refused {
    std::string reason;
    friend bool operator==(const Refused&, const Refused&) = default;
};
/// Rank → daemon: end the job with this code.
struct Abort {
    std::int32_t code = 1;
    std::string text;
    friend bool operator==(const Abort&, const Abort&) = default;
};
/// Rank → daemon: left in good order; the rank may be claimed again by a later init.
struct Finalized {
    friend bool operator==(const Finalized&, const Finalized&) = default;
};
/// Rank → daemon: publish this rank's address blob for a transport.
struct PutAddress {
    std::string transport;
    std::vector<std::byte> address;
    friend bool operator==(const PutAddress&, const PutAddress&) = default;
};
/// Rank → daemon: what is that rank's address? Answered by Address, at once or when it is put.
struct GetAddress {
    std::uint32_t rank = 0;
    std::string transport;
    friend bool operator==(const GetAddress&, const GetAddress&) = default;
};
struct Address {
    std::uint32_t rank = 0;
    std::string transport;
    std::vector<std::byte> address;
    friend bool operator==(const Address&, const Address&) = default;
};
/// Rank → daemon: send me the doorbell eventfd of that local rank. Answered by Doorbells with one
/// descriptor.
struct GetDoorbell {
    std::uint32_t local_rank = 0;
    friend bool operator==(const GetDoorbell&, const GetDoorbell&) = default;
};
struct DoorbellReply {
    std::uint32_t local_rank = 0;
    friend bool operator==(const DoorbellReply&, const DoorbellReply&) = default;
};

/// Rank → daemon: for that rank, of another host; daemon → rank: from that rank. Without a
/// `failure`: connect to me by that transport, for I can't connect to you; else: I can't connect to
/// you either, and why.
struct ConnectBack {
    std::uint32_t rank = 0;
    std::string transport;
    std::string failure;
    friend bool operator==(const ConnectBack&, const ConnectBack&) = default;
};

using ControlMessage = std::variant<
    Hello, Welcome, Refused, Abort, Finalized, PutAddress, GetAddress, Address, GetDoorbell,
    DoorbellReply, ConnectBack>;

/// REQUIRES: every string and blob fits in control_message_bytes_max together.
[[nodiscard]] std::vector<std::byte> encode_message(const ControlMessage& message);
/// Errors: Errc::wireup with the reason, for any bytes that encode_message can't have made. Checks
/// every length before it allocates.
[[nodiscard]] Result<ControlMessage> decode_message(Bytes bytes);

/// Environment variables by which a rank finds its job.
namespace environment {
inline constexpr const char* job_id = "DLRT_JOBID";
inline constexpr const char* rank = "DLRT_RANK";
inline constexpr const char* size = "DLRT_SIZE";
inline constexpr const char* local_rank = "DLRT_LOCAL_RANK";
inline constexpr const char* local_size = "DLRT_LOCAL_SIZE";
inline constexpr const char* host_index = "DLRT_NODE_RANK";
inline constexpr const char* host_count = "DLRT_NUM_NODES";
/// "control,map,segment,doorbell": numbers of the inherited descriptors.
inline constexpr const char* descriptors = "DLRT_FDS";
inline constexpr const char* token = "DLRT_TOKEN";
/// Name of the daemon's abstract socket, without the leading zero byte.
inline constexpr const char* daemon_socket = "DLRT_DAEMON";
/// "1" where ranks outnumber the usable cpus, for programs that care; dlrt counts by itself.
inline constexpr const char* oversubscribed = "DLRT_OVERSUBSCRIBED";

/// All of the above.
inline constexpr std::array<std::string_view, 11> all = {
    job_id,     rank,        size,  local_rank,    local_size,     host_index,
    host_count, descriptors, token, daemon_socket, oversubscribed,
};
}  // namespace environment

}  // namespace dlrt
