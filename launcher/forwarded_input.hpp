// SPDX-License-Identifier: Apache-2.0
/// dlrun's input on its way to the hosts whose ranks get it from dlrun. Nothing is read before
/// somebody shall have it. In the head's event loop.
#pragma once

#include "launcher/event_loop.hpp"
#include "launcher/frame.hpp"
#include "launcher/input_share.hpp"
#include "launcher/input_source.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace dlrt::launcher {

class ForwardedInput {
  public:
    using Send = std::function<void(std::uint32_t host, const StdinBytes& input)>;

    ForwardedInput(EventLoop& loop, Send send);

    void begin(const std::vector<std::uint32_t>& hosts);
    void take(std::uint32_t host, const StdinTaken& taken);
    /// That host takes no more.
    void close(std::uint32_t host);
    void stop() { source_.stop(); }

  private:
    void send(const std::vector<std::byte>& bytes);

    Send send_;
    InputSource source_;
    InputShare share_;
    std::vector<std::uint32_t> hosts_;
};

}  // namespace dlrt::launcher
