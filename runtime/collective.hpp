// SPDX-License-Identifier: Apache-2.0
/// The collective operations of the core: choose a schedule, bind it to buffers, run it. Blocking;
/// arguments have been checked by the surface. Collective over the communicator.
///
/// Buffers follow MPI: `input.address == nullptr` with `is_in_place` means that the input is in the
/// output.
#pragma once

#include "runtime/base/export.hpp"
#include "runtime/communicator.hpp"
#include "runtime/reducer.hpp"

namespace dlrt {

struct ReduceArguments {
    ConstBuffer input;
    Buffer output;  ///< Significant at the root only for reduce().
    Reducer reducer;
    bool is_in_place = false;
};

/// `block` is one rank's share: count elements. gather: the root's output holds size() blocks by
/// rank.
struct BlockArguments {
    ConstBuffer input;
    Buffer output;
    bool is_in_place = false;
};

DLRT_CORE Status barrier(Communicator& comm);
DLRT_CORE Status bcast(Communicator& comm, const Buffer& buffer, std::int32_t root);
DLRT_CORE Status reduce(Communicator& comm, const ReduceArguments& arguments, std::int32_t root);
DLRT_CORE Status allreduce(Communicator& comm, const ReduceArguments& arguments);
DLRT_CORE Status gather(Communicator& comm, const BlockArguments& arguments, std::int32_t root);
DLRT_CORE Status scatter(Communicator& comm, const BlockArguments& arguments, std::int32_t root);
DLRT_CORE Status allgather(Communicator& comm, const BlockArguments& arguments);

}  // namespace dlrt
