// SPDX-License-Identifier: Apache-2.0
#include "launcher/relay_link.hpp"

#include "launcher/heartbeat.hpp"

#include <utility>
#include <variant>

namespace dlrt::launcher {

RelayLink::RelayLink(
    EventLoop& loop, Stream stream, std::unique_ptr<LinkCipher> cipher, std::uint64_t heartbeat_ms,
    Handlers handlers
)
    : handlers_(std::move(handlers)),
      channel_(
          loop, std::move(stream),
          {[this](Frame&& frame) {
               life_.heard();
               if (!std::holds_alternative<Heartbeat>(frame)) handlers_.on_frame(std::move(frame));
           },
           [this](std::string reason) { lose(std::move(reason)); }},
          std::move(cipher)
      ),
      life_(
          loop, heartbeat_ms,
          {[this] { channel_.send(Heartbeat{}); },
           [this, heartbeat_ms] { lose(silence_text(heartbeat_ms)); }}
      ) {
}

void RelayLink::close() {
    life_.stop();
    channel_.close();
}

void RelayLink::lose(std::string reason) {
    life_.stop();
    handlers_.on_lost(std::move(reason));
}

}  // namespace dlrt::launcher
