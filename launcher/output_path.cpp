// SPDX-License-Identifier: Apache-2.0
#include "launcher/output_path.hpp"

#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace dlrt::launcher {
namespace {

bool is_same_file(int a, int b) {
    struct stat facts_a = {};
    struct stat facts_b = {};
    return ::fstat(a, &facts_a) == 0 && ::fstat(b, &facts_b) == 0 &&
           facts_a.st_dev == facts_b.st_dev && facts_a.st_ino == facts_b.st_ino;
}

}  // namespace

OutputPath::OutputPath(EventLoop& loop, Handlers handlers)
    : handlers_(std::move(handlers)), out_(make_lane(loop, STDOUT_FILENO)) {
    err_ = out_.get();
    if (is_same_file(STDOUT_FILENO, STDERR_FILENO)) return;
    own_err_ = make_lane(loop, STDERR_FILENO);
    err_ = own_err_.get();
}

std::unique_ptr<OutputLane> OutputPath::make_lane(EventLoop& loop, int descriptor) {
    return std::make_unique<OutputLane>(
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
}

void OutputPath::set_tagger(const LineTagger& tagger) {
    out_->set_tagger(tagger);
    err_->set_tagger(tagger);
}

void OutputPath::add(const RankOutput& output) {
    OutputLane& lane = output.stream == StreamKind::out ? *out_ : *err_;
    const auto* letters = reinterpret_cast<const char*>(output.bytes.data());
    lane.add(
        {output.rank, output.stream, output.pid, output.time_us},
        std::string(letters, output.bytes.size())
    );
}

void OutputPath::add_own_line(std::string_view line) {
    err_->add_own_line(line);
}

void OutputPath::end() {
    out_->end();
    err_->end();
}

bool OutputPath::is_empty() const {
    return out_->is_empty() && err_->is_empty();
}

}  // namespace dlrt::launcher
