// SPDX-License-Identifier: Apache-2.0
/// Whether a blocking call is done over cells of the host, and how its data gets there.
#pragma once

#include "runtime/base/status.hpp"
#include "runtime/collective_call.hpp"

#include <optional>

namespace dlrt {

class Communicator;

/// None: the call goes over messages. All ranks decide alike: by the size, the communicator, and
/// what the user says about algorithms, who always means those that use messages.
[[nodiscard]] std::optional<Status> run_over_host_cells(
    Communicator& comm, const CollectiveCall& call
);

}  // namespace dlrt
