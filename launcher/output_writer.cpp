// SPDX-License-Identifier: Apache-2.0
#include "launcher/output_writer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

constexpr std::size_t items_per_write = 32;
constexpr std::chrono::milliseconds retry_time{2};
/// A pipe that poll() calls writable takes this much without blocking.
constexpr std::size_t patient_bytes = 4096;

/// A pipe's or terminal's own open file for this process; -1 where there can't be one.
int open_once_more(int descriptor) {
    const std::string path = fmt::format("/proc/self/fd/{}", descriptor);
    return ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

}  // namespace

OutputWriter::OutputWriter(EventLoop& loop, int descriptor, Handlers handlers)
    : loop_(loop), descriptor_(descriptor), retry_timer_(loop), handlers_(std::move(handlers)) {
    struct stat facts = {};
    ::fstat(descriptor, &facts);
    const bool is_terminal = S_ISCHR(facts.st_mode) && ::isatty(descriptor) == 1;
    if (!S_ISFIFO(facts.st_mode) && !S_ISSOCK(facts.st_mode) && !is_terminal) return;
    way_ = Way::patient;
    const int own = open_once_more(descriptor);
    if (own < 0) return;
    way_ = Way::watched;
    watch_ = std::make_unique<DescriptorWatch>(loop, own);
    descriptor_ = own;
}

void OutputWriter::add(std::vector<OutputItem> items) {
    for (OutputItem& item : items) queue_.push_back(std::move(item));
    if (has_failed_) return drop_all();
    if (!is_waiting_) write();
}

ssize_t OutputWriter::write_some() {
    std::array<iovec, items_per_write> parts;
    int count = 0;
    std::size_t skipped = written_of_first_;
    for (OutputItem& item : queue_) {
        if (count == static_cast<int>(parts.size())) break;
        parts[static_cast<std::size_t>(count++)] = {
            item.text.data() + skipped, item.text.size() - skipped};
        skipped = 0;
    }
    if (way_ != Way::patient) return ::writev(descriptor_, parts.data(), count);
    pollfd entry{descriptor_, POLLOUT, 0};
    if (::poll(&entry, 1, 0) != 1) {
        errno = EAGAIN;
        return -1;
    }
    return ::write(descriptor_, parts[0].iov_base, std::min(parts[0].iov_len, patient_bytes));
}

void OutputWriter::write() {
    is_waiting_ = false;
    while (!queue_.empty()) {
        const ssize_t put = write_some();
        if (put < 0 && errno == EINTR) continue;
        if (put < 0 && errno == EAGAIN) return write_later();
        if (put < 0) {
            const int error = errno;
            has_failed_ = true;
            drop_all();
            return handlers_.on_failed(error);
        }
        take_off(static_cast<std::size_t>(put));
    }
    handlers_.on_empty();
}

void OutputWriter::write_later() {
    is_waiting_ = true;
    if (way_ == Way::watched) return watch_->when_writable([this] { write(); });
    retry_timer_.start(retry_time, [this] { write(); });
}

void OutputWriter::take_off(std::size_t written_bytes) {
    written_of_first_ += written_bytes;
    while (!queue_.empty() && written_of_first_ >= queue_.front().text.size()) {
        const OutputItem item = std::move(queue_.front());
        queue_.pop_front();
        written_of_first_ -= item.text.size();
        handlers_.on_written(item.rank, item.credit_bytes);
    }
}

void OutputWriter::drop_all() {
    written_of_first_ = 0;
    for (const OutputItem& item : std::exchange(queue_, {})) {
        handlers_.on_written(item.rank, item.credit_bytes);
    }
    handlers_.on_empty();
}

}  // namespace dlrt::launcher
