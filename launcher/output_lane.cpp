// SPDX-License-Identifier: Apache-2.0
#include "launcher/output_lane.hpp"

#include <chrono>
#include <utility>
#include <vector>

namespace dlrt::launcher {
namespace {

/// How long others wait for the end of a line that comes in parts.
constexpr std::chrono::milliseconds open_line_time{100};
/// How many times over, if more of the line keeps coming.
constexpr int moves_max = 10;

}  // namespace

OutputLane::OutputLane(EventLoop& loop, int descriptor, OutputWriter::Handlers handlers)
    : writer_(loop, descriptor, std::move(handlers)), open_line_timer_(loop) {
}

void OutputLane::add(const LineOrigin& origin, std::string bytes) {
    std::vector<OutputItem> ready;
    merger_.add(origin.rank, tagger_.prefix_of(origin), std::move(bytes), ready);
    has_moved_ = has_moved_ || !ready.empty();
    writer_.add(std::move(ready));
    watch_open_line();
}

void OutputLane::add_own_line(std::string_view line) {
    std::vector<OutputItem> ready;
    merger_.add_own_line(line, ready);
    writer_.add(std::move(ready));
}

void OutputLane::watch_open_line() {
    if (!merger_.is_holding() || is_timer_set_) return;
    is_timer_set_ = true;
    has_moved_ = false;
    open_line_timer_.start(open_line_time, [this] {
        is_timer_set_ = false;
        // While the reader is slow, it isn't the rank that keeps the others waiting.
        const bool is_reader_slow = !writer_.is_empty();
        const bool is_moving = has_moved_ && moves_++ < moves_max;
        if (!is_reader_slow && !is_moving) {
            moves_ = 0;
            std::vector<OutputItem> ready;
            merger_.release(ready);
            writer_.add(std::move(ready));
        }
        watch_open_line();
    });
}

void OutputLane::end() {
    open_line_timer_.cancel();
    std::vector<OutputItem> ready;
    while (merger_.is_holding()) merger_.release(ready);
    writer_.add(std::move(ready));
}

}  // namespace dlrt::launcher
