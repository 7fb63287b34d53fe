// SPDX-License-Identifier: Apache-2.0
#include "launcher/forwarded_input.hpp"

#include <utility>

namespace dlrt::launcher {

ForwardedInput::ForwardedInput(EventLoop& loop, Send send)
    : send_(std::move(send)),
      source_(loop, [this](const std::vector<std::byte>& bytes) { this->send(bytes); }) {
}

void ForwardedInput::begin(const std::vector<std::uint32_t>& hosts) {
    hosts_ = hosts;
    share_ = InputShare(hosts);
    if (!source_.start()) send({});
}

void ForwardedInput::send(const std::vector<std::byte>& bytes) {
    const StdinBytes input{bytes};
    for (const std::uint32_t host : hosts_) {
        if (share_.has(host)) send_(host, input);
    }
}

void ForwardedInput::take(std::uint32_t host, const StdinTaken& taken) {
    if (!share_.has(host)) return;
    source_.taken(share_.take(host, taken.size_bytes));
    if (taken.is_closed) close(host);
}

void ForwardedInput::close(std::uint32_t host) {
    if (!share_.has(host)) return;
    source_.taken(share_.close(host));
    if (share_.is_closed()) source_.stop();
}

}  // namespace dlrt::launcher
