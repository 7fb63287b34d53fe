// SPDX-License-Identifier: Apache-2.0
/// The short way of small blocking collectives from mpi.h.
#pragma once

#include "runtime/mpi/arguments.hpp"
#include "runtime/mpi/entry.hpp"
#include "runtime/recent_calls.hpp"

#include <cstdint>

namespace dlrt::mpi {

/// A collective that moves data, as a call that may come again. Of the handles only those that are
/// always there stay what they are, see can_be_repeated().
[[nodiscard]] inline RecentCall recent_of(
    coll::Collective collective, const BufferArguments& input, const BufferArguments& output,
    int root, MPI_Comm comm
) {
    return {
        .collective = collective,
        .is_in_place = input.address == MPI_IN_PLACE || output.address == MPI_IN_PLACE,
        .root = root,
        .comm = number_of(comm),
        .input = input.address,
        // The core writes to outputs only.
        .output = const_cast<void*>(output.address),
        .count = input.count,
        .type = number_of(input.type),
        .output_count = output.count,
        .output_type = number_of(output.type),
    };
}

/// A caller's types and operations can be freed, and their handles must be found out of date then.
[[nodiscard]] inline bool can_be_repeated(const RecentCall& call) {
    return (call.type | call.output_type | call.op) < first_own_index;
}

/// The end of a call that was made the short way.
[[nodiscard, gnu::cold]] inline int raise_repeated(
    const Entry& entry, MPI_Comm comm, Status outcome
) {
    CommRef keeper;
    return raise_on(Surface::get().find(comm, keeper), entry.function, class_of(outcome));
}

template<typename Careful>
[[gnu::noinline]] int do_carefully(const Careful& careful) {
    return careful();
}

/// The short way if there is one, else `careful`.
template<typename Careful>
[[gnu::always_inline]] inline int repeat_or(
    const Entry& entry, MPI_Comm comm, const RecentCall& call, const Careful& careful
) {
    Surface& surface = Surface::get();
    if (entry.form == Form::blocking && surface.is_ready_and_alone()) {
        const auto done = surface.recent_calls.repeat(*surface.flight, call);
        if (done && done->ok()) [[likely]]
            return MPI_SUCCESS;
        if (done) return raise_repeated(entry, comm, *done);
    }
    return do_carefully(careful);
}

}  // namespace dlrt::mpi
