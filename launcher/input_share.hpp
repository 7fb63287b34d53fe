// SPDX-License-Identifier: Apache-2.0
/// How far the hosts that get dlrun's input are with it: the slowest decides how much more is read,
/// and nobody waits for one whose ranks take no more. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace dlrt::launcher {

class InputShare {
  public:
    explicit InputShare(const std::vector<std::uint32_t>& hosts = {}) {
        for (const std::uint32_t host : hosts) taken_bytes_[host] = 0;
    }

    [[nodiscard]] bool has(std::uint32_t host) const { return taken_bytes_.contains(host); }
    /// A host has taken so much more. Returns how much more all have taken by that.
    [[nodiscard]] std::uint64_t take(std::uint32_t host, std::uint64_t size_bytes) {
        const auto found = taken_bytes_.find(host);
        if (found == taken_bytes_.end()) return 0;
        found->second += size_bytes;
        return advance();
    }
    /// It takes no more. Returns the same.
    [[nodiscard]] std::uint64_t close(std::uint32_t host) {
        taken_bytes_.erase(host);
        return advance();
    }
    /// Nobody takes any more.
    [[nodiscard]] bool is_closed() const { return taken_bytes_.empty(); }

  private:
    std::uint64_t advance() {
        if (taken_bytes_.empty()) return 0;
        std::uint64_t least = UINT64_MAX;
        for (const auto& [host, taken] : taken_bytes_) least = taken < least ? taken : least;
        const std::uint64_t more = least - reported_bytes_;
        reported_bytes_ = least;
        return more;
    }

    std::map<std::uint32_t, std::uint64_t> taken_bytes_;  ///< By host.
    std::uint64_t reported_bytes_ = 0;
};

}  // namespace dlrt::launcher
