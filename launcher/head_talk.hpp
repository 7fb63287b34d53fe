// SPDX-License-Identifier: Apache-2.0
/// What a daemon and its head say to each other before the daemon has an event loop, up to the
/// moment at which its ranks may be started. Blocking; the head is waited for while it shows signs
/// of life.
#pragma once

#include "launcher/cpu_claim.hpp"
#include "launcher/daemon.hpp"
#include "launcher/frame.hpp"
#include "launcher/stream.hpp"
#include "runtime/base/result.hpp"

namespace dlrt::launcher {

class HeadTalk {
  public:
    /// Borrows both.
    HeadTalk(const Stream& stream, const DaemonPlace& place) : stream_(stream), place_(place) {}

    /// Tells what the host offers, as closely as is asked. Errors: Errc::peer_lost once the head is
    /// gone; others where the host can't be described.
    [[nodiscard]] Result<StartJob> receive_job(CpuClaim& claim);
    /// Says that the ranks could be started. Returns false, with the goodbye said, where they shall
    /// not be.
    [[nodiscard]] bool may_begin();
    void give_up(const HostFailed& failure);

  private:
    /// The next frame that isn't only a sign of life.
    Result<Frame> receive();
    Status send(const Frame& frame) { return send_frame(stream_.output_descriptor(), frame); }

    const Stream& stream_;
    const DaemonPlace& place_;
};

}  // namespace dlrt::launcher
