// SPDX-License-Identifier: Apache-2.0
/// Which of the functions of mpi.h that one of ours stands for was called. Values.
#pragma once

#include <cstdint>
#include <mpi.h>

namespace dlrt::mpi {

enum class Form : std::uint8_t { blocking, nonblocking, persistent };

/// Of a collective. The request is null in the blocking form.
struct Entry {
    const char* function;
    Form form = Form::blocking;
    MPI_Request* request = nullptr;
};

/// The function, or its twin for large counts.
enum class Width : std::uint8_t { narrow, wide };

}  // namespace dlrt::mpi
