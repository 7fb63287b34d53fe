// SPDX-License-Identifier: Apache-2.0
#include "launcher/descriptors.hpp"

#include <algorithm>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace dlrt::launcher {
namespace {

/// From `first` up to and including `last`.
void close_range(unsigned first, unsigned last) {
    if (first > last) return;
    if (::syscall(SYS_close_range, first, last, 0) == 0) return;
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const auto end = static_cast<unsigned>(std::min<rlim_t>(limit.rlim_cur, last));
    for (unsigned descriptor = first; descriptor <= end; ++descriptor) {
        ::close(static_cast<int>(descriptor));
    }
}

}  // namespace

void close_descriptors_except(std::vector<int> kept) {
    std::ranges::sort(kept);
    unsigned next = 0;
    for (const int descriptor : kept) {
        if (descriptor < 0) continue;
        const auto number = static_cast<unsigned>(descriptor);
        if (number > next) close_range(next, number - 1);
        next = std::max(next, number + 1);
    }
    close_range(next, ~0u);
}

}  // namespace dlrt::launcher
