// SPDX-License-Identifier: Apache-2.0
/// Anonymous files in memory that can be passed to other processes and leave nothing behind. Any
/// thread.
#pragma once

#include "runtime/base/fd.hpp"
#include "runtime/base/result.hpp"

#include <cstdint>

namespace dlrt {

/// A sparse, close-on-exec file of that size, all zero, which allows seals. `name` is what /proc
/// shows. Errors: Errc::system.
[[nodiscard]] Result<Fd> create_memory_file(const char* name, std::uint64_t size_bytes);

/// Adds F_SEAL_* bits. Errors: Errc::system.
Status seal_memory_file(int descriptor, int seals);

}  // namespace dlrt
