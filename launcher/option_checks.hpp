// SPDX-License-Identifier: Apache-2.0
/// What can be said of options only when all of them are known: contradictions, and what is missing
/// beside another. Pure.
#pragma once

#include "launcher/option_table.hpp"
#include "runtime/base/result.hpp"

namespace dlrt::launcher {

/// Errors: Errc::argument with the line to print.
Status check_options(const ParseState& state);

}  // namespace dlrt::launcher
