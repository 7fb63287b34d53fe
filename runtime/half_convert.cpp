// SPDX-License-Identifier: Apache-2.0
/// Eight at a time with F16C; the rest, and other cpus, one by one.
#include "runtime/half_convert.hpp"

#include "runtime/half.hpp"

#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace dlrt {
namespace {

#if defined(__x86_64__)

constexpr std::uint64_t group = 8;

/// The registers must be the system's to keep too, which the compiler's question about AVX
/// includes.
bool find_f16c() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __builtin_cpu_supports("avx") != 0 && __get_cpuid(1, &a, &b, &c, &d) != 0 &&
           (c & bit_F16C) != 0;
}
bool has_f16c() {
    static const bool has_it = find_f16c();
    return has_it;
}

/// As many as there are whole groups; returns how many.
[[gnu::target("avx,f16c")]] std::uint64_t widen_groups(
    const std::byte* source, std::byte* target, std::uint64_t count
) {
    std::uint64_t i = 0;
    for (; i + group <= count; i += group) {
        const auto* from = reinterpret_cast<const __m128i*>(source + i * sizeof(Float16));
        auto* to = reinterpret_cast<float*>(target + i * sizeof(float));
        _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm_loadu_si128(from)));
    }
    return i;
}
[[gnu::target("avx,f16c")]] std::uint64_t narrow_groups(
    const std::byte* source, std::byte* target, std::uint64_t count
) {
    std::uint64_t i = 0;
    for (; i + group <= count; i += group) {
        const auto* from = reinterpret_cast<const float*>(source + i * sizeof(float));
        auto* to = reinterpret_cast<__m128i*>(target + i * sizeof(Float16));
        const __m256 wide = _mm256_loadu_ps(from);
        _mm_storeu_si128(to, _mm256_cvtps_ph(wide, _MM_FROUND_TO_NEAREST_INT));
    }
    return i;
}

#else

bool has_f16c() {
    return false;
}
std::uint64_t widen_groups(const std::byte*, std::byte*, std::uint64_t) {
    return 0;
}
std::uint64_t narrow_groups(const std::byte*, std::byte*, std::uint64_t) {
    return 0;
}

#endif

}  // namespace

void widen_halves(const std::byte* source, std::byte* target, std::uint64_t count) {
    const std::uint64_t done = has_f16c() ? widen_groups(source, target, count) : 0;
#pragma omp simd
    for (std::uint64_t i = done; i < count; ++i) {
        Float16 narrow;
        std::memcpy(&narrow, source + i * sizeof narrow, sizeof narrow);
        const float wide = widen(narrow);
        std::memcpy(target + i * sizeof wide, &wide, sizeof wide);
    }
}

void narrow_halves(const std::byte* source, std::byte* target, std::uint64_t count) {
    const std::uint64_t done = has_f16c() ? narrow_groups(source, target, count) : 0;
#pragma omp simd
    for (std::uint64_t i = done; i < count; ++i) {
        float wide = 0;
        std::memcpy(&wide, source + i * sizeof wide, sizeof wide);
        const auto narrow = narrowed<Float16>(wide);
        std::memcpy(target + i * sizeof narrow, &narrow, sizeof narrow);
    }
}

}  // namespace dlrt
