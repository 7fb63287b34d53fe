// SPDX-License-Identifier: Apache-2.0
/// Joining through a launcher that speaks PMI-1, such as Hydra. Thread: see wireup_source.hpp.
#pragma once

#include "runtime/wireup_source.hpp"

#include <memory>

namespace dlrt {

/// Whether PMI_FD or PMI_PORT says that such a launcher is there.
[[nodiscard]] bool has_pmi1_launcher();
[[nodiscard]] std::unique_ptr<WireupSource> make_pmi1_source(int timeout_ms);

}  // namespace dlrt
