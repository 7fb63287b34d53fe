// SPDX-License-Identifier: Apache-2.0
#include "launcher/output_router.hpp"

#include "launcher/line_format.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {

OutputRouter::OutputRouter(EventLoop& loop, PreparedJob& job, Handlers handlers)
    : job_(job),
      handlers_(std::move(handlers)),
      pump_(
          loop, job.ends,
          {[this](const OutputPump::Lines& lines) { route(lines); }, [this] { on_streams_ended(); }}
      ) {
    for (const OutputFile& file : job_.output_files.files()) add_lane(loop, file);
    for (std::uint32_t local_rank = 0; local_rank < job_.ends.size(); ++local_rank) {
        const RankEnds& end = job_.ends[local_rank];
        const bool is_forwarded = job_.output.forwarded_ranks.contains(end.rank);
        pump_.set_taker_count(local_rank, (lanes_.empty() ? 0u : 1u) + (is_forwarded ? 1u : 0u));
        if (job_.output.passes_prompts && end.stdin_target.is_open()) {
            pump_.pass_on_prompts_of(local_rank);
        }
    }
}

void OutputRouter::add_lane(EventLoop& loop, const OutputFile& file) {
    const auto on_written = [this](std::uint32_t rank, std::size_t credit_bytes) {
        if (credit_bytes > 0) pump_.taken(job_.map.ranks[rank].local_rank, credit_bytes);
    };
    const auto on_failed = [this, path = file.path](int error) {
        handlers_.on_failed(
            fmt::format("cannot write the output file '{}': {}", path, std::strerror(error))
        );
    };
    auto& lane = lanes_.emplace_back(std::make_unique<OutputLane>(
        loop, file.descriptor.get(),
        OutputWriter::Handlers{on_written, on_failed, [this] { finish(); }}
    ));
    Result<LineFormat> tags = LineFormat::parse(job_.output.file_tags);
    if (!tags) return;
    const auto times = job_.output.has_file_times ? Timestamps::on : Timestamps::off;
    lane->set_tagger(LineTagger(job_.map, std::move(*tags), times));
}

void OutputRouter::route(const OutputPump::Lines& lines) {
    if (is_dropping_) return;
    const std::uint32_t rank = job_.ends[lines.local_rank].rank;
    if (const auto file = job_.output_files.file_of(lines.local_rank, lines.stream)) {
        lanes_[*file]->add(
            {rank, lines.stream, lines.pid, lines.time_us}, std::string(lines.bytes)
        );
    }
    if (!job_.output.forwarded_ranks.contains(rank)) return;
    const auto bytes = std::as_bytes(std::span(lines.bytes));
    handlers_.send({rank, lines.stream, lines.pid, lines.time_us, {bytes.begin(), bytes.end()}});
}

void OutputRouter::on_streams_ended() {
    for (const auto& lane : lanes_) lane->end();
    finish();
}

void OutputRouter::finish() {
    if (!has_ended()) return;
    if (const auto path = job_.output_files.close()) {
        handlers_.on_failed(
            fmt::format("cannot write the output file '{}': {}", *path, std::strerror(errno))
        );
    }
    handlers_.on_all_ended();
}

void OutputRouter::close_all() {
    is_dropping_ = true;
    pump_.close_all();
}

bool OutputRouter::has_ended() const {
    return pump_.has_ended() &&
           (is_dropping_ || std::ranges::all_of(lanes_, &OutputLane::is_empty));
}

}  // namespace dlrt::launcher
