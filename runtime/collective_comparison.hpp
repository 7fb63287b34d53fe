// SPDX-License-Identifier: Apache-2.0
/// Whether the ranks of a communicator are in the same collective call, by what stands in their
/// flight rings. REQUIRES where there is an `inside`: the engine's lock is held.
#pragma once

#include "runtime/collective_agreement.hpp"
#include "runtime/engine_task.hpp"
#include "runtime/group.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace dlrt {

/// An operation that this rank is in.
struct CallInProgress {
    const Group* group = nullptr;
    ContextId user_context{};  ///< By which records name the communicator.
    OperationNumber number;
    std::int32_t rank = 0;  ///< This one, in the group.
};

/// Lets the others know, who wait for this rank, that it goes on no more.
void tell_of_disagreement(EngineInside& inside, const CallInProgress& call);

/// Says what `peer` calls instead, and lets the others know.
[[nodiscard]] std::string explain_disagreement(
    EngineInside& inside, const CallInProgress& call, std::int32_t peer
);

/// Whether `peer` has another call as that operation; false where its record has gone.
[[nodiscard]] bool are_different(
    EngineInside& inside, const CallInProgress& call, std::int32_t peer
);

/// Whether what `peer` calls as that operation can be said, or never will be: it is on this host,
/// or has answered.
[[nodiscard]] bool is_call_known(
    EngineInside& inside, const CallInProgress& call, std::int32_t peer
);

/// Looks at all ranks; the same where one has another call, has found another disagreement, or has
/// freed the communicator.
[[nodiscard]] std::optional<std::string> find_disagreement(
    EngineInside& inside, const CallInProgress& call
);

/// The call, who hasn't come to it yet, and who of another host hasn't answered.
[[nodiscard]] std::string describe_absence(EngineInside& inside, const CallInProgress& call);

/// For an operation that begins while others have waited for some time (see HostNotes):
/// Errc::mismatch as above. Takes the lock.
[[nodiscard]] Status compare_with_waiters(Engine& engine, const CallInProgress& call);

}  // namespace dlrt
