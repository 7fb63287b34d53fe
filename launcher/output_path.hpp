// SPDX-License-Identifier: Apache-2.0
/// The way of the ranks' two streams to the user's stdout and stderr. When both are the same file,
/// pipe or terminal, they go through one writer, so that lines stay whole there too.
#pragma once

#include "launcher/event_loop.hpp"
#include "launcher/frame.hpp"
#include "launcher/line_merger.hpp"
#include "launcher/output_writer.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace dlrt::launcher {

class OutputPath {
  public:
    struct Handlers {
        std::function<void(std::uint32_t rank, std::size_t size_bytes)> on_written;
        /// Stdout can't be written any more (errno).
        std::function<void(int error)> on_failed;
        std::function<void()> on_empty;
    };

    OutputPath(EventLoop& loop, Tagging tagging, Handlers handlers);

    void add(std::uint32_t rank, StreamKind stream, Bytes bytes);
    /// A line of dlrun's own, to stderr.
    void add_own_line(std::string_view line);
    /// Nothing more comes.
    void end();
    [[nodiscard]] bool is_empty() const;

  private:
    struct Lane {
        Lane(EventLoop& loop, Tagging tagging) : merger(tagging), open_line_timer(loop) {}
        LineMerger merger;
        std::unique_ptr<OutputWriter> writer;
        Timer open_line_timer;
        bool is_timer_set = false;
    };
    std::unique_ptr<Lane> make_lane(EventLoop& loop, Tagging tagging, int descriptor);
    void watch_open_line(Lane& lane);

    Handlers handlers_;
    std::unique_ptr<Lane> out_;
    std::unique_ptr<Lane> own_err_;  ///< Null when stderr is where stdout is.
    Lane* err_ = nullptr;
};

}  // namespace dlrt::launcher
