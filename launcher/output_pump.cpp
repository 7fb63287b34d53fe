// SPDX-License-Identifier: Apache-2.0
#include "launcher/output_pump.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <unistd.h>
#include <utility>

namespace dlrt::launcher {
namespace {

constexpr std::size_t read_bytes = 64 * 1024;
constexpr std::chrono::milliseconds prompt_silence{50};
/// A stream that gives more at once is read on: its pipe would soon be full.
constexpr std::size_t little_bytes = 16 * 1024;

std::uint64_t realtime_us() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(now).count()
    );
}

}  // namespace

OutputPump::OutputPump(EventLoop& loop, std::vector<RankEnds>& ends, Handlers handlers)
    : handlers_(std::move(handlers)),
      ranks_(ends.size()),
      prompt_timer_(loop),
      rest_timer_(loop),
      scratch_(read_bytes) {
    for (std::uint32_t local_rank = 0; local_rank < ends.size(); ++local_rank) {
        RankEnds& end = ends[local_rank];
        add(loop, local_rank, StreamKind::out, std::move(end.output));
        streams_.back()->pipe = end.output_pipe;
        // Not there when both streams are one pipe.
        if (!end.error_output.is_open()) continue;
        add(loop, local_rank, StreamKind::err, std::move(end.error_output));
        streams_.back()->pipe = end.error_pipe;
    }
}

void OutputPump::add(EventLoop& loop, std::uint32_t local_rank, StreamKind kind, Fd pipe) {
    Stream& stream = *streams_.emplace_back(std::make_unique<Stream>(loop, pipe.release()));
    stream.local_rank = local_rank;
    stream.kind = kind;
    ranks_[local_rank].streams.push_back(&stream);
    ++open_count_;
}

void OutputPump::set_taker_count(std::uint32_t local_rank, std::size_t count) {
    ranks_[local_rank].taker_count = count;
}

void OutputPump::begin(std::uint32_t local_rank, std::int32_t pid) {
    ranks_[local_rank].pid = pid;
    ranks_[local_rank].has_begun = true;
    for (Stream* stream : ranks_[local_rank].streams) wait(*stream);
}

bool OutputPump::may_read(const Stream& stream) const {
    const Rank& rank = ranks_[stream.local_rank];
    if (!rank.has_begun && !ends_when_empty_) return false;
    if (rank.under_way_bytes >= rank_bytes_max * std::max<std::size_t>(rank.taker_count, 1)) {
        return false;
    }
    const bool others_wait_for_it = !open_lines_.empty() && open_lines_.front() == &stream;
    return host_bytes_under_way_ < host_bytes_max || others_wait_for_it;
}

void OutputPump::wait(Stream& stream) {
    if (stream.is_waiting || stream.is_resting || !stream.watch.is_open() || !may_read(stream))
        return;
    stream.is_waiting = true;
    const auto next = [this, &stream] {
        stream.is_waiting = false;
        // Others may have used up what may be under way since.
        if (stream.watch.is_open() && may_read(stream)) read(stream);
    };
    // A pipe without a writer that matters must be looked at; it may never become readable.
    if (ends_when_empty_)
        stream.watch.loop().post(next);
    else
        stream.watch.when_readable(next);
}

void OutputPump::read(Stream& stream) {
    const ssize_t got = ::read(stream.watch.get(), scratch_.data(), scratch_.size());
    if (got > 0) take(stream, {scratch_.data(), static_cast<std::size_t>(got)});
    if (got < 0) stream.is_flowing = false;
    const bool is_empty = got < 0 && (errno == EAGAIN || errno == EINTR);
    if (got == 0 || (got < 0 && (!is_empty || ends_when_empty_))) return end(stream);
    wait(stream);
}

