// SPDX-License-Identifier: Apache-2.0
/// A send and a receive behind one request: MPI_Isendrecv and its like.
#pragma once

#include "runtime/mpi/comm.hpp"

#include <cstddef>
#include <memory>
#include <optional>

namespace dlrt::mpi {

/// Empty routes: MPI_PROC_NULL.
struct ExchangeSides {
    std::optional<Route> target;
    ConstBuffer source_buffer;
    std::optional<Route> source;
    Buffer target_buffer;
};

/// Begins it. The layouts are kept; `copy` too, which the outgoing data may lie in.
[[nodiscard]] Request* start_exchange(
    Comm& comm, const ExchangeSides& sides, std::unique_ptr<std::byte[]> copy
);

}  // namespace dlrt::mpi
