// SPDX-License-Identifier: Apache-2.0
#include "launcher/channel.hpp"

#include "runtime/base/error_text.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <utility>

namespace dlrt::launcher {
namespace {

constexpr std::size_t read_bytes = 128 * 1024;

/// Of thousands of channels few are busy at a time.
constexpr std::size_t kept_bytes_max = 8 * 1024;

void empty(std::vector<std::byte>& buffer) {
    buffer.clear();
    if (buffer.capacity() > kept_bytes_max) std::vector<std::byte>().swap(buffer);
}

void set_nonblocking(int descriptor) {
    ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
}

}  // namespace

Channel::Channel(
    EventLoop& loop, Stream stream, Handlers handlers, std::unique_ptr<LinkCipher> cipher
)
    : loop_(loop),
      watch_(loop, stream.input.release()),
      handlers_(std::move(handlers)),
      cipher_(std::move(cipher)) {
    set_nonblocking(watch_.get());
    if (stream.output.is_open()) {
        set_nonblocking(stream.output.get());
        own_output_ = std::make_unique<DescriptorWatch>(loop, stream.output.release());
    }
    watch_.when_readable([this] { read(); });
}

void Channel::send_encoded(Bytes frame) {
    if (!is_open()) return;
    const bool was_idle = output_.empty();
    if (cipher_ != nullptr) {
        cipher_->seal(frame, output_);
    } else {
        output_.insert(output_.end(), frame.begin(), frame.end());
    }
    // Frames of one round of the loop leave together.
    if (was_idle && !is_flush_due_) {
        is_flush_due_ = true;
        loop_.post([this] { flush(); });
    }
}

void Channel::flush() {
    is_flush_due_ = false;
    while (is_open() && output_sent_ < output_.size()) {
        const ssize_t put = ::write(
            output_watch().get(), output_.data() + output_sent_, output_.size() - output_sent_
        );
        if (put < 0 && errno == EINTR) continue;
        if (put < 0 && errno == EAGAIN) {
            is_flush_due_ = true;
            output_watch().when_writable([this] { flush(); });
            return;
        }
        // The reading side notices the end as well, after what was sent before it.
        if (put < 0) break;
        output_sent_ += static_cast<std::size_t>(put);
    }
    empty(output_);
    output_sent_ = 0;
}

void Channel::flush_blocking(int limit_ms) {
    while (is_open() && !output_.empty()) {
        flush();
        if (output_.empty()) return;
        pollfd entry{output_watch().get(), POLLOUT, 0};
        // Who doesn't read for so long is stopped or stuck.
        if (::poll(&entry, 1, limit_ms) == 0) return;
    }
}

void Channel::read() {
    std::array<std::byte, read_bytes> bytes;
    const ssize_t got = ::read(watch_.get(), bytes.data(), bytes.size());
    if (got == 0) return fail_with("it is gone");
    if (got < 0 && errno != EAGAIN && errno != EINTR) return fail_with(std::strerror(errno));
    if (got > 0) {
        const Bytes wire = Bytes(bytes).first(static_cast<std::size_t>(got));
        if (cipher_ == nullptr) {
            input_.insert(input_.end(), wire.begin(), wire.end());
        } else if (!cipher_->open(wire, input_).ok()) {
            return fail_with(std::string(last_error_text()));
        }
        take_frames();
    }
    if (is_open()) watch_.when_readable([this] { read(); });
}

void Channel::take_frames() {
    std::size_t taken = 0;
    while (is_open() && input_.size() - taken >= frame_header_bytes) {
        const Bytes left = Bytes(input_).subspan(taken);
        const Result<std::size_t> body_bytes = decode_frame_size(left.first(frame_header_bytes));
        if (!body_bytes) return fail_with(std::string(last_error_text()));
        if (left.size() < frame_header_bytes + *body_bytes) break;
        Result<Frame> frame = decode_frame(left.subspan(frame_header_bytes, *body_bytes));
        if (!frame) return fail_with(std::string(last_error_text()));
        taken += frame_header_bytes + *body_bytes;
        handlers_.on_frame(std::move(*frame));
    }
    input_.erase(input_.begin(), input_.begin() + static_cast<std::ptrdiff_t>(taken));
    if (input_.empty()) empty(input_);
}

void Channel::fail_with(std::string reason) {
    close();
    handlers_.on_closed(std::move(reason));
}

void Channel::close() {
    watch_.close();
    if (own_output_ != nullptr) own_output_->close();
    output_.clear();
    output_sent_ = 0;
}

}  // namespace dlrt::launcher
