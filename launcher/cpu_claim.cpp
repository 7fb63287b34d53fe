// SPDX-License-Identifier: Apache-2.0
#include "launcher/cpu_claim.hpp"

#include "launcher/process_tree.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/wireup/control_socket.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

/// Jobs of one user on one host that hold cpus; further ones are bound without telling.
constexpr std::uint32_t slot_count = 32;
constexpr int backlog = 1024;
constexpr std::uint64_t gate_wait_ns = 2'000'000'000;
/// A daemon that has just started needs its ranks first.
constexpr int loan_wait_ms = 2000;
constexpr std::size_t affinity_cpus = 8192;

Fd make_socket() {
    return Fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

/// REQUIRES: the name is short. `call` is ::bind or ::connect.
template<typename Call>
bool with_address(Call call, const Fd& socket, const std::string& name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::ranges::copy(name, address.sun_path + 1);
    const auto size_bytes = static_cast<socklen_t>(
        offsetof(sockaddr_un, sun_path) + 1 + name.size()
    );
    return call(socket.get(), reinterpret_cast<const sockaddr*>(&address), size_bytes) == 0;
}

Fd listen_under(const std::string& name) {
    Fd socket = make_socket();
    if (!socket.is_open() || !with_address(::bind, socket, name)) return {};
    return ::listen(socket.get(), backlog) == 0 ? std::move(socket) : Fd();
}

/// Never waits: another user who sits on the name must not hold us up.
Fd connect_to(const std::string& name) {
    Fd socket = make_socket();
    if (!socket.is_open() || !with_address(::connect, socket, name)) return {};
    return is_same_user(socket.get()) ? std::move(socket) : Fd();
}

/// Readable or closed by the other side in time.
bool wait_for(const Fd& socket, int timeout_ms) {
    pollfd entry{socket.get(), POLLIN, 0};
    return ::poll(&entry, 1, timeout_ms) > 0;
}

}  // namespace

std::string cpu_claim_prefix() {
    // Tests that look at cpus must not meet other jobs of the same user.
    const char* pool = ::getenv("DLRT_TEST_CPU_POOL");
    return fmt::format("dlrt-{}-cpus{:.40}", ::geteuid(), pool == nullptr ? "" : pool);
}

std::vector<std::uint32_t> affinity_of(pid_t pid) {
    alignas(cpu_set_t) std::array<unsigned char, affinity_cpus / 8> bits{};
    std::vector<std::uint32_t> cpus;
    auto* set = reinterpret_cast<cpu_set_t*>(bits.data());
    if (::sched_getaffinity(pid, bits.size(), set) != 0) return cpus;
    for (std::uint32_t cpu = 0; cpu < affinity_cpus; ++cpu) {
        if (CPU_ISSET_S(cpu, bits.size(), set)) cpus.push_back(cpu);
    }
    return cpus;
}

bool set_affinity(pid_t pid, std::span<const std::uint32_t> cpus) {
    alignas(cpu_set_t) std::array<unsigned char, affinity_cpus / 8> bits{};
    auto* set = reinterpret_cast<cpu_set_t*>(bits.data());
    for (const std::uint32_t cpu : cpus) CPU_SET_S(cpu, bits.size(), set);
    return ::sched_setaffinity(pid, bits.size(), set) == 0;
}

void hold_cpus(int listener) {
    // Whoever called listen() last is who peers are told of.
    if (listener >= 0) ::listen(listener, backlog);
}

CpuClaim CpuClaim::begin(std::string name_prefix, Wait wait) {
    CpuClaim claim(std::move(name_prefix));
    claim.take_gate(wait);
    claim.find_holders();
    return claim;
}

void CpuClaim::take_gate(Wait wait) {
    const std::uint64_t end_ns = monotonic_ns() + gate_wait_ns;
    while (true) {
        gate_ = listen_under(name_prefix_);
        if (gate_.is_open() || wait == Wait::never) return;
        const std::uint64_t now_ns = monotonic_ns();
        if (now_ns >= end_ns) return;
        // Nobody accepts: the connection ends with the gate.
        const Fd waiting = connect_to(name_prefix_);
        if (!waiting.is_open()) {
            // Opened meanwhile, or another user's.
            gate_ = listen_under(name_prefix_);
            return;
        }
        wait_for(waiting, static_cast<int>((end_ns - now_ns) / 1'000'000 + 1));
    }
}

