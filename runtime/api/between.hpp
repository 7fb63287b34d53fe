// SPDX-License-Identifier: Apache-2.0
/// The collective functions on a communicator between two groups. Each takes over a call that
/// open_collective() has opened.
#pragma once

#include "runtime/api/collective_site.hpp"

namespace dlrt::api {

/// Which function it is; `root` as the caller gave it.
struct BetweenCall {
    coll::Collective collective;
    Call call;
    std::int32_t root = 0;
};

/// What is given, whatever part the rank has.
struct EvenBlocks {
    const void* input;
    const void* output;
    std::int64_t count;
    dlrt_type type;
};

/// Blocks that are alike.
dlrt_err move_between(
    const Site& site, const Entry& entry, Prepared& prepared, const BetweenCall& call,
    const EvenBlocks& blocks
);
/// Blocks that differ. The lengths of the lists follow from the rank's part.
dlrt_err move_between(
    const Site& site, const Entry& entry, Prepared& prepared, const BetweenCall& call,
    ListArguments input, ListArguments output
);

/// `counts`: of reduce_scatter, by rank of the own group; null elsewhere. Then blocks.count is the
/// own one.
struct BetweenReduction {
    dlrt_op op;
    const std::int64_t* counts = nullptr;
};
dlrt_err reduce_between(
    const Site& site, const Entry& entry, Prepared& prepared, const BetweenCall& call,
    const EvenBlocks& blocks, const BetweenReduction& reduction
);

}  // namespace dlrt::api
