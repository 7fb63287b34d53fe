// SPDX-License-Identifier: Apache-2.0
/// Short ways for tests to make collective calls.
#pragma once

#include "runtime/collective.hpp"

#include <cstdint>

namespace dlrt::testing {

struct Reduction {
    ConstBuffer input;
    Buffer output;
    Reducer reducer;
    bool is_in_place = false;
};
struct Blocks {
    ConstBuffer input;
    Buffer output;
    bool is_in_place = false;
};

inline CollectiveCall call_of(
    coll::Collective collective, const Reduction& reduction, std::int32_t root = 0
) {
    CollectiveCall call;
    call.collective = collective;
    call.root = root;
    call.input = reduction.input;
    call.output = reduction.output;
    call.reducer = &reduction.reducer;
    call.is_in_place = reduction.is_in_place;
    return call;
}

inline CollectiveCall call_of(
    coll::Collective collective, const Blocks& blocks, std::int32_t root = 0
) {
    CollectiveCall call;
    call.collective = collective;
    call.root = root;
    call.input = blocks.input;
    call.output = blocks.output;
    call.is_in_place = blocks.is_in_place;
    return call;
}

inline CollectiveCall bcast_call(const Buffer& buffer, std::int32_t root) {
    return call_of(coll::Collective::bcast, Blocks{{}, buffer, false}, root);
}

/// Non-owning: tests' communicators outlive what they begin.
inline CommunicatorRef ref_to(Communicator& comm) {
    return {std::shared_ptr<void>{}, &comm};
}

enum class Form : std::uint8_t { blocking, nonblocking, persistent };

/// One round of the call to its end. A persistent one is made, started and freed.
inline Status perform(Communicator& comm, const CollectiveCall& call, Form form) {
    if (form == Form::blocking) return run_collective(comm, call);
    const auto made = form == Form::nonblocking ? start_collective(ref_to(comm), call)
                                                : init_collective(ref_to(comm), call);
    if (!made) return made.error();
    Engine& engine = comm.engine();
    if (form == Form::persistent && !engine.start(*made).ok()) return Status{Errc::internal, 0};
    engine.wait(*made);
    const Status outcome = outcome_of(**made);
    engine.release(*made);
    return outcome;
}

inline Status bcast(Communicator& comm, const Buffer& buffer, std::int32_t root) {
    return run_collective(comm, bcast_call(buffer, root));
}
inline Status allreduce(Communicator& comm, const Reduction& reduction) {
    return run_collective(comm, call_of(coll::Collective::allreduce, reduction));
}

}  // namespace dlrt::testing