std::string CpuClaim::slot_name(std::uint32_t slot) const {
    return fmt::format("{}-{}", name_prefix_, slot);
}

/// A daemon hands its claim on to its keeper and then leaves its cpus: what was read of it counts
/// only if it held the name still afterwards.
void CpuClaim::look_again(Holder& holder) const {
    pid_t before = 0;
    do {
        before = holder.pid;
        holder.cpus = affinity_of(before);
        const Fd fresh = connect_to(slot_name(holder.slot));
        const Result<PeerCredentials> credentials = peer_credentials(fresh.get());
        if (!fresh.is_open() || !credentials) return holder.cpus.clear();
        holder.pid = credentials->pid;
    } while (holder.pid != before);
}

void CpuClaim::find_holders() {
    Fd socket;
    for (std::uint32_t slot = 0; slot < slot_count; ++slot) {
        // One that was refused can try again, and most are.
        if (!socket.is_open()) socket = make_socket();
        if (!socket.is_open() || !with_address(::connect, socket, slot_name(slot))) continue;
        Holder holder;
        holder.connection = std::move(socket);
        if (!is_same_user(holder.connection.get())) continue;
        const Result<PeerCredentials> credentials = peer_credentials(holder.connection.get());
        // No number: in another container, where nothing can be known of its cpus.
        if (!credentials || credentials->pid <= 0) continue;
        holder.slot = slot;
        holder.pid = credentials->pid;
        look_again(holder);
        holders_.push_back(std::move(holder));
    }
    if (holders_.empty()) return;
    // A job that a rank starts runs on that rank's cpus, which its own job holds for it.
    pid_t above = ::getppid();
    while (above > 1) {
        std::erase_if(holders_, [&](const Holder& holder) { return holder.pid == above; });
        const std::optional<ProcessState> state = read_process_state(above);
        above = state ? state->parent : 0;
    }
}

std::vector<std::uint32_t> CpuClaim::busy_cpus_without(pid_t keeper) const {
    std::vector<std::uint32_t> busy;
    for (const Holder& holder : holders_) {
        if (holder.pid == keeper) continue;
        busy.insert(busy.end(), holder.cpus.begin(), holder.cpus.end());
    }
    std::ranges::sort(busy);
    busy.erase(std::ranges::unique(busy).begin(), busy.end());
    return busy;
}

void CpuClaim::borrow(std::uint32_t wanted_count, std::span<const std::uint32_t> usable_cpus) {
    if (wanted_count > usable_cpus.size()) return;
    for (Holder& holder : holders_) {
        const std::vector<std::uint32_t> busy = busy_cpus();
        const auto free_count = static_cast<std::uint32_t>(std::ranges::count_if(
            usable_cpus, [&](std::uint32_t cpu) { return !std::ranges::binary_search(busy, cpu); }
        ));
        if (free_count >= wanted_count) return;
        if (holder.cpus.size() < 2 || !holder.connection.is_open()) continue;
        const CpuLoan request{wanted_count - free_count};
        CpuLoan answer;
        const int socket = holder.connection.get();
        if (::send(socket, &request, sizeof request, MSG_NOSIGNAL) != sizeof request) continue;
        if (!wait_for(holder.connection, loan_wait_ms)) continue;
        if (::recv(socket, &answer, sizeof answer, 0) != sizeof answer) continue;
        if (answer.cpu_count == 0) continue;
        look_again(holder);
        loans_.push_back(std::move(holder.connection));
    }
}

void CpuClaim::listen_somewhere() {
    for (std::uint32_t slot = 0; slot < slot_count && !listener_.is_open(); ++slot) {
        listener_ = listen_under(slot_name(slot));
    }
}

void CpuClaim::settle(std::span<const std::uint32_t> cpus) {
    if (!cpus.empty()) {
        own_affinity_ = affinity_of(0);
        // Bound first: from the moment that the name is there others believe the affinity.
        if (set_affinity(0, cpus)) listen_somewhere();
    }
    holders_.clear();
    gate_.reset();
}

void CpuClaim::leave_cpus() {
    if (!own_affinity_.empty()) set_affinity(0, own_affinity_);
    own_affinity_.clear();
}

}  // namespace dlrt::launcher
