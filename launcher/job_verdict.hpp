// SPDX-License-Identifier: Apache-2.0
/// What a job has come to so far: which ranks have ended, the first cause of a failure in time, and
/// what dlrun will say and return because of it. Pure.
#pragma once

#include "launcher/job_outcome.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace dlrt::launcher {

class JobVerdict {
  public:
    /// Before anything else is said about ranks.
    void set_rank_count(std::uint32_t count) { rank_count_ = count; }
    void note_all_started() { have_all_started_ = true; }
    void note_rank_ended() { ++ended_count_; }
    void note_unfinalized(std::uint32_t rank) { unfinalized_ranks_.push_back(rank); }
    /// The first cause wins; later ones are consequences.
    void set_cause(Cause cause);

    [[nodiscard]] bool is_failed() const { return cause_.kind != CauseKind::none; }
    [[nodiscard]] bool have_all_ended() const { return ended_count_ >= rank_count_; }
    [[nodiscard]] const Cause& cause() const { return cause_; }
    [[nodiscard]] int exit_status() const { return exit_status_of(cause_); }
    /// Lines for the user, without "dlrun: ".
    [[nodiscard]] std::vector<std::string> lines() const;

  private:
    Cause cause_;
    std::uint32_t rank_count_ = 0;
    std::uint32_t ended_count_ = 0;
    std::uint32_t terminated_count_ = 0;
    std::vector<std::uint32_t> unfinalized_ranks_;
    bool have_all_started_ = false;
};

}  // namespace dlrt::launcher
