// SPDX-License-Identifier: Apache-2.0
/// The transport from a rank to itself: one peer, index 0. What waits to be taken is bounded;
/// beyond that posts are busy. It has no doorbell: a thread that posts here while another of the
/// process sleeps wakes it itself.
#pragma once

#include "transports/transport.hpp"

#include <memory>

namespace dlrt::loopback {

[[nodiscard]] std::unique_ptr<Endpoint> open_endpoint();

}  // namespace dlrt::loopback
