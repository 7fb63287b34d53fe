// SPDX-License-Identifier: Apache-2.0
#include "launcher/cpu_lender.hpp"

#include "launcher/cpu_claim.hpp"
#include "launcher/process_tree.hpp"
#include "launcher/topology_sysfs.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace dlrt::launcher {
namespace {

constexpr std::chrono::milliseconds gate_retry_time{20};
constexpr std::chrono::seconds regain_retry_time{1};

using Cpus = std::vector<std::uint32_t>;

Cpus without(const Cpus& cpus, const Cpus& taken) {
    Cpus left;
    std::ranges::copy_if(cpus, std::back_inserter(left), [&](std::uint32_t cpu) {
        return std::ranges::find(taken, cpu) == taken.end();
    });
    return left;
}

/// What the share can do without: its last core, else its last cpu; nothing of a single core.
Cpus spare_part(const Cpus& share, std::span<const Cpus> cores) {
    if (share.size() < 2) return {};
    for (const Cpus& core : cores) {
        if (std::ranges::find(core, share.back()) == core.end()) continue;
        const Cpus rest = without(share, core);
        if (!rest.empty()) return without(share, rest);
    }
    return cores.empty() ? Cpus{share.back()} : Cpus{};
}

/// A rank's process and all below it.
std::vector<pid_t> processes_of(pid_t rank) {
    std::vector<pid_t> processes = living_descendants(rank);
    processes.push_back(rank);
    return processes;
}

/// Threads that are bound to `from` now.
void rebind(pid_t rank, const Cpus& from, const Cpus& to) {
    for (const pid_t process : processes_of(rank)) {
        for (const pid_t thread : threads_of(process)) {
            if (affinity_of(thread) == from) set_affinity(thread, to);
        }
    }
}

}  // namespace

CpuShares shrink_shares(
    CpuShares shares, std::span<const std::vector<std::uint32_t>> cores, std::uint32_t wanted_count
) {
    std::size_t freed_count = 0;
    while (freed_count < wanted_count) {
        Cpus* giver = nullptr;
        Cpus part;
        for (Cpus& share : shares) {
            if (giver != nullptr && share.size() < giver->size()) continue;
            Cpus spare = spare_part(share, cores);
            if (spare.empty()) continue;
            giver = &share;
            part = std::move(spare);
        }
        if (giver == nullptr) break;
        *giver = without(*giver, part);
        freed_count += part.size();
    }
    return shares;
}

CpuLender::CpuLender(EventLoop& loop, Fd listener, const PreparedJob& job, pid_t keeper)
    : loop_(loop),
      listener_(loop, listener.release()),
      job_(job),
      keeper_(keeper),
      retry_timer_(loop) {
    for (const RankEnds& end : job.ends) full_.push_back(job.map.ranks[end.rank].cpus);
    current_ = full_;
    accept();
}

void CpuLender::accept() {
    if (!listener_.is_open()) return;
    listener_.when_readable([this] {
        while (true) {
            const int connection = ::accept4(
                listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK
            );
            if (connection < 0) break;
            borrowers_.emplace_back(loop_, connection);
            if (!pids_.empty()) read(std::prev(borrowers_.end()));
        }
        accept();
    });
}

void CpuLender::set_pids(std::span<const pid_t> pids) {
    const bool is_first = pids_.empty();
    pids_.assign(pids.begin(), pids.end());
    if (!is_first) return;
    for (auto borrower = borrowers_.begin(); borrower != borrowers_.end(); ++borrower) {
        read(borrower);
    }
}

void CpuLender::read(std::list<Borrower>::iterator borrower) {
    borrower->watch.when_readable([this, borrower] {
        CpuLoan loan;
        const int socket = borrower->watch.get();
        const ssize_t got = ::recv(socket, &loan, sizeof loan, 0);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return read(borrower);
        if (got == static_cast<ssize_t>(sizeof loan)) {
            const CpuLoan answer{lend(loan.cpu_count)};
            if (answer.cpu_count != 0) borrower->has_loan = true;
            ::send(socket, &answer, sizeof answer, MSG_NOSIGNAL);
            return read(borrower);
        }
        const bool had_loan = borrower->has_loan;
        borrowers_.erase(borrower);
        if (had_loan) take_back();
    });
}

bool CpuLender::gives(std::size_t local_rank) const {
    const pid_t pid = pids_[local_rank];
    if (pid == 0 || current_[local_rank].size() < 2) return false;
    const std::vector<pid_t> processes = processes_of(pid);
    return std::ranges::all_of(processes, [&](pid_t process) {
        return std::ranges::all_of(threads_of(process), [&](pid_t thread) {
            const Cpus cpus = affinity_of(thread);
            return cpus.empty() || cpus == current_[local_rank];
        });
    });
}

std::uint32_t CpuLender::lend(std::uint32_t wanted_count) {
    if (!job_.lends_cpus) return 0;
    CpuShares offered(current_.size());
    Cpus all;
    for (std::size_t i = 0; i < current_.size(); ++i) {
        if (!gives(i)) continue;
        offered[i] = current_[i];
        all.insert(all.end(), current_[i].begin(), current_[i].end());
    }
    if (all.empty()) return 0;
    std::ranges::sort(all);
    std::vector<Cpus> cores;
    for (TopologyObject& core : read_quick_topology("", all).cores) {
        cores.push_back(std::move(core.cpus));
    }
    CpuShares shares = shrink_shares(offered, cores, wanted_count);
    std::uint32_t lent_count = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        lent_count += static_cast<std::uint32_t>(offered[i].size() - shares[i].size());
        if (offered[i].empty()) shares[i] = current_[i];
    }
    apply(shares);
    return lent_count;
}

void CpuLender::apply(const CpuShares& shares) {
    TenancyTable& tenancy = job_.segment.tenancy();
    Cpus held;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        held.insert(held.end(), shares[i].begin(), shares[i].end());
        if (shares[i] == current_[i]) continue;
        if (pids_[i] != 0) rebind(pids_[i], current_[i], shares[i]);
        for (const std::uint32_t cpu : without(current_[i], shares[i])) {
            if (cpu < cpu_count_max) tenancy.tenants[cpu].fetch_sub(1, std::memory_order_relaxed);
        }
        for (const std::uint32_t cpu : without(shares[i], current_[i])) {
            if (cpu < cpu_count_max) tenancy.tenants[cpu].fetch_add(1, std::memory_order_relaxed);
        }
        current_[i] = shares[i];
    }
    // This is what others see.
    set_affinity(keeper_, held);
}

void CpuLender::take_back() {
    const CpuClaim others = CpuClaim::begin(cpu_claim_prefix(), CpuClaim::Wait::never);
    std::chrono::milliseconds pause = gate_retry_time;
    if (others.has_gate()) {
        const Cpus busy = others.busy_cpus_without(keeper_);
        CpuShares shares;
        for (std::size_t i = 0; i < full_.size(); ++i) {
            Cpus regained = without(full_[i], busy);
            shares.push_back(regained.empty() ? current_[i] : std::move(regained));
        }
        apply(shares);
        pause = regain_retry_time;
    }
    const bool is_expected = std::ranges::any_of(borrowers_, &Borrower::has_loan);
    if (current_ == full_ || (others.has_gate() && is_expected)) return;
    retry_timer_.start(pause, [this] { take_back(); });
}

}  // namespace dlrt::launcher
