// SPDX-License-Identifier: Apache-2.0
/// Handles of the ABI as numbers. Those that are always there are below 4096; of any other the
/// lower half is an index from 4096 on and the upper half a generation, so that a stale one is
/// recognised.
#pragma once

#include "runtime/handle_table.hpp"

#include <cstdint>
#include <mpi.h>

namespace dlrt::mpi {

inline constexpr std::uint32_t first_own_index = 4096;

template<typename MpiHandle>
[[nodiscard]] inline std::uint64_t number_of(MpiHandle handle) {
    return reinterpret_cast<std::uintptr_t>(handle);
}

template<typename MpiHandle>
[[nodiscard]] inline Handle to_handle(MpiHandle handle) {
    const std::uint64_t number = number_of(handle);
    return {static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> 32)};
}

template<typename MpiHandle>
[[nodiscard]] inline MpiHandle to_mpi(Handle handle) {
    const std::uint64_t number = std::uint64_t{handle.generation} << 32 | handle.index;
    // The handles of the ABI are pointers that nobody follows.
    return reinterpret_cast<MpiHandle>(static_cast<std::uintptr_t>(number));
}

template<typename MpiHandle>
[[nodiscard]] inline bool is_always_there(MpiHandle handle) {
    return number_of(handle) < first_own_index;
}

}  // namespace dlrt::mpi
