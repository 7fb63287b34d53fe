// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace dlrt {

void assertion_failed(const char* condition, const std::source_location& where) {
    std::fprintf(
        stderr, "dlrt: broken invariant: %s (%s:%u, %s)\n", condition, where.file_name(),
        static_cast<unsigned>(where.line()), where.function_name()
    );
    std::abort();
}

}  // namespace dlrt
