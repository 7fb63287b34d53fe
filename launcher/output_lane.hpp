// SPDX-License-Identifier: Apache-2.0
/// One way out for the lines of many ranks: a stream of dlrun's or a file of a daemon's. Tags the
/// lines, keeps them whole, writes them, and says what has been written.
#pragma once

#include "launcher/event_loop.hpp"
#include "launcher/line_merger.hpp"
#include "launcher/line_tagger.hpp"
#include "launcher/output_writer.hpp"

#include <string>
#include <string_view>

namespace dlrt::launcher {

class OutputLane {
  public:
    /// The descriptor stays the caller's and must outlive the lane.
    OutputLane(EventLoop& loop, int descriptor, OutputWriter::Handlers handlers);

    void set_tagger(LineTagger tagger) { tagger_ = std::move(tagger); }
    void add(const LineOrigin& origin, std::string bytes);
    /// A line of the launcher's own.
    void add_own_line(std::string_view line);
    /// Nothing more comes: nobody is waited for any longer.
    void end();
    /// All that came has been written.
    [[nodiscard]] bool is_empty() const { return !merger_.is_holding() && writer_.is_empty(); }

  private:
    void watch_open_line();

    LineMerger merger_;
    LineTagger tagger_;
    OutputWriter writer_;
    Timer open_line_timer_;
    bool is_timer_set_ = false;
    bool has_moved_ = false;  ///< The open line has, since the timer was set.
    int moves_ = 0;           ///< For so many times of the timer others have waited for it.
};

}  // namespace dlrt::launcher
