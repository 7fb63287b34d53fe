// SPDX-License-Identifier: Apache-2.0
/// What is behind a communicator of MPI: the core's, and what only MPI asks for. Shared by its
/// handle and by requests that are under way.
#pragma once

#include "runtime/communicator.hpp"
#include "runtime/mpi/attribute.hpp"
#include "runtime/mpi/error_handler.hpp"
#include "runtime/mpi/info.hpp"
#include "runtime/mpi/request_note.hpp"

#include <memory>
#include <string>
#include <vector>

namespace dlrt::mpi {

class SendBuffer;

/// What the core's topology doesn't keep.
struct TopologyFacts {
    int kind = MPI_UNDEFINED;       ///< MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH.
    std::vector<int> index, edges;  ///< Of a graph.
    bool is_weighted = false;       ///< Of a distributed one.
    std::vector<int> sources, source_weights, targets, target_weights;
};

struct Comm : std::enable_shared_from_this<Comm> {
    CommunicatorRef core;  ///< Null until an MPI_Comm_idup is complete.
    MPI_Comm handle = MPI_COMM_NULL;
    ErrorHandlerRef error_handler;
    Attributes attributes;
    std::string name;
    TopologyFacts topology;
    InfoRef hints;
    std::shared_ptr<SendBuffer> send_buffer;
    std::int32_t duplication_count = 0;  ///< Those begun by MPI_Comm_idup, alike on all ranks.
    RequestNote note{*this};

    Comm() = default;
    Comm(const Comm&) = delete;
    Comm& operator=(const Comm&) = delete;
};
using CommRef = std::shared_ptr<Comm>;

}  // namespace dlrt::mpi
