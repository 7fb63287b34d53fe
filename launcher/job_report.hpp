// SPDX-License-Identifier: Apache-2.0
/// The file of --report: what ran where, for how long, with how much memory, and how it ended, as
/// JSON. Collected while the job runs, written once at its end. Single-threaded.
#pragma once

#include "launcher/frame.hpp"
#include "launcher/job_outcome.hpp"
#include "launcher/options.hpp"
#include "runtime/base/fd.hpp"
#include "runtime/base/result.hpp"
#include "runtime/wireup/job_map.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dlrt::launcher {

class JobReport {
  public:
    /// Makes or empties the file; nothing if the options name none. Errors: Errc::system with the
    /// line to print.
    [[nodiscard]] static Result<std::optional<JobReport>> open(const Options& options);

    void note_job(const JobMap& map) {
        map_ = map;
        ranks_.resize(map.size());
    }
    /// Of one host, by local rank.
    void note_started(const RanksStarted& started, std::uint32_t host_index);
    void note_ended(const RankEnded& end);

    [[nodiscard]] std::string text(const Cause& cause) const;

    /// Errors: Errc::system with the line to print.
    Status write(const Cause& cause);

  private:
    struct RankRecord {
        std::int32_t pid = 0;  ///< 0: it never started.
        std::optional<RankEnded> end;
    };

    JobReport(const Options& options, Fd file);

    std::string path_;
    Fd file_;
    std::vector<std::string> command_;
    std::vector<Block> blocks_;
    JobMap map_;
    std::vector<RankRecord> ranks_;  ///< By world rank.
    std::uint64_t started_at_unix_ns_ = 0;
};

}  // namespace dlrt::launcher
