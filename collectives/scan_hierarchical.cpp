// SPDX-License-Identifier: Apache-2.0
/// Hierarchical scans: each group scans; its last rank then has, or makes, the sum of the group,
/// and these have an exclusive scan, which gives each group what is before it; every rank adds
/// that.
///
/// For G groups of s ranks: 2 log2 s alpha + log2 s (2 n beta + 2 n gamma) within, log2 G (alpha +
/// n beta + 2 n gamma) between. Groups of neighbours. Best for short vectors where hosts are far
/// from each other. Source: folklore; the parts are scan_recursive_doubling.cpp,
/// exscan_recursive_doubling.cpp and bcast_binomial.cpp.
///
///   2 groups of 2:   0>1 2>3   1>3   3>2, and 2 and 3 add
#include "collectives/hierarchy.hpp"

namespace dlrt::coll {
namespace {

constexpr Recipe scan_recipe{
    Collective::scan,
    "hierarchical",
    {Collective::scan, "recursive_doubling"},
    {Collective::exscan, "recursive_doubling"},
    {Collective::bcast, "binomial"},
};
constexpr Recipe exscan_recipe{
    Collective::exscan,
    "hierarchical",
    {Collective::exscan, "recursive_doubling"},
    {Collective::exscan, "recursive_doubling"},
    {Collective::bcast, "binomial"},
};

class Scan {
  public:
    Scan(const Recipe& recipe, const Shape& shape)
        : hierarchy_(recipe, shape, Hierarchy::Leader::last),
          chunk_count_(hierarchy_.common_chunk_count()),
          composition_(hierarchy_.header(ChunkRule::split, chunk_count_), hierarchy_.shape()),
          own_{{hierarchy_.own(), 0}, chunk_count_, 0},
          output_(output_slice(0, chunk_count_)) {}

    Schedule inclusive() && {
        Slice prefix = own_;
        if (hierarchy_.has_inside()) {
            scan_group();
            prefix = output_;
        }
        if (has_before()) {
            const Slice before = sum_before(prefix);
            composition_.builder().reduce(before, prefix, output_);
        } else {
            tell_total(prefix);
            if (prefix.place.buffer == BufferId::input)
                composition_.builder().copy(prefix, output_);
        }
        return hierarchy_.finish(std::move(composition_));
    }

    Schedule exclusive() && {
        const bool is_asked = hierarchy_.is_leader() &&
                              hierarchy_.group() + 1 < hierarchy_.group_count();
        Slice total = own_;
        if (hierarchy_.has_inside()) {
            if (is_asked && hierarchy_.is_in_place()) {
                total = scratch();
                composition_.builder().copy(own_, total);
            }
            scan_group();
            if (is_asked) {
                const Slice sum = scratch();
                composition_.builder().reduce(output_, total, sum);
                total = sum;
            }
        }
        if (has_before()) {
            const Slice before = sum_before(total);
            const bool is_first = hierarchy_.shape().rank == first_rank();
            if (is_first) {
                composition_.builder().copy(before, output_);
            } else {
                composition_.builder().reduce(before, output_, output_);
            }
        } else {
            tell_total(total);
        }
        return hierarchy_.finish(std::move(composition_));
    }

  private:
    [[nodiscard]] bool has_before() const { return hierarchy_.group() > 0; }
    [[nodiscard]] std::int32_t first_rank() const {
        return hierarchy_.groups().first_of(hierarchy_.group());
    }
    Slice scratch() {
        return scratch_slice(composition_.take_scratch(chunk_count_), 0, chunk_count_);
    }

    void add(Phase phase, const Slice& input, const Slice& output) {
        phase.lengths = divided(chunk_count_, chunk_count_of(phase));
        phase.input = window(input.place.buffer, input.place.chunk, phase.lengths);
        phase.output = window(output.place.buffer, output.place.chunk, phase.lengths);
        composition_.add(phase);
    }
    void scan_group() {
        Phase phase = hierarchy_.up();
        phase.placement = hierarchy_.shape().placement;
        add(phase, own_, output_);
    }
    void tell_total(const Slice& total) {
        if (hierarchy_.has_between()) add(hierarchy_.between(), total, {});
    }
    /// Of all groups before.
    Slice sum_before(const Slice& total) {
        const Slice before = scratch();
        if (hierarchy_.has_between()) add(hierarchy_.between(), total, before);
        if (hierarchy_.has_inside()) add(hierarchy_.down(), {}, before);
        return before;
    }

    Hierarchy hierarchy_;
    std::uint32_t chunk_count_;
    Composition composition_;
    Slice own_;
    Slice output_;
};

}  // namespace

Schedule scan_hierarchical(const Shape& shape) {
    return Scan(scan_recipe, shape).inclusive();
}

Schedule exscan_hierarchical(const Shape& shape) {
    return Scan(exscan_recipe, shape).exclusive();
}

}  // namespace dlrt::coll
