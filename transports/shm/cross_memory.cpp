// SPDX-License-Identifier: Apache-2.0
#include "transports/shm/cross_memory.hpp"

#include "runtime/base/clock.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

namespace dlrt::shm {
namespace {

/// The kernel moves at most a page less than 2 GiB in one call.
constexpr std::size_t read_bytes_max = std::size_t{1} << 30;

iovec remote_piece(std::uint64_t address, std::size_t size_bytes) {
    return {reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), size_bytes};
}

/// Where Yama is, only a tracer may read a process: the peers are siblings, so anybody must be
/// allowed. Where it is not, the call fails and nothing is needed.
void allow_readers() {
    if (::access("/proc/sys/kernel/yama/ptrace_scope", F_OK) != 0) return;
    ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
}

}  // namespace

CrossMemory::CrossMemory(
    const AreaLayout& layout, std::uint32_t rank, std::uint32_t size, Reading reading
)
    : layout_(layout), rank_(rank), reading_(reading), peers_(size) {
    allow_readers();
    if (::getrandom(cookie_, sizeof cookie_, GRND_NONBLOCK) != sizeof cookie_) {
        // Early in the life of a machine: unlikely to be in some other process by chance is enough.
        cookie_[0] = monotonic_ns();
        cookie_[1] = reinterpret_cast<std::uintptr_t>(this) ^
                     static_cast<std::uint64_t>(::getpid());
    }
    Card& card = layout_.card(rank_);
    card.pid = ::getpid();
    card.cookie_address = reinterpret_cast<std::uintptr_t>(cookie_);
    std::copy_n(cookie_, 2, card.cookie);
    // Partner: the acquire load in can_read().
    card.identity_session.store(card.sessions, std::memory_order_release);
}

CrossMemory::~CrossMemory() {
    layout_.card(rank_).identity_session.store(0, std::memory_order_release);
    // Who still believes in us finds nothing, even where the memory is left as it was.
    ::explicit_bzero(cookie_, sizeof cookie_);
}

bool CrossMemory::can_read(std::uint32_t peer) {
    if (reading_ == Reading::forbidden) return false;
    Peer& known = peers_[peer];
    if (known.permission != Permission::unknown) return known.permission == Permission::granted;
    const Card& card = layout_.card(peer);
    if (card.identity_session.load(std::memory_order_acquire) == 0) return false;
    known.pid = card.pid;
    known.cookie_address = card.cookie_address;
    std::copy_n(card.cookie, 2, known.cookie);
    known.permission = Permission::granted;
    return read(peer, 0, {}) == Post::done;
}

Post CrossMemory::read(std::uint32_t peer, std::uint64_t address, MutableBytes target) {
    Peer& known = peers_[peer];
    if (!can_read(peer)) return Post::refused;
    // The cookie travels with the data: a process that merely got the number of a dead peer is
    // noticed.
    std::uint64_t cookie[2] = {};
    std::size_t done = 0;
    do {
        const std::size_t piece = std::min(target.size() - done, read_bytes_max);
        const iovec local[2] = {{cookie, sizeof cookie}, {target.data() + done, piece}};
        const iovec remote[2] = {
            remote_piece(known.cookie_address, sizeof cookie), remote_piece(address + done, piece)};
        const unsigned long count = piece != 0 ? 2 : 1;
        const ssize_t got = ::process_vm_readv(known.pid, local, count, remote, count, 0);
        const bool is_peer = got >= static_cast<ssize_t>(sizeof cookie) &&
                             std::equal(cookie, cookie + 2, known.cookie);
        if (!is_peer) return refuse(known);
        const std::size_t moved = static_cast<std::size_t>(got) - sizeof cookie;
        if (moved == 0 && piece != 0) return refuse(known);
        done += moved;
    } while (done < target.size());
    return Post::done;
}

}  // namespace dlrt::shm
