// SPDX-License-Identifier: Apache-2.0
#include "launcher/job_verdict.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

bool is_rank_failure(const Cause& cause) {
    return cause.kind == CauseKind::rank_exited || cause.kind == CauseKind::rank_killed ||
           cause.kind == CauseKind::rank_left;
}

}  // namespace

bool JobVerdict::take_rank_end(const RankEnded& end, const std::string& host) {
    ++ended_count_;
    Cause failure = cause_of_wait_status(end.wait_status);
    failure.rank = end.rank;
    failure.host = host;
    failure.pid = end.pid;
    failure.lifetime_ns = end.lifetime_ns;
    failure.remark = end.remark;
    if (is_being_ended()) {
        count_further_failure(end);
        return false;
    }
    if (failure.kind == CauseKind::none) {
        if (end.is_unfinalized) leavers_.push_back(std::move(failure));
        return false;
    }
    if (outlived_failure_.kind == CauseKind::none) last_calls_ = end.last_calls;
    return take_failure(std::move(failure));
}

bool JobVerdict::take_missed(const RankMissed& missed) {
    const auto leaver = std::find_if(leavers_.begin(), leavers_.end(), [&](const Cause& cause) {
        return cause.rank == missed.rank;
    });
    if (leaver == leavers_.end() || is_being_ended()) return false;
    Cause failure = std::move(*leaver);
    leavers_.erase(leaver);
    failure.kind = CauseKind::rank_left;
    failure.value = missed.waiting_rank;
    return take_failure(std::move(failure));
}

bool JobVerdict::take_failure(Cause failure) {
    if (on_failure_ == OnFailure::kill) {
        set_cause(std::move(failure));
        return true;
    }
    if (outlived_failure_.kind != CauseKind::none) {
        ++aftermath_.failed_count;
    } else {
        outlived_failure_ = std::move(failure);
    }
    return false;
}

void JobVerdict::count_further_failure(const RankEnded& end) {
    // Who fails because another aborted the job has been ended by that.
    if (end.was_told_to_end || cause_.kind == CauseKind::rank_aborted) return;
    if (aftermath_.terminated_count > 0) --aftermath_.terminated_count;
    if (end.wait_status != 0 && is_rank_failure(cause_)) ++aftermath_.failed_count;
}

void JobVerdict::set_cause(Cause cause) {
    if (is_being_ended()) return;
    cause_ = std::move(cause);
    // Where no rank has failed while they are started, nothing is known to have run.
    const bool is_known = have_all_started_ || is_rank_failure(cause_) ||
                          cause_.kind == CauseKind::rank_aborted;
    const std::uint32_t own_count = cause_.kind == CauseKind::rank_aborted ? 1 : 0;
    aftermath_.terminated_count = is_known ? rank_count_ - ended_count_ - own_count : 0;
}

bool JobVerdict::is_failed() const {
    return is_being_ended() || outlived_failure_.kind != CauseKind::none;
}

const Cause& JobVerdict::cause() const {
    const bool counts_first = on_failure_ == OnFailure::wait &&
                              outlived_failure_.kind != CauseKind::none;
    return counts_first ? outlived_failure_ : cause_;
}

std::vector<std::string> JobVerdict::lines() const {
    std::vector<std::string> lines;
    if (!leavers_.empty()) {
        const std::size_t others = leavers_.size() - 1;
        lines.push_back(fmt::format(
            "note: rank {}{} ended without finalizing dlrt", leavers_[0].rank,
            others == 0 ? "" : fmt::format(" and {} other{}", others, others == 1 ? "" : "s")
        ));
    }
    const bool is_outlived = outlived_failure_.kind != CauseKind::none;
    if (is_outlived) lines.push_back(describe(outlived_failure_, {aftermath_.failed_count, 0}));
    Aftermath of_cause = aftermath_;
    if (is_outlived) of_cause.failed_count = 0;
    if (std::string line = describe(cause_, of_cause); !line.empty()) {
        lines.push_back(std::move(line));
    }
    if (!last_calls_.empty()) {
        const Cause& first = is_outlived ? outlived_failure_ : cause_;
        lines.push_back(fmt::format("last calls of rank {}, oldest first:", first.rank));
        for (const std::string& call : last_calls_) lines.push_back("  " + call);
    }
    return lines;
}

}  // namespace dlrt::launcher
