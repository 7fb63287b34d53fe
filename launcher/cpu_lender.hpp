// SPDX-License-Identifier: Apache-2.0
/// Lends cpus of a running job to a job of the same user that has too few, and takes them back
/// when that one has ended. Part of the daemon; runs in its event loop.
///
/// Only ranks with a share of several cpus give some, down to one core, the largest share first;
/// a rank whose threads have chosen cpus for themselves gives none.
#pragma once

#include "launcher/event_loop.hpp"
#include "launcher/launch_plan.hpp"
#include "runtime/base/fd.hpp"

#include <cstdint>
#include <list>
#include <span>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace dlrt::launcher {

using CpuShares = std::vector<std::vector<std::uint32_t>>;

/// Takes cpus from the shares until there are `wanted_count`, or more because cores are given as
/// a whole. `cores` are the cpus of each. A share keeps a core, or a cpu where it has no whole one
/// to give. Pure.
[[nodiscard]] CpuShares shrink_shares(
    CpuShares shares, std::span<const std::vector<std::uint32_t>> cores, std::uint32_t wanted_count
);

class CpuLender {
  public:
    /// `job` outlives this; `listener` may be closed: nobody asks then.
    CpuLender(EventLoop& loop, Fd listener, const PreparedJob& job, pid_t keeper);

    /// Once all ranks run, and when one has ended: pids by local rank, 0 for none. Before, requests
    /// wait.
    void set_pids(std::span<const pid_t> pids);

  private:
    struct Borrower {
        Borrower(EventLoop& loop, int connection) : watch(loop, connection) {}
        DescriptorWatch watch;
        bool has_loan = false;
    };

    void accept();
    void read(std::list<Borrower>::iterator borrower);
    [[nodiscard]] std::uint32_t lend(std::uint32_t wanted_count);
    void take_back();
    void apply(const CpuShares& shares);
    [[nodiscard]] bool gives(std::size_t local_rank) const;

    EventLoop& loop_;
    DescriptorWatch listener_;
    const PreparedJob& job_;
    pid_t keeper_;
    std::vector<pid_t> pids_;
    CpuShares full_;     ///< By local rank, as the head placed them.
    CpuShares current_;  ///< What of it isn't lent.
    std::list<Borrower> borrowers_;
    Timer retry_timer_;
};

}  // namespace dlrt::launcher
