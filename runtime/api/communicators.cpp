// SPDX-License-Identifier: Apache-2.0
/// Communicators: questions about them, their creation and their end.
#include "runtime/api/arguments.hpp"
#include "runtime/api/call_group.hpp"
#include "runtime/api/communicator_site.hpp"
#include "runtime/communicator_pair.hpp"

#include <algorithm>

namespace dlrt::api {
namespace {

dlrt_err split_by(
    const Site& site, Communicator& comm, const SplitChoice& choice, dlrt_comm* result
) {
    const FlightMark mark(site, record_of(Call::comm_split, comm));
    auto made = comm.is_between_groups() ? split_pair(comm, choice, new_context)
                                         : split(comm, choice, new_context);
    return give_created(site, std::move(made), result);
}

Comparison compare_communicators(const Communicator& a, const Communicator& b) {
    if (&a == &b) return Comparison::identical;
    if (a.is_between_groups() != b.is_between_groups()) return Comparison::unequal;
    // Where there is one group, the peers are the same one.
    const Comparison groups = std::max(
        compare(*a.group(), *b.group()), compare(*a.peers(), *b.peers())
    );
    return groups == Comparison::identical ? Comparison::congruent : groups;
}

}  // namespace
}  // namespace dlrt::api

using namespace dlrt;
using namespace dlrt::api;

dlrt_err dlrt_comm_size(dlrt_comm comm, int32_t* size) {
    const Site site("dlrt_comm_size");
    if (!site.is_ready()) return site.error();
    Use<Communicator> use;
    if (const Status bad = site.require(size, "size"); !bad.ok()) return to_c(bad);
    if (const Status bad = site.use(comm, use); !bad.ok()) return to_c(bad);
    *size = use.pointer->size();
    return DLRT_OK;
}

dlrt_err dlrt_comm_rank(dlrt_comm comm, int32_t* rank) {
    const Site site("dlrt_comm_rank");
    if (!site.is_ready()) return site.error();
    Use<Communicator> use;
    if (const Status bad = site.require(rank, "rank"); !bad.ok()) return to_c(bad);
    if (const Status bad = site.use(comm, use); !bad.ok()) return to_c(bad);
    *rank = use.pointer->rank();
    return DLRT_OK;
}

dlrt_err dlrt_comm_compare(dlrt_comm a, dlrt_comm b, dlrt_comparison* result) {
    const Site site("dlrt_comm_compare");
    if (!site.is_ready()) return site.error();
    Use<Communicator> left, right;
    if (const Status bad = site.require(result, "result"); !bad.ok()) return to_c(bad);
    if (const Status bad = site.use(a, left); !bad.ok()) return to_c(bad);
    if (const Status bad = site.use(b, right); !bad.ok()) return to_c(bad);
    *result = static_cast<dlrt_comparison>(compare_communicators(*left.pointer, *right.pointer));
    return DLRT_OK;
}

dlrt_err dlrt_comm_dup(dlrt_comm comm, dlrt_comm* result) {
    const Site site("dlrt_comm_dup");
    if (!site.is_ready()) return site.error();
    if (const Status bad = refuse_within_group(site); !bad.ok()) return to_c(bad);
    Use<Communicator> use;
    if (const Status bad = site.require(result, "result"); !bad.ok()) return to_c(bad);
    if (const Status bad = site.use(comm, use); !bad.ok()) return to_c(bad);
    const FlightMark mark(site, record_of(Call::comm_dup, *use.pointer));
    Communicator& parent = *use.pointer;
    auto made = parent.is_between_groups() ? duplicate_pair(parent, new_context)
                                           : duplicate(parent, new_context);
    return give_created(site, std::move(made), result);
}

