// SPDX-License-Identifier: Apache-2.0
#include "launcher/progress.hpp"

#include <algorithm>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

constexpr std::chrono::seconds line_period{5};
constexpr std::chrono::seconds drawing_period{1};
/// A start that takes longer than this is explained.
constexpr std::chrono::seconds patient_time{2};
constexpr std::size_t names_shown_max = 6;
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

void Progress::await_hosts(std::function<std::vector<std::string>()> names_awaited) {
    names_awaited_ = std::move(names_awaited);
    began_at_ = std::chrono::steady_clock::now();
    if (form_ == Form::lines) return wait_for_hosts(line_period);
    if (::isatty(STDERR_FILENO) == 1) wait_for_hosts(patient_time);
}

void Progress::wait_for_hosts(std::chrono::seconds pause) {
    timer_.start(pause, [this] {
        const std::string line = awaiting_text(names_awaited_(), elapsed());
        if (form_ == Form::lines) {
            outlets_.say(line);
            return wait_for_hosts(line_period);
        }
        draw(line);
        wait_for_hosts(drawing_period);
    });
}

void Progress::stop_awaiting() {
    timer_.cancel();
    make_way();
}

void Progress::wait() {
    timer_.start(form_ == Form::terminal ? drawing_period : line_period, [this] {
        show();
        wait();
    });
}

void Progress::show() {
    if (form_ == Form::lines) return outlets_.say(text(elapsed()));
    draw(text(elapsed()));
}

std::chrono::seconds Progress::elapsed() const {
    return std::chrono::duration_cast<std::chrono::seconds>(
        std::chrono::steady_clock::now() - began_at_
    );
}

void Progress::draw(std::string_view line) {
    outlets_.draw(fmt::format("{}dlrun: {}", erase_line, line));
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

std::string Progress::awaiting_text(
    const std::vector<std::string>& names, std::chrono::seconds elapsed
) {
    std::string list;
    const std::size_t shown = std::min(names.size(), names_shown_max);
    for (std::size_t i = 0; i < shown; ++i) list += (i == 0 ? "" : ", ") + names[i];
    if (const std::size_t others = names.size() - shown; others > 0) {
        list += fmt::format(" and {} other{}", others, others == 1 ? "" : "s");
    }
    return fmt::format("waiting for {}, {} s", list, elapsed.count());
}

}  // namespace dlrt::launcher
