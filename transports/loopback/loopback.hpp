// SPDX-License-Identifier: Apache-2.0
/// The transport from a rank to itself: one peer, index 0.
#pragma once

#include "transports/transport.hpp"

#include <memory>

namespace dlrt::loopback {

[[nodiscard]] std::unique_ptr<Endpoint> open_endpoint();

}  // namespace dlrt::loopback
