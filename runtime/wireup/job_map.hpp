// SPDX-License-Identifier: Apache-2.0
/// The job map: which rank is where. A value, made by the daemon (or by a wire-up source without
/// one), encoded into a read-only memfd that all local ranks map, and never changed afterwards.
#pragma once

#include "runtime/base/bytes.hpp"
#include "runtime/base/fd.hpp"
#include "runtime/base/result.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dlrt {

struct HostEntry {
    std::string name;
    std::uint32_t usable_cpu_count = 1;  ///< affinity ∩ cpuset ∩ quota, as its daemon found it.

    friend bool operator==(const HostEntry&, const HostEntry&) = default;
};

struct RankEntry {
    std::uint32_t host_index = 0;
    std::uint32_t local_rank = 0;
    std::uint32_t block_index = 0;    ///< Which `:` block of the command line started it.
    std::vector<std::uint32_t> cpus;  ///< Cpus it is bound to; empty when unbound.

    friend bool operator==(const RankEntry&, const RankEntry&) = default;
};

struct JobMap {
    std::string job_id;
    std::vector<HostEntry> hosts;
    std::vector<RankEntry> ranks;  ///< By world rank.

    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(ranks.size()); }
    /// World ranks on a host, in order of local rank.
    [[nodiscard]] std::vector<std::uint32_t> ranks_on_host(std::uint32_t host_index) const;
    friend bool operator==(const JobMap&, const JobMap&) = default;
};

/// Starts with a magic number and a version, so that a foreign descriptor is recognised.
[[nodiscard]] std::vector<std::byte> encode_job_map(const JobMap& map);
/// Errors: Errc::wireup with the reason, for any bytes that encode_job_map can't have made.
[[nodiscard]] Result<JobMap> decode_job_map(Bytes bytes);

/// The encoded map in a memory file sealed against every change. Errors: Errc::system.
[[nodiscard]] Result<Fd> create_job_map_file(const JobMap& map);
/// Errors: Errc::wireup when the descriptor is closed or is something else.
[[nodiscard]] Result<JobMap> read_job_map_file(int descriptor);

}  // namespace dlrt
