// SPDX-License-Identifier: Apache-2.0
/// Closing what a forked process inherited but must not hold: an end of a pipe that stays open
/// somewhere hides the end of the stream from those who wait for it.
#pragma once

#include <vector>

namespace dlrt::launcher {

/// Closes every descriptor of the calling process but these. Negative numbers are skipped.
void close_descriptors_except(std::vector<int> kept);

}  // namespace dlrt::launcher
