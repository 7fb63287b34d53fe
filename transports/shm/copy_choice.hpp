// SPDX-License-Identifier: Apache-2.0
/// Whether payload goes into shared memory by ordinary or by non-temporal stores. Ordinary ones are
/// the better where both processes share a cache, by a factor of two; where they don't they are the
/// worse, by a factor of three. Schedulers and hypervisors move processes, so a few of the copies
/// are timed as they go. One per peer.
#pragma once

#include "runtime/base/clock.hpp"
#include "runtime/base/stream_copy.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace dlrt::shm {

class CopyChoice {
  public:
    /// Copies; a release store by this thread publishes the bytes.
    void copy(std::byte* target, const std::byte* source, std::size_t size_bytes) {
        if (size_bytes < choice_bytes_min) return plain_copy(target, source, size_bytes);
        Class& found = classes_[size_bytes < large_bytes_min ? 0 : 1];
        if (++found.turn % turns_per_sample == 0) [[unlikely]] {
            return copy_timed(found, target, source, size_bytes);
        }
        if (found.is_streaming) return stream_copy(target, source, size_bytes);
        plain_copy(target, source, size_bytes);
    }

  private:
    static constexpr std::size_t choice_bytes_min = 1024;
    static constexpr std::size_t large_bytes_min = 12 * 1024;
    static constexpr std::uint32_t turns_per_sample = 8;
    /// Every so many samples the way that is not in use is tried.
    static constexpr std::uint32_t samples_per_trial = 4;
    /// Non-temporal stores must save the sender so much to make up for what they cost the receiver.
    static constexpr float worth_ratio = 1.7f;

    /// Small and large copies are judged apart.
    struct Class {
        std::uint32_t turn = 0;
        bool is_streaming = false;
        float plain_cost = 0;  ///< Ticks per byte, smoothed; 0: not known.
        float stream_cost = 0;
    };

    [[nodiscard]] static std::uint64_t ticks() {
#if defined(__x86_64__)
        return __rdtsc();
#else
        return monotonic_ns();
#endif
    }
    void copy_timed(
        Class& found, std::byte* target, const std::byte* source, std::size_t size_bytes
    ) {
        const std::uint32_t sample = found.turn / turns_per_sample;
        const bool is_trial = sample % samples_per_trial == 0;
        const bool streams = found.is_streaming != is_trial;
        const std::uint64_t begin = ticks();
        if (streams) {
            stream_copy(target, source, size_bytes);
        } else {
            plain_copy(target, source, size_bytes);
        }
        const float cost = static_cast<float>(ticks() - begin) / static_cast<float>(size_bytes);
        float& known = streams ? found.stream_cost : found.plain_cost;
        // One that was interrupted says nothing.
        if (known == 0) known = cost;
        known += ((cost < 4 * known ? cost : 4 * known) - known) / 2;
        if (found.plain_cost == 0 || found.stream_cost == 0) return;
        found.is_streaming = found.plain_cost > worth_ratio * found.stream_cost;
    }

    std::array<Class, 2> classes_{};
};

}  // namespace dlrt::shm
