// SPDX-License-Identifier: Apache-2.0
/// The collective operations of the core. Arguments have been checked by the surface. Collective
/// over the communicator.
#pragma once

#include "runtime/base/export.hpp"
#include "runtime/base/result.hpp"
#include "runtime/collective_call.hpp"
#include "runtime/communicator.hpp"

#include <cstdint>

namespace dlrt {

/// Where several threads may call: collectives of one communicator are called one at a time. Ok:
/// the turn is the caller's until collective_state().leave(). Errors: Errc::thread.
DLRT_CORE Status take_turn(Communicator& comm, Call call);

/// From the beginning to the end.
DLRT_CORE Status run_collective(Communicator& comm, const CollectiveCall& call);

/// Begins it. The request completes like one of a message; buffers belong to it until then, lists
/// and layouts don't. Errors: those of CollectiveOperation::open(); then nothing has begun.
[[nodiscard]] DLRT_CORE Result<Request*> start_collective(
    const CommunicatorRef& comm, const CollectiveCall& call
);
/// Makes one that is begun by start(), any number of times.
[[nodiscard]] DLRT_CORE Result<Request*> init_collective(
    const CommunicatorRef& comm, const CollectiveCall& call
);

inline Status barrier(Communicator& comm) {
    return run_collective(comm, {});
}

}  // namespace dlrt
