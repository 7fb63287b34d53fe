// SPDX-License-Identifier: Apache-2.0
/// The cpus that ranks may be bound to, in the order of the host's NUMA nodes and cores, and how
/// they are shared out. Pure.
#pragma once

#include "launcher/topology.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace dlrt::launcher {

using CpuList = std::vector<std::uint32_t>;

/// What is never divided between ranks.
enum class ShareUnit : std::uint8_t { cpu, core };

class CpuTree {
  public:
    /// Only `cpus` are taken; those that the topology doesn't know are cores of their own.
    CpuTree(const HostTopology& topology, std::span<const std::uint32_t> cpus);

    [[nodiscard]] std::size_t cpu_count() const noexcept;
    [[nodiscard]] std::size_t core_count() const noexcept;
    /// Those that are in `cpus` as well.
    [[nodiscard]] CpuTree within(std::span<const std::uint32_t> cpus) const;

    /// An even, contiguous share for each of `rank_count`. No share lies on two NUMA nodes unless
    /// there are more nodes than ranks; then nodes stay whole. Cores stay whole while there are
    /// enough. Empty where ranks outnumber cpus.
    [[nodiscard]] std::vector<CpuList> even_shares(std::size_t rank_count) const;

    /// `unit_count` units for each of `rank_count`, on one NUMA node where one has as many left.
    /// Of cpus as unit cores stay whole while there are enough. Nothing where there are too few.
    [[nodiscard]] std::optional<std::vector<CpuList>> fixed_shares(
        std::size_t rank_count, std::size_t unit_count, ShareUnit unit
    ) const;

  private:
    using Core = CpuList;
    using Node = std::vector<Core>;

    CpuTree() = default;
    std::vector<Node> units(ShareUnit unit) const;

    std::vector<Node> nodes_;
};

/// Splits `rank_count` over groups of these sizes so that the smallest share is as large as can be;
/// no group gets more ranks than its size. REQUIRES: the sizes' sum isn't less than rank_count.
[[nodiscard]] std::vector<std::size_t> ranks_by_group(
    std::span<const std::size_t> sizes, std::size_t rank_count
);

/// The numbers of the objects that have some of `cpus`, without those all of whose cpus an earlier
/// one has: nodes of fast memory stand beside the cpus' ordinary node. No cpus: all that have any.
[[nodiscard]] std::vector<std::uint32_t> usable_objects(
    std::span<const TopologyObject> objects, std::span<const std::uint32_t> cpus
);

/// Ascending, of ascending lists or not.
[[nodiscard]] CpuList common_cpus(
    std::span<const std::uint32_t> some, std::span<const std::uint32_t> others
);

}  // namespace dlrt::launcher
