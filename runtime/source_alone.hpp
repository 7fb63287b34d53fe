// SPDX-License-Identifier: Apache-2.0
/// A job of one: nobody has started others. Thread: see wireup_source.hpp.
#pragma once

#include "runtime/wireup_source.hpp"

#include <memory>

namespace dlrt {

[[nodiscard]] std::unique_ptr<WireupSource> make_alone_source();

/// The variable by which a launcher that dlrt doesn't understand says that there are more ranks;
/// null when nothing does.
[[nodiscard]] const char* find_foreign_launcher();

}  // namespace dlrt
