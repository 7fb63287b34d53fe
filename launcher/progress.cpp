// SPDX-License-Identifier: Apache-2.0
#include "launcher/progress.hpp"

#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

constexpr std::chrono::seconds line_period{5};
constexpr std::chrono::seconds drawing_period{1};
constexpr std::string_view erase_line = "\r\033[K";

}  // namespace

Progress::Progress(EventLoop& loop, Form form, Outlets outlets)
    : form_(form), outlets_(std::move(outlets)), timer_(loop) {
}

Progress::Form Progress::form_for(bool is_asked_for) {
    if (!is_asked_for) return Form::off;
    return ::isatty(STDERR_FILENO) == 1 ? Form::terminal : Form::lines;
}

void Progress::start(std::uint32_t rank_count) {
    rank_count_ = rank_count;
    began_at_ = std::chrono::steady_clock::now();
    if (form_ != Form::off) wait();
}

void Progress::wait() {
    timer_.start(form_ == Form::terminal ? drawing_period : line_period, [this] {
        show();
        wait();
    });
}

void Progress::show() {
    const auto elapsed = std::chrono::duration_cast<std::chrono::seconds>(
        std::chrono::steady_clock::now() - began_at_
    );
    if (form_ == Form::lines) return outlets_.say(text(elapsed));
    outlets_.draw(fmt::format("{}dlrun: {}", erase_line, text(elapsed)));
    is_drawn_ = true;
}

void Progress::make_way() {
    if (std::exchange(is_drawn_, false)) outlets_.draw(erase_line);
}

void Progress::stop() {
    timer_.cancel();
    make_way();
    form_ = Form::off;
}

std::string Progress::text(std::chrono::seconds elapsed) const {
    return fmt::format(
        "{} of {} rank{} started, {} ended, {} s", started_count_, rank_count_,
        rank_count_ == 1 ? "" : "s", ended_count_, elapsed.count()
    );
}

}  // namespace dlrt::launcher
