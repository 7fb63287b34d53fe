// SPDX-License-Identifier: Apache-2.0
/// The representation external32: every basic element big-endian, of a size that is the same on all
/// machines. Pure functions on packed streams.
#pragma once

#include "runtime/mpi/type.hpp"

#include <cstddef>
#include <cstdint>

namespace dlrt::mpi {

/// Of one instance of the type.
[[nodiscard]] std::uint64_t external32_bytes(const Type& type);
/// The packed stream of `count` instances, to as many times external32_bytes().
void write_external32(
    const Type& type, std::uint64_t count, const std::byte* native, std::byte* external
);
void read_external32(
    const Type& type, std::uint64_t count, const std::byte* external, std::byte* native
);

}  // namespace dlrt::mpi
