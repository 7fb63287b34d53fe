// SPDX-License-Identifier: Apache-2.0
/// Operations of reductions: the standard's and the caller's, for what types they are defined, and
/// what the core is given for them. Any thread.
#pragma once

#include "runtime/mpi/type.hpp"
#include "runtime/reducer.hpp"

#include <memory>
#include <mpi.h>

namespace dlrt::mpi {

/// A caller's.
struct Op {
    UserOpRef core;
};
using OpRef = std::shared_ptr<const Op>;

class Site;

/// Checks that the operation is defined for the type. `handle` is the type's, for functions of the
/// caller's. Errors: MPI_ERR_OP.
int use_op(const Site& site, MPI_Op op, const Type& type, MPI_Datatype handle, Reducer& reducer);

}  // namespace dlrt::mpi
