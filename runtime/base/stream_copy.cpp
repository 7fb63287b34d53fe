// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/stream_copy.hpp"

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace dlrt {

#if defined(__x86_64__)

void stream_copy(std::byte* target, const std::byte* source, std::size_t size_bytes) {
    constexpr std::size_t line_bytes = 64;
    const std::size_t lead = (0 - reinterpret_cast<std::uintptr_t>(target)) % line_bytes;
    if (size_bytes < lead + line_bytes) {
        if (size_bytes != 0) std::memcpy(target, source, size_bytes);
        return;
    }
    std::memcpy(target, source, lead);
    target += lead;
    source += lead;
    size_bytes -= lead;
    for (; size_bytes >= line_bytes; size_bytes -= line_bytes) {
        const auto* from = reinterpret_cast<const __m128i*>(source);
        auto* to = reinterpret_cast<__m128i*>(target);
        const __m128i first = _mm_loadu_si128(from);
        const __m128i second = _mm_loadu_si128(from + 1);
        const __m128i third = _mm_loadu_si128(from + 2);
        const __m128i fourth = _mm_loadu_si128(from + 3);
        _mm_stream_si128(to, first);
        _mm_stream_si128(to + 1, second);
        _mm_stream_si128(to + 2, third);
        _mm_stream_si128(to + 3, fourth);
        target += line_bytes;
        source += line_bytes;
    }
    std::memcpy(target, source, size_bytes);
    _mm_sfence();
}

void plain_copy(std::byte* target, const std::byte* source, std::size_t size_bytes) {
    constexpr std::size_t line_bytes = 64;
    for (; size_bytes >= line_bytes; size_bytes -= line_bytes) {
        const auto* from = reinterpret_cast<const __m128i*>(source);
        auto* to = reinterpret_cast<__m128i*>(target);
        const __m128i first = _mm_loadu_si128(from);
        const __m128i second = _mm_loadu_si128(from + 1);
        const __m128i third = _mm_loadu_si128(from + 2);
        const __m128i fourth = _mm_loadu_si128(from + 3);
        _mm_storeu_si128(to, first);
        _mm_storeu_si128(to + 1, second);
        _mm_storeu_si128(to + 2, third);
        _mm_storeu_si128(to + 3, fourth);
        target += line_bytes;
        source += line_bytes;
    }
    if (size_bytes != 0) std::memcpy(target, source, size_bytes);
}

#else

void plain_copy(std::byte* target, const std::byte* source, std::size_t size_bytes) {
    if (size_bytes != 0) std::memcpy(target, source, size_bytes);
}

void stream_copy(std::byte* target, const std::byte* source, std::size_t size_bytes) {
    if (size_bytes != 0) std::memcpy(target, source, size_bytes);
}

#endif

}  // namespace dlrt