dlrt_err dlrt_comm_split(dlrt_comm comm, int32_t color, int32_t key, dlrt_comm* result) {
    const Site site("dlrt_comm_split");
    if (!site.is_ready()) return site.error();
    if (const Status bad = refuse_within_group(site); !bad.ok()) return to_c(bad);
    Use<Communicator> use;
    if (const Status bad = site.require(result, "result"); !bad.ok()) return to_c(bad);
    if (const Status bad = site.use(comm, use); !bad.ok()) return to_c(bad);
    SplitChoice choice{std::nullopt, key};
    if (color != DLRT_UNDEFINED) {
        if (color < 0) {
            return to_c(
                site.fail(Errc::argument, "color {} is negative and not DLRT_UNDEFINED", color)
            );
        }
        choice.color = color;
    }
    return split_by(site, *use.pointer, choice, result);
}

dlrt_err dlrt_comm_split_host(dlrt_comm comm, int take_part, int32_t key, dlrt_comm* result) {
    const Site site("dlrt_comm_split_host");
    if (!site.is_ready()) return site.error();
    if (const Status bad = refuse_within_group(site); !bad.ok()) return to_c(bad);
    Use<Communicator> use;
    if (const Status bad = site.require(result, "result"); !bad.ok()) return to_c(bad);
    if (const Status bad = use_one_group(site, comm, use); !bad.ok()) return to_c(bad);
    SplitChoice choice{std::nullopt, key};
    if (take_part != 0) {
        const Communicator& members = *use.pointer;
        const auto self = static_cast<std::size_t>(members.world_rank(members.rank()));
        choice.color = static_cast<std::int32_t>(Core::get()->job_map().ranks[self].host_index);
    }
    return split_by(site, *use.pointer, choice, result);
}

dlrt_err dlrt_comm_create(dlrt_comm comm, dlrt_group group, dlrt_comm* result) {
    const Site site("dlrt_comm_create");
    if (!site.is_ready()) return site.error();
    if (const Status bad = refuse_within_group(site); !bad.ok()) return to_c(bad);
    Use<Communicator> use;
    GroupRef members;
    if (const Status bad = site.require(result, "result"); !bad.ok()) return to_c(bad);
    if (const Status bad = use_one_group(site, comm, use); !bad.ok()) return to_c(bad);
    if (const Status bad = site.use(group, members); !bad.ok()) return to_c(bad);
    const FlightMark mark(site, record_of(Call::comm_create, *use.pointer));
    return give_created(site, create(*use.pointer, members, new_context), result);
}

dlrt_err dlrt_comm_create_from_group(dlrt_group group, const char* text, dlrt_comm* result) {
    const Site site("dlrt_comm_create_from_group");
    if (!site.is_ready()) return site.error();
    if (const Status bad = refuse_within_group(site); !bad.ok()) return to_c(bad);
    GroupRef members;
    if (const Status bad = site.require(text, "text"); !bad.ok()) return to_c(bad);
    if (const Status bad = site.require(result, "result"); !bad.ok()) return to_c(bad);
    if (const Status bad = site.use(group, members); !bad.ok()) return to_c(bad);
    const FlightMark mark(site, {.call = Call::comm_create});
    const WorldRank self_rank = site.surface().world->rank();
    const Meeting meeting{site.engine(), Core::get()->meeting_context(), self_rank, text};
    return give_created(site, create_from_group(meeting, members, new_context), result);
}

dlrt_err dlrt_comm_free(dlrt_comm* comm) {
    const Site site("dlrt_comm_free");
    if (!site.is_ready()) return site.error();
    Use<Communicator> use;
    if (const Status bad = site.require(comm, "comm"); !bad.ok()) return to_c(bad);
    if (const Status bad = site.use(*comm, use); !bad.ok()) return to_c(bad);
    const std::optional<CommunicatorRef> taken = site.surface().communicators.remove(to_handle(*comm
    ));
    if (!taken) {
        return to_c(site.fail(Errc::communicator, "DLRT_COMM_WORLD and DLRT_COMM_SELF stay"));
    }
    FlightRecorder::Operation operation = record_of(Call::comm_free, **taken);
    // Those who wait in a later one find that this rank won't come.
    operation.place.tag = (*taken)->next_operation_number(Persistence::once).short_form();
    const FlightMark mark(site, operation);
    site.surface().forget_recent();
    retire(**taken);
    *comm = DLRT_COMM_NULL;
    return DLRT_OK;
}
