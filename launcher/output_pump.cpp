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

}  // namespace

OutputPump::OutputPump(EventLoop& loop, std::vector<RankEnds>& ends, Handlers handlers)
    : handlers_(std::move(handlers)), prompt_timer_(loop), scratch_(read_bytes) {
    bytes_under_way_.resize(ends.size());
    for (std::uint32_t local_rank = 0; local_rank < ends.size(); ++local_rank) {
        add(loop, local_rank, StreamKind::out, std::move(ends[local_rank].output));
        streams_.back()->pipe = ends[local_rank].output_pipe;
        add(loop, local_rank, StreamKind::err, std::move(ends[local_rank].error_output));
        streams_.back()->pipe = ends[local_rank].error_pipe;
    }
}

void OutputPump::add(EventLoop& loop, std::uint32_t local_rank, StreamKind kind, Fd pipe) {
    Stream& stream = *streams_.emplace_back(std::make_unique<Stream>(loop, pipe.release()));
    stream.local_rank = local_rank;
    stream.kind = kind;
    ++open_count_;
    wait(stream);
}

bool OutputPump::may_read(const Stream& stream) const {
    return bytes_under_way_[stream.local_rank] < rank_bytes_max &&
           host_bytes_under_way_ < host_bytes_max;
}

void OutputPump::wait(Stream& stream) {
    if (stream.is_waiting || !stream.watch.is_open() || !may_read(stream)) return;
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
    if (got > 0) {
        forward(stream, stream.lines.append({scratch_.data(), static_cast<std::size_t>(got)}));
        if (stream.local_rank == prompt_rank_ && stream.lines.has_partial()) arm_prompt_timer();
    }
    const bool is_empty = got < 0 && (errno == EAGAIN || errno == EINTR);
    if (got == 0 || (got < 0 && (!is_empty || ends_when_empty_))) return end(stream);
    wait(stream);
}

void OutputPump::forward(Stream& stream, std::string_view lines) {
    if (lines.empty()) return;
    bytes_under_way_[stream.local_rank] += lines.size();
    host_bytes_under_way_ += lines.size();
    handlers_.forward(stream.local_rank, stream.kind, lines);
}

void OutputPump::end(Stream& stream) {
    forward(stream, stream.lines.finish());
    stream.watch.close();
    if (--open_count_ == 0) handlers_.on_all_ended();
}

void OutputPump::taken(std::uint32_t local_rank, std::uint64_t size_bytes) {
    std::size_t& under_way = bytes_under_way_[local_rank];
    const std::size_t size = std::min<std::size_t>(size_bytes, under_way);
    const bool was_full = host_bytes_under_way_ >= host_bytes_max;
    under_way -= size;
    host_bytes_under_way_ -= size;
    for (const auto& stream : streams_) {
        if (was_full || stream->local_rank == local_rank) wait(*stream);
    }
}

void OutputPump::pass_on_prompts_of(std::uint32_t local_rank) {
    prompt_rank_ = local_rank;
}

void OutputPump::arm_prompt_timer() {
    prompt_timer_.start(prompt_silence, [this] {
        for (const auto& stream : streams_) {
            if (stream->local_rank == prompt_rank_ && stream->watch.is_open()) {
                forward(*stream, stream->lines.take_partial());
            }
        }
    });
}

void OutputPump::end_when_empty() {
    ends_when_empty_ = true;
    for (const auto& stream : streams_) {
        stream->watch.cancel();
        stream->is_waiting = false;
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
