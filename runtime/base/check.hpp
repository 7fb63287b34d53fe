// SPDX-License-Identifier: Apache-2.0
/// Assertions about dlrt's own invariants. A failed one is a bug in dlrt: it prints where and
/// aborts. Misuse by a caller is never asserted; it is returned as a Status by the surfaces.
#pragma once

#include "runtime/base/export.hpp"

#include <source_location>

namespace dlrt {

[[noreturn]] DLRT_CORE void assertion_failed(
    const char* condition, const std::source_location& where = std::source_location::current()
);

}  // namespace dlrt

#ifdef NDEBUG
#define DLRT_ASSERT(condition) static_cast<void>(sizeof(static_cast<bool>(condition)))
#else
#define DLRT_ASSERT(condition) \
    (static_cast<bool>(condition) ? static_cast<void>(0) : ::dlrt::assertion_failed(#condition))
#endif
