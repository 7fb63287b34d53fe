// SPDX-License-Identifier: Apache-2.0
/// The words of MPI for how two groups or communicators compare.
#pragma once

#include "runtime/group.hpp"

#include <mpi.h>

namespace dlrt::mpi {

[[nodiscard]] constexpr int comparison_to_mpi(Comparison comparison) {
    return MPI_IDENT + static_cast<int>(comparison);
}
static_assert(comparison_to_mpi(Comparison::unequal) == MPI_UNEQUAL);
static_assert(comparison_to_mpi(Comparison::congruent) == MPI_CONGRUENT);

}  // namespace dlrt::mpi
