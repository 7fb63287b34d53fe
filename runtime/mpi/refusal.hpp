// SPDX-License-Identifier: Apache-2.0
/// What functions do that the library exports and doesn't have.
#pragma once

#include <cstdint>
#include <mpi.h>

namespace dlrt::mpi {

/// Who gets the error: the handler of MPI_COMM_SELF, or the caller.
enum class Refusal : std::uint8_t { by_raise, by_return };
[[gnu::cold]] int refuse(const char* function, int error_class, Refusal refusal);

}  // namespace dlrt::mpi
