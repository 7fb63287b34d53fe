// SPDX-License-Identifier: Apache-2.0
/// The way of the ranks' two streams to the user's stdout and stderr. When both are the same file,
/// pipe or terminal, they go through one writer, so that lines stay whole there too.
#pragma once

#include "launcher/event_loop.hpp"
#include "launcher/frame.hpp"
#include "launcher/line_tagger.hpp"
#include "launcher/output_lane.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace dlrt::launcher {

class OutputPath {
  public:
    struct Handlers {
        std::function<void(std::uint32_t rank, std::size_t size_bytes)> on_written;
        /// Stdout can't be written any more (errno).
        std::function<void(int error)> on_failed;
        std::function<void()> on_empty;
    };

    OutputPath(EventLoop& loop, Handlers handlers);

    void set_tagger(const LineTagger& tagger);
    void add(const RankOutput& output);
    /// A line of dlrun's own, to stderr.
    void add_own_line(std::string_view line);
    /// Nothing more comes.
    void end();
    [[nodiscard]] bool is_empty() const;

  private:
    std::unique_ptr<OutputLane> make_lane(EventLoop& loop, int descriptor);

    Handlers handlers_;
    std::unique_ptr<OutputLane> out_;
    std::unique_ptr<OutputLane> own_err_;  ///< Null when stderr is where stdout is.
    OutputLane* err_ = nullptr;
};

}  // namespace dlrt::launcher
