// SPDX-License-Identifier: Apache-2.0
/// Whether payload goes into shared memory by ordinary or by non-temporal stores. Ordinary ones are
/// twice as good where both processes share a cache, since the bytes never leave it. Where they
/// don't, every line comes from the other cache at more than the price of memory, and going past
/// the caches is three times as good. Schedulers and hypervisors move processes, so the price of a
/// line is measured as it goes. One per peer.
#pragma once

#include "runtime/base/clock.hpp"
#include "runtime/base/stream_copy.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace dlrt::shm {

class CopyChoice {
  public:
    /// Loads a word that the peer writes, and learns from how long it takes, if it has changed
    /// since it was `known`: then its line has come from the peer's cache.
    [[nodiscard]] std::uint64_t load_timed(
        const std::atomic<std::uint64_t>& word, std::uint64_t known
    ) {
        const std::uint64_t before = monotonic_ns();
        const std::uint64_t begin = monotonic_ns();
        const std::uint64_t value = word.load(std::memory_order_acquire);
        const std::uint64_t end = monotonic_ns();
        if (value != known) learn(std::int64_t(end - begin) - std::int64_t(begin - before));
        return value;
    }
    /// Copies; a release store by this thread publishes the bytes.
    void copy(std::byte* target, const std::byte* source, std::size_t size_bytes) const {
        if (line_ns_ >= apart_ns_min && size_bytes >= stream_bytes_min) {
            stream_copy(target, source, size_bytes);
        } else {
            plain_copy(target, source, size_bytes);
        }
    }

  private:
    static constexpr std::size_t stream_bytes_min = 1024;
    /// About what memory costs. Within one last-level cache a line took 30 ns here, between two
    /// 150.
    static constexpr std::int64_t apart_ns_min = 80;
    /// A longer one was interrupted.
    static constexpr std::int64_t line_ns_max = 250;

    void learn(std::int64_t line_ns) {
        line_ns_ += (std::clamp(line_ns, std::int64_t{0}, line_ns_max) - line_ns_) / 4;
    }

    std::int64_t line_ns_ = 0;
};

}  // namespace dlrt::shm
