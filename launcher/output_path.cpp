// SPDX-License-Identifier: Apache-2.0
#include "launcher/output_path.hpp"

#include <chrono>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace dlrt::launcher {
namespace {

/// How long others wait for the end of a line that comes in parts.
constexpr std::chrono::milliseconds open_line_time{100};

bool is_same_file(int a, int b) {
    struct stat facts_a = {};
    struct stat facts_b = {};
    return ::fstat(a, &facts_a) == 0 && ::fstat(b, &facts_b) == 0 &&
           facts_a.st_dev == facts_b.st_dev && facts_a.st_ino == facts_b.st_ino;
}

}  // namespace

OutputPath::OutputPath(EventLoop& loop, Tagging tagging, Handlers handlers)
    : handlers_(std::move(handlers)), out_(make_lane(loop, tagging, STDOUT_FILENO)) {
    err_ = out_.get();
    if (is_same_file(STDOUT_FILENO, STDERR_FILENO)) return;
    own_err_ = make_lane(loop, tagging, STDERR_FILENO);
    err_ = own_err_.get();
}

std::unique_ptr<OutputPath::Lane> OutputPath::make_lane(
    EventLoop& loop, Tagging tagging, int descriptor
) {
    auto lane = std::make_unique<Lane>(loop, tagging);
    lane->writer = std::make_unique<OutputWriter>(
        loop, descriptor,
        OutputWriter::Handlers{
            [this](std::uint32_t rank, std::size_t credit_bytes) {
                if (credit_bytes > 0) handlers_.on_written(rank, credit_bytes);
            },
            // Without a reader of stderr the job may go on: its results are elsewhere.
            [this, descriptor](int error) {
                if (descriptor == STDOUT_FILENO) handlers_.on_failed(error);
            },
            [this] { handlers_.on_empty(); }}
    );
    return lane;
}

void OutputPath::add(std::uint32_t rank, StreamKind stream, Bytes bytes) {
    Lane& lane = stream == StreamKind::out ? *out_ : *err_;
    std::vector<OutputItem> ready;
    lane.merger.add(
        rank, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), ready
    );
    lane.writer->add(std::move(ready));
    watch_open_line(lane);
}

void OutputPath::add_own_line(std::string_view line) {
    std::vector<OutputItem> ready;
    err_->merger.add_own_line(line, ready);
    err_->writer->add(std::move(ready));
}

void OutputPath::watch_open_line(Lane& lane) {
    if (!lane.merger.is_holding() || lane.is_timer_set) return;
    lane.is_timer_set = true;
    lane.open_line_timer.start(open_line_time, [this, &lane] {
        lane.is_timer_set = false;
        std::vector<OutputItem> ready;
        lane.merger.release(ready);
        lane.writer->add(std::move(ready));
        watch_open_line(lane);
    });
}

void OutputPath::end() {
    for (Lane* lane : {out_.get(), err_}) {
        lane->open_line_timer.cancel();
        std::vector<OutputItem> ready;
        while (lane->merger.is_holding()) lane->merger.release(ready);
        lane->writer->add(std::move(ready));
    }
}

bool OutputPath::is_empty() const {
    return out_->writer->is_empty() && err_->writer->is_empty();
}

}  // namespace dlrt::launcher
