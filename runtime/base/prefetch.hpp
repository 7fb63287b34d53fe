// SPDX-License-Identifier: Apache-2.0
/// The hint that a cache line will soon be written, so that it is this core's when it is.
#pragma once

namespace dlrt {

inline void prefetch_for_write(const void* line) {
#if defined(__x86_64__)
    // The compiler's own hint becomes one for reading where the target may lack this instruction.
    // Processors that lack it do nothing.
    asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(line)));
#else
    __builtin_prefetch(line, 1);
#endif
}

}  // namespace dlrt
