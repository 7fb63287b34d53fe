// SPDX-License-Identifier: Apache-2.0
#include "launcher/input_feeder.hpp"

#include <cerrno>
#include <unistd.h>
#include <utility>

namespace dlrt::launcher {

void InputFeeder::add_target(Fd pipe) {
    if (!pipe.is_open()) return;
    targets_.push_back(std::make_unique<Target>(loop_, pipe.release()));
    ++open_count_;
}

void InputFeeder::add(std::vector<std::byte> bytes) {
    if (open_count_ == 0) return report_end();
    chunks_.push_back({std::move(bytes), open_count_});
    for (const auto& target : targets_) {
        if (target->watch.is_open() && !target->is_waiting) write(*target);
    }
    trim();
}

void InputFeeder::write(Target& target) {
    while (target.chunk - first_chunk_ < chunks_.size()) {
        Chunk& chunk = chunks_[target.chunk - first_chunk_];
        if (chunk.bytes.empty()) return close(target);
        const ssize_t put = ::write(
            target.watch.get(), chunk.bytes.data() + target.written_of_chunk,
            chunk.bytes.size() - target.written_of_chunk
        );
        if (put < 0 && errno == EINTR) continue;
        if (put < 0 && errno == EAGAIN) {
            target.is_waiting = true;
            target.watch.when_writable([this, &target] {
                target.is_waiting = false;
                write(target);
                trim();
            });
            return;
        }
        if (put < 0) return close(target);
        target.written_of_chunk += static_cast<std::size_t>(put);
        if (target.written_of_chunk < chunk.bytes.size()) continue;
        target.written_of_chunk = 0;
        ++target.chunk;
        --chunk.reader_count;
    }
}

void InputFeeder::close(Target& target) {
    for (std::uint64_t at = target.chunk - first_chunk_; at < chunks_.size(); ++at) {
        --chunks_[at].reader_count;
    }
    target.watch.close();
    --open_count_;
}

void InputFeeder::trim() {
    std::uint64_t taken_bytes = 0;
    while (!chunks_.empty() && chunks_.front().reader_count == 0) {
        taken_bytes += chunks_.front().bytes.size();
        chunks_.pop_front();
        ++first_chunk_;
    }
    if (open_count_ == 0) return report_end();
    if (taken_bytes > 0) on_taken_(taken_bytes, End::open);
}

void InputFeeder::report_end() {
    if (!std::exchange(has_reported_end_, true)) on_taken_(0, End::closed);
}

}  // namespace dlrt::launcher
