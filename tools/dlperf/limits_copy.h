/* SPDX-License-Identifier: Apache-2.0 */
/* Pauses and copies past the caches, with a portable form. */
#ifndef DLPERF_LIMITS_COPY_H
#define DLPERF_LIMITS_COPY_H

#include <stddef.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>

static inline void copy_pause(void) {
    _mm_pause();
}
/* The target is aligned to 64 bytes and the size a multiple of 64. */
static inline void copy_streaming(void* target, const void* source, size_t size_bytes) {
    for (size_t i = 0; i + 16 <= size_bytes; i += 16) {
        _mm_stream_si128(
            (__m128i*)(void*)((char*)target + i),
            _mm_loadu_si128((const __m128i*)(const void*)((const char*)source + i))
        );
    }
}
/* Streaming stores aren't ordered by the release store that follows. */
static inline void copy_publish(void) {
    _mm_sfence();
}
#else
static inline void copy_pause(void) {
#if defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}
static inline void copy_streaming(void* target, const void* source, size_t size_bytes) {
    memcpy(target, source, size_bytes);
}
static inline void copy_publish(void) {
}
#endif

#endif
