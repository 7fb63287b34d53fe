// SPDX-License-Identifier: Apache-2.0
/// Reading a peer's memory through the kernel, where the kernel lets us. Whether it does is found
/// out per peer by reading a random number that the peer shows in the shared area: a foreign pid
/// namespace, a user namespace, a seccomp filter, a process that is not dumpable or dead all fail
/// that test. A refusal is final for the peer and says nothing. One thread.
#pragma once

#include "runtime/base/bytes.hpp"
#include "transports/shm/area.hpp"
#include "transports/transport.hpp"

#include <cstdint>
#include <vector>

namespace dlrt::shm {

class CrossMemory {
  public:
    enum class Reading : std::uint8_t { allowed, forbidden };

    /// Shows this process to the peers, which may read it whatever `reading` says.
    CrossMemory(const AreaLayout& layout, std::uint32_t rank, std::uint32_t size, Reading reading);
    CrossMemory(const CrossMemory&) = delete;
    CrossMemory& operator=(const CrossMemory&) = delete;
    /// Takes the identity back.
    ~CrossMemory();

    [[nodiscard]] bool is_worth_a_try() const { return reading_ == Reading::allowed; }
    /// Asks the kernel at the first question about each peer. False for a peer that is not there
    /// yet, which is not remembered.
    [[nodiscard]] bool can_read(std::uint32_t peer);
    /// Reads all of `target`, before it returns. Returns done or refused.
    [[nodiscard]] Post read(std::uint32_t peer, std::uint64_t address, MutableBytes target);

  private:
    enum class Permission : std::uint8_t { unknown, granted, refused };
    struct Peer {
        Permission permission = Permission::unknown;
        std::int32_t pid = 0;
        std::uint64_t cookie_address = 0;
        std::uint64_t cookie[2] = {};
    };

    [[nodiscard]] Post refuse(Peer& peer) const {
        peer.permission = Permission::refused;
        return Post::refused;
    }

    AreaLayout layout_;
    std::uint32_t rank_;
    Reading reading_;
    std::uint64_t cookie_[2] = {};
    std::vector<Peer> peers_;
};

}  // namespace dlrt::shm
