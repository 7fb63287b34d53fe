// SPDX-License-Identifier: Apache-2.0
#include "launcher/event_loop.hpp"

#include <cstdint>
#include <unistd.h>
#include <utility>

#define BOOST_ASIO_DISABLE_THREADS
#define BOOST_ERROR_CODE_HEADER_ONLY
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

namespace dlrt::launcher {

namespace asio = boost::asio;
using boost::system::error_code;

struct EventLoop::Impl {
    asio::io_context context{1};
};

EventLoop::EventLoop() : impl_(std::make_unique<Impl>()) {
}
EventLoop::~EventLoop() = default;

void EventLoop::run() {
    impl_->context.run();
    // A stop counts for one run.
    impl_->context.restart();
}
void EventLoop::stop() {
    impl_->context.stop();
}
void EventLoop::post(std::function<void()> handler) {
    asio::post(impl_->context, std::move(handler));
}

struct Timer::Impl {
    asio::steady_timer timer;
    /// A handler that was due when its timer was started again or cancelled must not run.
    std::uint64_t start_count = 0;
    std::shared_ptr<char> life = std::make_shared<char>();
};

Timer::Timer(EventLoop& loop) : impl_(new Impl{.timer = asio::steady_timer(loop.impl().context)}) {
}
Timer::~Timer() = default;

void Timer::start(std::chrono::nanoseconds after, std::function<void()> handler) {
    impl_->timer.expires_after(after);
    impl_->timer.async_wait([impl = impl_.get(), life = std::weak_ptr<char>(impl_->life),
                             number = ++impl_->start_count,
                             handler = std::move(handler)](const error_code& error) {
        if (!error && !life.expired() && impl->start_count == number) handler();
    });
}
void Timer::cancel() {
    ++impl_->start_count;
    impl_->timer.cancel();
}

struct SignalWatch::Impl {
    asio::signal_set signals;
    std::function<void(int)> handler;

    void wait() {
        signals.async_wait([this](const error_code& error, int signal) {
            if (error) return;
            handler(signal);
            wait();
        });
    }
};

SignalWatch::SignalWatch(EventLoop& loop)
    : impl_(new Impl{.signals = asio::signal_set(loop.impl().context), .handler = {}}) {
}
SignalWatch::~SignalWatch() = default;

void SignalWatch::add(int signal) {
    impl_->signals.add(signal);
}
void SignalWatch::when_signalled(std::function<void(int signal)> handler) {
    impl_->handler = std::move(handler);
    impl_->wait();
}

struct DescriptorWatch::Impl {
    asio::posix::stream_descriptor stream;
    int parked = -1;  ///< The descriptor while the kernel isn't to watch it.
    std::shared_ptr<char> life = std::make_shared<char>();

    void wait(asio::posix::stream_descriptor::wait_type what, std::function<void()> handler) {
        if (parked >= 0) stream.assign(std::exchange(parked, -1));
        stream.async_wait(
            what,
            [this, own_life = std::weak_ptr<char>(life),
             handler = std::move(handler)](const error_code& error) {
                // A handler that was due may run after its watch is gone.
                if (!error && !own_life.expired() && stream.is_open()) handler();
            }
        );
    }
};

DescriptorWatch::DescriptorWatch(EventLoop& loop, int descriptor)
    : loop_(loop), impl_(new Impl{.stream = asio::posix::stream_descriptor(loop.impl().context)}) {
    error_code refusal;
    impl_->stream.assign(descriptor, refusal);
    // The kernel can't watch files, which are always ready; nobody here waits for those.
    if (refusal) ::close(descriptor);
}
DescriptorWatch::~DescriptorWatch() {
    close();
}

bool DescriptorWatch::is_open() const {
    return impl_->parked >= 0 || impl_->stream.is_open();
}
int DescriptorWatch::get() const {
    return impl_->parked >= 0 ? impl_->parked : impl_->stream.native_handle();
}
void DescriptorWatch::when_readable(std::function<void()> handler) {
    impl_->wait(asio::posix::stream_descriptor::wait_read, std::move(handler));
}
void DescriptorWatch::when_writable(std::function<void()> handler) {
    impl_->wait(asio::posix::stream_descriptor::wait_write, std::move(handler));
}
void DescriptorWatch::park() {
    if (!impl_->stream.is_open()) return;
    impl_->parked = impl_->stream.release();
    // A handler that is due belongs to a wait that is over.
    impl_->life = std::make_shared<char>();
}
void DescriptorWatch::cancel() {
    if (impl_->stream.is_open()) impl_->stream.cancel();
}
void DescriptorWatch::close() {
    park();
    if (impl_->parked >= 0) ::close(std::exchange(impl_->parked, -1));
}

}  // namespace dlrt::launcher
