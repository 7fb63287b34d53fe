// SPDX-License-Identifier: Apache-2.0
/// The line of --progress: how many ranks have started and ended. On a terminal one line that is
/// renewed each second and gives way to everything else; otherwise a line each 5 s. Runs in the
/// head's event loop.
#pragma once

#include "launcher/event_loop.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace dlrt::launcher {

class Progress {
  public:
    enum class Form : std::uint8_t { off, lines, terminal };

    /// `say` prints a line of dlrun's own; `draw` writes to the terminal as it is.
    struct Outlets {
        std::function<void(std::string_view line)> say;
        std::function<void(std::string_view text)> draw;
    };

    Progress(EventLoop& loop, Form form, Outlets outlets);

    /// That of --progress where standard error is what it is.
    [[nodiscard]] static Form form_for(bool is_asked_for);

    /// Hosts are being reached: on a terminal their names are shown, asked for or not, once that
    /// takes long.
    void await_hosts(std::function<std::vector<std::string>()> names_awaited);
    /// They have been reached, or nobody will be.
    void stop_awaiting();
    void start(std::uint32_t rank_count);
    void note_started(std::uint32_t count) { started_count_ += count; }
    void note_ended() { ++ended_count_; }
    /// Something else is about to be written: the terminal's line goes away for a while.
    void make_way();
    /// The job has ended.
    void stop();

    /// "8 of 8 ranks started, 3 ended, 12 s"
    [[nodiscard]] std::string text(std::chrono::seconds elapsed) const;
    /// "waiting for h2, h3 and 5 others, 12 s"
    [[nodiscard]] static std::string awaiting_text(
        const std::vector<std::string>& names, std::chrono::seconds elapsed
    );

  private:
    void wait();
    void show();
    void wait_for_hosts(std::chrono::seconds pause);
    void draw(std::string_view line);
    [[nodiscard]] std::chrono::seconds elapsed() const;

    Form form_;
    Outlets outlets_;
    Timer timer_;
    std::function<std::vector<std::string>()> names_awaited_;
    std::chrono::steady_clock::time_point began_at_;
    std::uint32_t rank_count_ = 0;
    std::uint32_t started_count_ = 0;
    std::uint32_t ended_count_ = 0;
    bool is_drawn_ = false;
};

}  // namespace dlrt::launcher
