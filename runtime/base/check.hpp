// SPDX-License-Identifier: Apache-2.0
/// Assertions about dlrt's own invariants. A failed one is a bug in dlrt: it prints where and
/// aborts. Misuse by a caller is never asserted; it is returned as a Status by the surfaces.
#pragma once

#include "runtime/base/export.hpp"

namespace dlrt {

/// The builtins instead of std::source_location, which clang 14 lacks: it builds the fuzz targets.
[[noreturn]] DLRT_CORE void assertion_failed(
    const char* condition, const char* file = __builtin_FILE(), int line = __builtin_LINE(),
    const char* function = __builtin_FUNCTION()
);

}  // namespace dlrt

#ifdef NDEBUG
#define DLRT_ASSERT(condition) static_cast<void>(sizeof(static_cast<bool>(condition)))
#else
#define DLRT_ASSERT(condition) \
    (static_cast<bool>(condition) ? static_cast<void>(0) : ::dlrt::assertion_failed(#condition))
#endif
