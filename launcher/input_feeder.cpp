// SPDX-License-Identifier: Apache-2.0
#include "launcher/input_feeder.hpp"

#include <cerrno>
#include <unistd.h>
#include <utility>

namespace dlrt::launcher {

void InputFeeder::set_target(Fd pipe) {
    if (pipe.is_open()) target_ = std::make_unique<DescriptorWatch>(loop_, pipe.release());
}

void InputFeeder::add(std::vector<std::byte> bytes) {
    queue_.push_back(std::move(bytes));
    if (!is_waiting_) write();
}

void InputFeeder::write() {
    is_waiting_ = false;
    while (!queue_.empty()) {
        const std::vector<std::byte>& first = queue_.front();
        const bool is_end = first.empty();
        if (target_ == nullptr || !target_->is_open() || is_end) {
            if (target_ != nullptr) target_->close();
            queue_.clear();
            return on_taken_(0, End::closed);
        }
        const ssize_t put = ::write(
            target_->get(), first.data() + written_of_first_, first.size() - written_of_first_
        );
        if (put < 0 && errno == EAGAIN) {
            is_waiting_ = true;
            target_->when_writable([this] { write(); });
            return;
        }
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) {
            target_->close();
            continue;
        }
        on_taken_(static_cast<std::uint64_t>(put), End::open);
        written_of_first_ += static_cast<std::size_t>(put);
        if (written_of_first_ < first.size()) continue;
        queue_.pop_front();
        written_of_first_ = 0;
    }
}

}  // namespace dlrt::launcher
