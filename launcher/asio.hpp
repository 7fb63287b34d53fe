// SPDX-License-Identifier: Apache-2.0
/// The only place that includes Asio: event loop, readiness of descriptors, timers, signals. One
/// thread runs each loop.
#pragma once

#define BOOST_ASIO_DISABLE_THREADS
#define BOOST_ERROR_CODE_HEADER_ONLY

// Boost 1.74 uses std::exchange without including its header.
#include <memory>
#include <unistd.h>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

namespace dlrt::launcher {

namespace asio = boost::asio;

/// A descriptor whose readiness is waited for; reading and writing it is up to the owner. Waiting
/// makes the open file non-blocking, also for others that share it: never watch a descriptor of the
/// user's.
class DescriptorWatch {
  public:
    using Wait = asio::posix::stream_descriptor::wait_type;

    DescriptorWatch(asio::io_context& loop, int descriptor) : loop_(loop), stream_(loop) {
        boost::system::error_code refusal;
        stream_.assign(descriptor, refusal);
        // The kernel can't watch files, which are always ready; nobody here waits for those.
        if (refusal) ::close(descriptor);
    }
    DescriptorWatch(const DescriptorWatch&) = delete;
    DescriptorWatch& operator=(const DescriptorWatch&) = delete;
    ~DescriptorWatch() { close(); }

    [[nodiscard]] bool is_open() const { return stream_.is_open(); }
    [[nodiscard]] int get() { return stream_.native_handle(); }
    [[nodiscard]] asio::io_context& loop() { return loop_; }

    /// Calls `handler` once, unless the descriptor is closed before.
    template<typename Handler>
    void when_readable(Handler handler) {
        wait(asio::posix::stream_descriptor::wait_read, std::move(handler));
    }
    template<typename Handler>
    void when_writable(Handler handler) {
        wait(asio::posix::stream_descriptor::wait_write, std::move(handler));
    }

    void cancel() {
        if (stream_.is_open()) stream_.cancel();
    }
    /// Taken out of the kernel's set before it is closed: a copy in another process would keep it
    /// there, and it would fire for ever.
    void close() {
        if (stream_.is_open()) ::close(stream_.release());
    }

  private:
    template<typename Handler>
    void wait(Wait what, Handler handler) {
        stream_.async_wait(
            what,
            [this, life = std::weak_ptr<char>(life_),
             handler = std::move(handler)](const boost::system::error_code& error) mutable {
                // A handler that was due may run after this object is gone.
                if (!error && !life.expired() && is_open()) handler();
            }
        );
    }

    asio::io_context& loop_;
    asio::posix::stream_descriptor stream_;
    std::shared_ptr<char> life_ = std::make_shared<char>();
};

}  // namespace dlrt::launcher
