// SPDX-License-Identifier: Apache-2.0
/// Whether a call whose blocks differ would write what it still has to read. Any thread; values.
#pragma once

#include "runtime/api/surface.hpp"
#include "runtime/collective_call.hpp"

namespace dlrt::api {

inline constexpr const char* in_place_advice = "; pass DLRT_IN_PLACE to work in one buffer";

/// Errc::buffer when a block of the input and one of the output have a byte in common. Of blocks
/// with gaps only those that begin at the same place are found. `advice`: ends the message.
/// REQUIRES: the call isn't in place, and all its blocks lie within the addresses that there are.
Status check_apart(const Site& site, const CollectiveCall& call, const char* advice);

}  // namespace dlrt::api
