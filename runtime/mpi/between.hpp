// SPDX-License-Identifier: Apache-2.0
/// The collective functions on a communicator between two groups. Each takes over a call on one.
#pragma once

#include "runtime/mpi/collective_site.hpp"

namespace dlrt::mpi {

/// Which function it is; `root` as the caller gave it.
struct BetweenCall {
    coll::Collective collective;
    Call call;
    int root = 0;
};

/// Blocks that are alike.
int move_between(
    CollectiveSite& site, const BetweenCall& call, const BufferArguments& input,
    const BufferArguments& output
);
/// Blocks that differ. The lengths of the lists follow from the rank's part.
int move_between(
    CollectiveSite& site, const BetweenCall& call, const ListArguments& input,
    const ListArguments& output
);

/// `counts`: of a reduce_scatter, by rank of the own group; null elsewhere. Then `count` is the own
/// one.
struct BetweenReduction {
    const void* input;
    void* output;
    MPI_Count count;
    MPI_Datatype type;
    MPI_Op op;
    const std::vector<std::int64_t>* counts = nullptr;
};
int reduce_between(
    CollectiveSite& site, const BetweenCall& call, const BetweenReduction& reduction
);

}  // namespace dlrt::mpi
