// SPDX-License-Identifier: Apache-2.0
#include "runtime/invitation.hpp"

#include "runtime/base/error_text.hpp"

#include <cstring>

namespace dlrt {

Status tell(
    const Channel& channel, WorldRank whom, const Invitation& invitation,
    std::span<const WorldRank> members
) {
    std::vector<std::byte> bytes(sizeof invitation + members.size_bytes());
    std::memcpy(bytes.data(), &invitation, sizeof invitation);
    if (!members.empty()) {
        std::memcpy(bytes.data() + sizeof invitation, members.data(), members.size_bytes());
    }
    return channel.engine.send(
        SendMode::standard, {channel.context, whom, channel.tag},
        {bytes.data(), bytes.size(), &Layout::of(ElementType::byte)}
    );
}

Result<Received> hear(const Channel& channel, WorldRank whom) {
    MessageStatus status;
    MatchedMessage* const message = channel.engine.mprobe(
        {channel.context, whom, channel.tag}, status
    );
    if (message == nullptr) return status.error;
    std::vector<std::byte> bytes(status.size_bytes);
    const Buffer buffer{bytes.data(), bytes.size(), &Layout::of(ElementType::byte)};
    const Status outcome = channel.engine.mrecv(message, buffer, status);
    if (!outcome.ok()) return outcome;
    Received received;
    if (bytes.size() < sizeof received.invitation) {
        return fail(Errc::mismatch, "world rank {} creates no communicator here", whom);
    }
    std::memcpy(&received.invitation, bytes.data(), sizeof received.invitation);
    received.members.resize((bytes.size() - sizeof received.invitation) / sizeof(WorldRank));
    if (!received.members.empty()) {
        std::memcpy(
            received.members.data(), bytes.data() + sizeof received.invitation,
            received.members.size() * sizeof(WorldRank)
        );
    }
    return received;
}

}  // namespace dlrt
