// SPDX-License-Identifier: Apache-2.0
/// The settings of dlrt in the environment that ranks will get, looked at before anything starts.
/// Pure.
#pragma once

#include "runtime/base/result.hpp"

#include <span>
#include <string>
#include <vector>

namespace dlrt::launcher {

/// Names that no setting has are added to `warnings`. Errors: Errc::argument for the first value
/// that the library would refuse.
Status check_settings(std::span<const std::string> environment, std::vector<std::string>& warnings);

}  // namespace dlrt::launcher
