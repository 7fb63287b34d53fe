// SPDX-License-Identifier: Apache-2.0
/// The hint that a core is spinning.
#pragma once

namespace dlrt {

inline void cpu_pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#else
    asm volatile("" ::: "memory");
#endif
}

}  // namespace dlrt
