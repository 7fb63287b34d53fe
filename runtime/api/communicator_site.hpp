// SPDX-License-Identifier: Apache-2.0
/// What the functions of dlrt.h share that make communicators.
#pragma once

#include "runtime/api/surface.hpp"
#include "runtime/communicator_create.hpp"

#include <utility>

namespace dlrt::api {

inline ContextId new_context() {
    return Core::get()->new_context();
}

/// Puts what a creation yielded behind a handle; the null handle for a rank that takes no part.
inline dlrt_err give_created(const Site& site, Result<CommunicatorRef> made, dlrt_comm* result) {
    if (!made) return to_c(site.pass(made.error()));
    if (*made == nullptr) {
        *result = DLRT_COMM_NULL;
        return DLRT_OK;
    }
    return to_c(site.give(*std::move(made), result));
}

inline FlightRecorder::Operation record_of(
    Call call, const Communicator& comm, std::uint64_t hash = 0
) {
    return {
        .call = call,
        .context = static_cast<std::uint64_t>(comm.user_context()),
        .arguments_hash = hash,
    };
}

/// One that others can be made of in all ways.
inline Status use_one_group(const Site& site, dlrt_comm comm, Use<Communicator>& use) {
    if (const Status bad = site.use(comm, use); !bad.ok()) return bad;
    if (!use.pointer->is_between_groups()) return {};
    return site.fail(Errc::communicator, "the communicator is between two groups");
}

/// Whether ranks have neighbours.
inline Status check_topology(const Site& site, const Communicator& comm) {
    if (comm.topology() != nullptr) return {};
    return site.fail(
        Errc::communicator,
        "the communicator's ranks have no neighbours; dlrt_comm_create_graph and "
        "dlrt_comm_create_cart make one where they have"
    );
}

}  // namespace dlrt::api