void OutputPump::take(Stream& stream, std::string_view bytes) {
    const std::uint64_t now_us = realtime_us();
    const std::uint64_t silence_us = now_us - std::exchange(stream.read_us, now_us);
    stream.is_flowing = stream.is_flowing || silence_us < rest_time.count();
    LineAssembler& lines = stream.lines;
    unfinished_bytes_ -= lines.partial_bytes();
    forward(stream, lines.append(bytes));
    if (unfinished_bytes_ + lines.partial_bytes() > unfinished_bytes_max) {
        forward(stream, lines.take_partial());
    }
    unfinished_bytes_ += lines.partial_bytes();
    note_open_line(stream);
    if (ranks_[stream.local_rank].passes_prompts && lines.has_partial()) arm_prompt_timer();
    if (stream.is_flowing && bytes.size() < little_bytes && !ends_when_empty_) rest(stream);
}

void OutputPump::rest(Stream& stream) {
    stream.is_resting = true;
    // Others may have taken all that was under way already, and so begun to wait.
    stream.is_waiting = false;
    stream.watch.park();
    if (std::exchange(is_rest_timer_set_, true)) return;
    rest_timer_.start(rest_time, [this] {
        is_rest_timer_set_ = false;
        for (const auto& rested : streams_) {
            if (!std::exchange(rested->is_resting, false) || !rested->watch.is_open()) continue;
            if (may_read(*rested))
                read(*rested);
            else
                wait(*rested);
        }
    });
}

void OutputPump::forward(Stream& stream, std::string_view lines) {
    if (lines.empty()) return;
    Rank& rank = ranks_[stream.local_rank];
    rank.under_way_bytes += lines.size() * rank.taker_count;
    host_bytes_under_way_ += lines.size() * rank.taker_count;
    handlers_.forward({stream.local_rank, stream.kind, rank.pid, stream.read_us, lines});
}

void OutputPump::note_open_line(Stream& stream) {
    const auto found = std::ranges::find(open_lines_, &stream);
    const bool was_open = found != open_lines_.end();
    if (was_open == stream.lines.is_in_line()) return;
    if (!was_open) return open_lines_.push_back(&stream);
    const bool was_first = found == open_lines_.begin();
    open_lines_.erase(found);
    if (was_first && !open_lines_.empty()) wait(*open_lines_.front());
}

void OutputPump::end(Stream& stream) {
    unfinished_bytes_ -= stream.lines.partial_bytes();
    forward(stream, stream.lines.finish());
    stream.watch.close();
    note_open_line(stream);
    if (--open_count_ == 0) handlers_.on_all_ended();
}

void OutputPump::taken(std::uint32_t local_rank, std::uint64_t size_bytes) {
    std::size_t& under_way = ranks_[local_rank].under_way_bytes;
    const std::size_t size = std::min<std::size_t>(size_bytes, under_way);
    const bool was_full = host_bytes_under_way_ >= host_bytes_max;
    under_way -= size;
    host_bytes_under_way_ -= size;
    if (was_full) {
        for (const auto& stream : streams_) wait(*stream);
    } else {
        for (Stream* stream : ranks_[local_rank].streams) wait(*stream);
    }
}

void OutputPump::pass_on_prompts_of(std::uint32_t local_rank) {
    ranks_[local_rank].passes_prompts = true;
}

void OutputPump::arm_prompt_timer() {
    prompt_timer_.start(prompt_silence, [this] {
        for (const auto& stream : streams_) {
            if (!ranks_[stream->local_rank].passes_prompts || !stream->watch.is_open()) continue;
            unfinished_bytes_ -= stream->lines.partial_bytes();
            forward(*stream, stream->lines.take_partial());
            note_open_line(*stream);
        }
    });
}

void OutputPump::end_when_empty() {
    ends_when_empty_ = true;
    for (const auto& stream : streams_) {
        stream->watch.cancel();
        stream->is_waiting = false;
        stream->is_resting = false;
        wait(*stream);
    }
}

void OutputPump::close_all() {
    for (const auto& stream : streams_) stream->watch.close();
    open_count_ = 0;
}

std::vector<ino_t> OutputPump::open_pipes() const {
    std::vector<ino_t> pipes;
    for (const auto& stream : streams_) {
        if (stream->watch.is_open()) pipes.push_back(stream->pipe);
    }
    return pipes;
}

}  // namespace dlrt::launcher
