// SPDX-License-Identifier: Apache-2.0
/// Where the output of a host's ranks goes: to the head, to files of this host, to both, or
/// nowhere. What goes to several places counts as taken when all have it, so the slowest decides.
#pragma once

#include "launcher/event_loop.hpp"
#include "launcher/launch_plan.hpp"
#include "launcher/output_lane.hpp"
#include "launcher/output_pump.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dlrt::launcher {

class OutputRouter {
  public:
    struct Handlers {
        std::function<void(const RankOutput& output)> send;
        /// A file can't be written any more; what else would go there is dropped.
        std::function<void(std::string text)> on_failed;
        /// Whenever all streams have ended and all files are written.
        std::function<void()> on_all_ended;
    };

    /// The job must outlive the router.
    OutputRouter(EventLoop& loop, PreparedJob& job, Handlers handlers);

    /// The rank runs.
    void begin(std::uint32_t local_rank, std::int32_t pid) { pump_.begin(local_rank, pid); }
    /// So much of a rank's output has left the head.
    void taken(std::uint32_t local_rank, std::uint64_t size_bytes) {
        pump_.taken(local_rank, size_bytes);
    }
    /// Nobody who should write is left: streams end as soon as they are empty.
    void end_when_empty() { pump_.end_when_empty(); }
    void close_all();
    [[nodiscard]] bool has_ended() const;
    /// Pipes that have not ended, by their inode numbers.
    [[nodiscard]] std::vector<ino_t> open_pipes() const { return pump_.open_pipes(); }

  private:
    void add_lane(EventLoop& loop, const OutputFile& file);
    void route(const OutputPump::Lines& lines);
    void on_streams_ended();
    void finish();

    PreparedJob& job_;
    Handlers handlers_;
    std::vector<std::unique_ptr<OutputLane>> lanes_;  ///< By file.
    OutputPump pump_;
    bool is_dropping_ = false;
};

}  // namespace dlrt::launcher
