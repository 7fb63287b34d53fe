// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace dlrt {

void assertion_failed(const char* condition, const char* file, int line, const char* function) {
    std::fprintf(
        stderr, "dlrt: broken invariant: %s (%s:%d, %s)\n", condition, file, line, function
    );
    std::abort();
}

}  // namespace dlrt
