// SPDX-License-Identifier: Apache-2.0
/// What this surface keeps with a request of the engine: the communicator whose ranks its status
/// names and whose error handler it has, and what special requests do otherwise. A request without
/// a note is of MPI_COMM_WORLD.
#pragma once

#include "runtime/request.hpp"

#include <memory>
#include <mpi.h>

namespace dlrt::mpi {

struct Comm;

class RequestNote {
  public:
    explicit RequestNote(Comm& comm) : comm_(&comm) {}
    RequestNote(const RequestNote&) = delete;
    RequestNote& operator=(const RequestNote&) = delete;
    virtual ~RequestNote() = default;

    [[nodiscard]] Comm& comm() const { return *comm_; }

    /// False: it is one of the engine's, and nobody asks for the rest.
    [[nodiscard]] virtual bool is_special() const { return false; }
    /// Fills the status of a complete request, and does what is left to do. Returns an error code.
    [[nodiscard]] virtual int report(const Request& request, MPI_Status& status);
    /// Begins a round of a persistent request that has no other side for the engine.
    [[nodiscard]] virtual int begin() { return MPI_SUCCESS; }
    [[nodiscard]] virtual int cancel(Request& request);
    /// The caller has no handle any more.
    [[nodiscard]] virtual int let_go() { return MPI_SUCCESS; }

  private:
    Comm* comm_;
};
using RequestNoteRef = std::shared_ptr<RequestNote>;

}  // namespace dlrt::mpi
