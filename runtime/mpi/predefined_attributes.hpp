// SPDX-License-Identifier: Apache-2.0
/// The attributes that every communicator has and nobody can set.
#pragma once

#include <mpi.h>

namespace dlrt::mpi {

[[nodiscard]] constexpr bool is_predefined_attribute(int keyval) {
    return keyval >= MPI_TAG_UB && keyval <= MPI_UNIVERSE_SIZE;
}
/// Its value; null where it has none. Stays valid.
[[nodiscard]] int* predefined_attribute(int keyval);

}  // namespace dlrt::mpi
