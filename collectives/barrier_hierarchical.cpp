// SPDX-License-Identifier: Apache-2.0
/// Hierarchical barrier: signals climb to the leader of each group, the leaders have a
/// dissemination barrier, and signals come down again.
///
/// For G groups of s ranks: 2 log2 s alpha within, log2 G alpha between them. Any groups. Best
/// where messages between hosts cost more than those within. Source: folklore; the parts are
/// gather_binomial.cpp, barrier_dissemination.cpp and bcast_binomial.cpp.
///
///   2 groups of 2:   1>0 3>2   0<>2   0>1 2>3
#include "collectives/hierarchy.hpp"

namespace dlrt::coll {
namespace {

constexpr Recipe recipe{
    Collective::barrier,
    "hierarchical",
    {Collective::gather, "binomial"},
    {Collective::barrier, "dissemination"},
    {Collective::bcast, "binomial"},
};

}  // namespace

Schedule barrier_hierarchical(const Shape& shape) {
    const Hierarchy hierarchy(recipe, shape);
    Composition composition(hierarchy.header(ChunkRule::split, 1), hierarchy.shape());
    std::vector<Composition::Signal> heard;
    const auto note = [&](const std::vector<Composition::Signal>& signals) {
        for (const Composition::Signal& signal : signals) {
            if (signal.kind == StepKind::recv) heard.push_back(signal);
        }
    };
    // A rank tells what it has heard before, but nobody what that one has told itself.
    const auto follow = [&](const std::vector<Composition::Signal>& signals) {
        for (const Composition::Signal& signal : signals) {
            for (const Composition::Signal& earlier : heard) {
                if (signal.kind == StepKind::send && earlier.peer != signal.peer)
                    composition.builder().order(earlier.step, signal.step);
            }
        }
    };
    if (hierarchy.has_inside()) note(composition.add_signals(hierarchy.up()));
    if (hierarchy.has_between()) {
        const auto signals = composition.add_signals(hierarchy.between());
        follow(signals);
        note(signals);
    }
    if (hierarchy.has_inside()) follow(composition.add_signals(hierarchy.down()));
    return hierarchy.finish(std::move(composition));
}

}  // namespace dlrt::coll
