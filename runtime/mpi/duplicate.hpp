// SPDX-License-Identifier: Apache-2.0
/// Duplicates of communicators, at once and by a request.
#pragma once

#include "runtime/mpi/surface.hpp"

namespace dlrt::mpi {

/// Of the site's communicator, with its attributes, topology and error handler, and these hints.
int duplicate_comm(const Site& site, const InfoRef& hints, MPI_Comm* newcomm);

/// The same as an operation: the new communicator is good once the request is complete.
int start_duplicate(
    const Site& site, const InfoRef& hints, MPI_Comm* newcomm, MPI_Request* request
);

}  // namespace dlrt::mpi
