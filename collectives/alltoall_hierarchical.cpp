// SPDX-License-Identifier: Apache-2.0
/// Hierarchical all-to-all: each group gathers all its blocks at its leader, the leaders exchange
/// what is for each other's groups in one message each, and each group scatters.
///
/// For G groups of s ranks: 2 log2 s alpha + 2 s n beta within, (G - 1) alpha + s n (G-1)/G beta
/// between, and s n copied three times. Any groups. Best for few short blocks where messages
/// between hosts are dear. Source: folklore; the parts are gather_binomial.cpp, alltoall_linear.cpp
/// and scatter_binomial.cpp.
///
///   2 groups of 2:   1>0 3>2   0<>2 [0>2 0>3 1>2 1>3] [2>0 2>1 3>0 3>1]   0>1 2>3
#include "collectives/hierarchy.hpp"

namespace dlrt::coll {
namespace {

constexpr Recipe recipe{
    Collective::alltoall,
    "hierarchical",
    {Collective::gather, "binomial"},
    {Collective::alltoall, "linear"},
    {Collective::scatter, "binomial"},
};

class Exchange {
  public:
    explicit Exchange(const Shape& shape)
        : hierarchy_(recipe, shape),
          composition_(hierarchy_.header(ChunkRule::block, hierarchy_.size()), hierarchy_.shape()),
          size_(hierarchy_.size()),
          own_size_(hierarchy_.group_size()) {}

    Schedule run() && {
        Place blocks{hierarchy_.own(), 0};
        const bool is_leader = hierarchy_.is_leader();
        if (hierarchy_.has_inside()) blocks = gather(blocks);
        if (is_leader && hierarchy_.group_count() > 1) {
            blocks = by_source(exchange(turned(blocks)));
        } else if (is_leader && hierarchy_.has_inside()) {
            blocks = turned(blocks);
        }
        if (hierarchy_.has_inside()) {
            Phase phase = hierarchy_.down();
            phase.lengths.assign(own_size_, size_);
            phase.input = window(blocks.buffer, blocks.chunk, phase.lengths);
            phase.output = {BufferId::output, {0}};
            composition_.add(phase);
        } else if (blocks.buffer != BufferId::output) {
            copy(blocks, {BufferId::output, 0}, size_);
        }
        return hierarchy_.finish(std::move(composition_));
    }

  private:
    void copy(const Place& from, const Place& to, std::uint32_t length) {
        composition_.builder().copy({from, length, 0}, {to, length, 0});
    }
    static Place shifted(const Place& place, std::uint32_t by) {
        return {place.buffer, place.chunk + by};
    }
    Place all_blocks() { return {BufferId::scratch, composition_.take_scratch(own_size_ * size_)}; }

    /// For each rank of the group, for each target.
    Place gather(const Place& own) {
        Phase phase = hierarchy_.up();
        phase.lengths.assign(own_size_, size_);
        phase.input = {own.buffer, {own.chunk}};
        Place gathered;
        if (hierarchy_.is_leader()) {
            gathered = all_blocks();
            phase.output = window(gathered.buffer, gathered.chunk, phase.lengths);
        }
        composition_.add(phase);
        return gathered;
    }

    /// For each target, for each rank of the group.
    Place turned(const Place& gathered) {
        if (own_size_ == 1) return gathered;
        const Place result = all_blocks();
        for (std::uint32_t target = 0; target < size_; ++target) {
            for (std::uint32_t i = 0; i < own_size_; ++i) {
                copy(
                    shifted(gathered, i * size_ + target), shifted(result, target * own_size_ + i),
                    1
                );
            }
        }
        return result;
    }

    /// For each group, for each rank of this group, what comes from that one's ranks.
    Place exchange(const Place& sent) {
        Phase phase = hierarchy_.between();
        for (std::int32_t group = 0; group < hierarchy_.group_count(); ++group)
            phase.lengths.push_back(own_size_ * hierarchy_.group_size(group));
        phase.input = window(sent.buffer, sent.chunk, phase.lengths);
        Place received{BufferId::output, 0};
        if (hierarchy_.has_inside() || hierarchy_.is_in_place()) received = all_blocks();
        phase.output = window(received.buffer, received.chunk, phase.lengths);
        composition_.add(phase);
        return received;
    }

    /// For each rank of the group, for each source.
    Place by_source(const Place& received) {
        if (own_size_ == 1) return received;
        const Place result = all_blocks();
        for (std::int32_t group = 0; group < hierarchy_.group_count(); ++group) {
            const std::uint32_t first = hierarchy_.first_of(group);
            const std::uint32_t count = hierarchy_.group_size(group);
            for (std::uint32_t i = 0; i < own_size_; ++i) {
                copy(
                    shifted(received, own_size_ * first + i * count),
                    shifted(result, i * size_ + first), count
                );
            }
        }
        return result;
    }

    Hierarchy hierarchy_;
    Composition composition_;
    std::uint32_t size_;
    std::uint32_t own_size_;
};

}  // namespace

Schedule alltoall_hierarchical(const Shape& shape) {
    return Exchange(shape).run();
}

}  // namespace dlrt::coll
