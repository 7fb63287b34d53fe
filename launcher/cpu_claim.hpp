// SPDX-License-Identifier: Apache-2.0
/// Which cpus the jobs of one user on one host hold, so that two of them don't share cores while
/// others idle.
///
/// The kernel keeps the books: a job that holds cpus listens under one of a few abstract names,
/// the process that does is its keeper, and what it holds is the keeper's own affinity. So nothing
/// is stale: with the process its claim is gone. While a daemon chooses, it holds another name,
/// the gate, and others of this user wait for it. Names of other users are ignored.
///
/// Daemon and keeper only, before and beside the event loop; nothing blocks for long.
#pragma once

#include "runtime/base/fd.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

namespace dlrt::launcher {

class CpuClaim {
  public:
    enum class Wait : std::uint8_t { while_others_choose, never };

    /// Takes the gate, after waiting 2 s for it at most, and looks who holds what. `name_prefix`
    /// belongs to user and host; tests have their own.
    [[nodiscard]] static CpuClaim begin(std::string name_prefix, Wait wait);
    /// Of a host whose cpus nobody is bound to: knows of no others, and must settle for nothing.
    [[nodiscard]] static CpuClaim none() { return CpuClaim(""); }

    /// Held by others.
    [[nodiscard]] std::vector<std::uint32_t> busy_cpus() const { return busy_cpus_without(0); }
    /// Nor by that one.
    [[nodiscard]] std::vector<std::uint32_t> busy_cpus_without(pid_t keeper) const;
    /// Whether nobody else of this user chooses meanwhile.
    [[nodiscard]] bool has_gate() const { return gate_.is_open(); }

    /// Asks those who hold more cpus than they need until `wanted_count` of `usable_cpus` aren't
    /// busy or nobody lends more. What was lent goes back when this object and its copies of the
    /// connections are gone.
    void borrow(std::uint32_t wanted_count, std::span<const std::uint32_t> usable_cpus);

    /// Holds these from now on, none if empty, and opens the gate. The calling process is bound to
    /// them, which those below it inherit, until leave_cpus().
    void settle(std::span<const std::uint32_t> cpus);
    /// The calling process gets back the affinity that it had before settle().
    void leave_cpus();

    /// Where others ask for cpus; -1 where none are held. The keeper becomes its holder by
    /// hold_cpus().
    [[nodiscard]] int listener() const { return listener_.get(); }
    [[nodiscard]] Fd take_listener() { return std::move(listener_); }

  private:
    struct Holder {
        std::uint32_t slot = 0;
        Fd connection;
        pid_t pid = 0;
        std::vector<std::uint32_t> cpus;
    };

    explicit CpuClaim(std::string name_prefix) : name_prefix_(std::move(name_prefix)) {}
    void take_gate(Wait wait);
    void find_holders();
    void look_again(Holder& holder) const;
    void listen_somewhere();
    [[nodiscard]] std::string slot_name(std::uint32_t slot) const;

    std::string name_prefix_;
    Fd gate_;
    Fd listener_;
    std::vector<Holder> holders_;
    std::vector<Fd> loans_;
    std::vector<std::uint32_t> own_affinity_;  ///< Before settle(); empty: unchanged.
};

/// "dlrt-UID-cpus".
[[nodiscard]] std::string cpu_claim_prefix();

/// In the keeper: others now ask its affinity. Nothing for -1.
void hold_cpus(int listener);

/// Of a process; empty when it is gone.
[[nodiscard]] std::vector<std::uint32_t> affinity_of(pid_t pid);
/// Whether the kernel took it.
bool set_affinity(pid_t pid, std::span<const std::uint32_t> cpus);

/// What a borrower sends, and what it gets back: a number of cpus.
struct CpuLoan {
    std::uint32_t cpu_count = 0;
};

}  // namespace dlrt::launcher
