// SPDX-License-Identifier: Apache-2.0
/// What a job has come to so far: which ranks have ended, the first cause of a failure in time, and
/// what dlrun will say and return because of it. Pure.
#pragma once

#include "launcher/frame.hpp"
#include "launcher/job_outcome.hpp"
#include "launcher/options.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dlrt::launcher {

class JobVerdict {
  public:
    explicit JobVerdict(OnFailure on_failure) : on_failure_(on_failure) {}

    /// Before anything else is said about ranks.
    void set_rank_count(std::uint32_t count) { rank_count_ = count; }
    void note_all_started() { have_all_started_ = true; }
    /// `end` as the daemon on `host` reports it. Returns whether the job must be ended for it.
    bool take_rank_end(const RankEnded& end, const std::string& host);
    /// A rank waited for one that is gone. Returns the same.
    bool take_missed(const RankMissed& missed);
    /// Why the job is being ended. The first cause wins; later ones are consequences.
    void set_cause(Cause cause);

    [[nodiscard]] bool is_failed() const;
    [[nodiscard]] bool have_all_ended() const { return ended_count_ >= rank_count_; }
    /// What decides the exit status.
    [[nodiscard]] const Cause& cause() const;
    [[nodiscard]] int exit_status() const { return exit_status_of(cause()); }
    /// Lines for the user, without "dlrun: ".
    [[nodiscard]] std::vector<std::string> lines() const;

  private:
    [[nodiscard]] bool is_being_ended() const { return cause_.kind != CauseKind::none; }
    void count_further_failure(const RankEnded& end);
    bool take_failure(Cause failure);

    OnFailure on_failure_;
    Cause cause_;
    Cause outlived_failure_;               ///< The first of those that did not end the job.
    std::vector<std::string> last_calls_;  ///< Of the first rank that failed.
    std::uint32_t rank_count_ = 0;
    std::uint32_t ended_count_ = 0;
    Aftermath aftermath_;
    std::vector<Cause> leavers_;  ///< Who exited with 0 without finalizing; kind none.
    bool have_all_started_ = false;
};

}  // namespace dlrt::launcher
