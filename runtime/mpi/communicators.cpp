// SPDX-License-Identifier: Apache-2.0
/// Chapter: communicators. Questions about them, their creation and their end.
#include "runtime/communicator_create.hpp"
#include "runtime/communicator_pair.hpp"
#include "runtime/mpi/comparison.hpp"
#include "runtime/mpi/duplicate.hpp"
#include "runtime/mpi/surface.hpp"
#include "runtime/mpi/text_result.hpp"

#include <algorithm>
#include <mpi_functions.hpp>

namespace dlrt::mpi {
namespace {

int get_number(
    const char* function, MPI_Comm comm, int* result, std::int32_t (*question)(const Communicator&)
) {
    Surface& surface = Surface::get();
    if (surface.is_ready_and_alone() && result != nullptr) [[likely]] {
        const Comm* const recent = surface.find_recent(comm);
        if (recent != nullptr) {
            *result = question(*recent->core);
            return MPI_SUCCESS;
        }
    }
    const Site site(function, comm);
    if (!site.ok()) return site.error();
    if (const int wrong = site.require(result, "the result")) return site.raise(wrong);
    *result = question(site.core());
    return MPI_SUCCESS;
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

Result<CommunicatorRef> split_core(Communicator& comm, const SplitChoice& choice) {
    return comm.is_between_groups() ? split_pair(comm, choice, new_context)
                                    : split(comm, choice, new_context);
}

int split_by(const Site& site, const SplitChoice& choice, MPI_Comm* newcomm) {
    const FlightMark mark(site.surface(), record_of(Call::comm_split, site.core()));
    const int wrong = give_created(site, split_core(site.core(), choice), site.comm(), newcomm);
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

/// Of the ranks in the group only, without a parent that all of them call.
int create_among(
    const Site& site, const GroupRef& group, const std::string& text,
    const ErrorHandlerRef& handler, MPI_Comm* newcomm
) {
    *newcomm = MPI_COMM_NULL;
    if (group->size() == 0) return MPI_SUCCESS;
    const WorldRank self = site.surface().world->core->rank();
    if (group->rank_of(self) == undefined_rank) return MPI_SUCCESS;
    const FlightMark mark(site.surface(), {.call = Call::comm_create});
    const Meeting meeting{site.engine(), Core::get()->meeting_context(), self, text};
    const Result<CommunicatorRef> made = create_from_group(meeting, group, new_context);
    if (!made) return class_of(made.error());
    return site.give(wrap(*made, handler), newcomm);
}

/// Between two groups: each side's members of the group that it passes, in its order.
Result<CommunicatorRef> create_between(Communicator& comm, const Group& group) {
    SplitChoice choice;
    const std::int32_t place = group.rank_of(comm.group()->world_rank(comm.rank()));
    if (place != undefined_rank) choice = {0, place};
    return split_pair(comm, choice, new_context);
}

int check_members(const Site& site, const Group& group) {
    for (const WorldRank member : group.members()) {
        if (site.core().group()->rank_of(member) != undefined_rank) continue;
        return site.bad(MPI_ERR_GROUP, "a member of the group isn't in the communicator");
    }
    return MPI_SUCCESS;
}

}  // namespace

int MPI_Comm_size(MPI_Comm comm, int* size) {
    return get_number("MPI_Comm_size", comm, size, [](const Communicator& core) {
        return core.size();
    });
}

int MPI_Comm_rank(MPI_Comm comm, int* rank) {
    return get_number("MPI_Comm_rank", comm, rank, [](const Communicator& core) {
        return core.rank();
    });
}

int MPI_Comm_group(MPI_Comm comm, MPI_Group* group) {
    const Site site("MPI_Comm_group", comm);
    if (!site.ok()) return site.error();
    if (const int wrong = site.require(group, "group")) return site.raise(wrong);
    const int wrong = site.give(site.core().group(), group);
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

int MPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int* result) {
    const Site site("MPI_Comm_compare", comm1);
    if (!site.ok()) return site.error();
    Use<Comm> other;
    if (const int wrong = site.use(comm2, other, "comm2")) return site.raise(wrong);
    if (const int wrong = site.require(result, "result")) return site.raise(wrong);
    *result = comparison_to_mpi(compare_communicators(site.core(), *other->core));
    return MPI_SUCCESS;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
    const Site site("MPI_Comm_dup", comm);
    if (!site.ok()) return site.error();
    return duplicate_comm(site, site.comm().hints, newcomm);
}

int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
    const Site site("MPI_Comm_dup_with_info", comm);
    if (!site.ok()) return site.error();
    InfoRef hints;
    if (info != MPI_INFO_NULL) {
        if (const int wrong = site.use(info, hints)) return site.raise(wrong);
    }
    return duplicate_comm(site, hints, newcomm);
}

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
    const Site site("MPI_Comm_idup", comm);
    if (!site.ok()) return site.error();
    return start_duplicate(site, site.comm().hints, newcomm, request);
}

int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm, MPI_Request* request) {
    const Site site("MPI_Comm_idup_with_info", comm);
    if (!site.ok()) return site.error();
    InfoRef hints;
    if (info != MPI_INFO_NULL) {
        if (const int wrong = site.use(info, hints)) return site.raise(wrong);
    }
    return start_duplicate(site, hints, newcomm, request);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
    const Site site("MPI_Comm_split", comm);
    if (!site.ok()) return site.error();
    if (const int wrong = site.require(newcomm, "newcomm")) return site.raise(wrong);
    SplitChoice choice{std::nullopt, key};
    if (color != MPI_UNDEFINED) {
        if (color < 0) {
            return site.raise(MPI_ERR_ARG, "color {} is negative and not MPI_UNDEFINED", color);
        }
        choice.color = color;
    }
    return split_by(site, choice, newcomm);
}

int MPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm) {
    const Site site("MPI_Comm_split_type", comm);
    if (!site.ok()) return site.error();
    if (const int wrong = site.require(newcomm, "newcomm")) return site.raise(wrong);
    InfoRef hints;
    if (info != MPI_INFO_NULL) {
        if (const int wrong = site.use(info, hints)) return site.raise(wrong);
    }
    const bool is_known = split_type == MPI_UNDEFINED ||
                          (split_type >= MPI_COMM_TYPE_SHARED &&
                           split_type <= MPI_COMM_TYPE_RESOURCE_GUIDED);
    if (!is_known)
        return site.raise(MPI_ERR_ARG, "split_type {} is no MPI_COMM_TYPE_...", split_type);
    const std::string* const resource = hints != nullptr ? hints->find("mpi_hw_resource_type")
                                                         : nullptr;
    // Parts of a host are not told apart: for them there is no communicator.
    const bool is_by_host = split_type == MPI_COMM_TYPE_SHARED ||
                            (split_type >= MPI_COMM_TYPE_HW_GUIDED && resource != nullptr &&
                             *resource == "mpi_shared_memory");
    SplitChoice choice{std::nullopt, key};
    if (is_by_host) {
        const Communicator& core = site.core();
        const auto self = static_cast<std::size_t>(core.group()->world_rank(core.rank()));
        choice.color = static_cast<std::int32_t>(Core::get()->job_map().ranks[self].host_index);
    }
    return split_by(site, choice, newcomm);
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
    const Site site("MPI_Comm_create", comm);
    if (!site.ok()) return site.error();
    GroupRef members;
    int wrong = site.use(group, members);
    if (wrong == MPI_SUCCESS) wrong = site.require(newcomm, "newcomm");
    if (wrong == MPI_SUCCESS) wrong = check_members(site, *members);
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    Communicator& core = site.core();
    const FlightMark mark(site.surface(), record_of(Call::comm_create, core));
    const Result<CommunicatorRef> made = core.is_between_groups()
                                             ? create_between(core, *members)
                                             : create(core, members, new_context);
    wrong = give_created(site, made, site.comm(), newcomm);
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm) {
    const Site site("MPI_Comm_create_group", comm);
    if (!site.ok()) return site.error();
    GroupRef members;
    int wrong = site.use(group, members);
    if (wrong == MPI_SUCCESS) wrong = site.require(newcomm, "newcomm");
    if (wrong == MPI_SUCCESS) wrong = check_members(site, *members);
    if (wrong == MPI_SUCCESS && site.core().is_between_groups()) {
        wrong = site.bad(MPI_ERR_COMM, "comm is an intercommunicator");
    }
    if (wrong == MPI_SUCCESS && tag < 0) {
        wrong = site.bad(MPI_ERR_TAG, "tag {} is negative", tag);
    }
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    const std::string text = fmt::format(
        "{} {}", static_cast<std::uint64_t>(site.core().user_context()), tag
    );
    wrong = create_among(site, members, text, site.comm().error_handler, newcomm);
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

int MPI_Comm_create_from_group(
    MPI_Group group, const char* stringtag, MPI_Info, MPI_Errhandler errhandler, MPI_Comm* newcomm
) {
    const Site site("MPI_Comm_create_from_group");
    if (!site.ok()) return site.error();
    GroupRef members;
    ErrorHandlerRef handler;
    int wrong = site.use(group, members);
    if (wrong == MPI_SUCCESS) wrong = site.require(stringtag, "stringtag");
    if (wrong == MPI_SUCCESS) wrong = site.use(errhandler, handler);
    if (wrong == MPI_SUCCESS) wrong = site.require(newcomm, "newcomm");
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    wrong = create_among(site, members, fmt::format("group {}", stringtag), handler, newcomm);
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

namespace {

int free_comm(const char* function, MPI_Comm* comm) {
    const Site pointer(function);
    if (!pointer.ok()) return pointer.error();
    if (const int wrong = pointer.require(comm, "comm")) return pointer.raise(wrong);
    const Site site(function, *comm);
    if (!site.ok()) return site.error();
    if (is_always_there(*comm)) {
        return site.raise(MPI_ERR_COMM, "MPI_COMM_WORLD and MPI_COMM_SELF can't be freed");
    }
    const CommRef keeper = site.comm().shared_from_this();
    const int said = keeper->attributes.erase_all(*comm);
    if (said != MPI_SUCCESS) {
        return site.raise(said, "an attribute's delete function returned {}", said);
    }
    const FlightMark mark(site.surface(), record_of(Call::comm_free, site.core()));
    site.surface().forget_recent();
    static_cast<void>(site.surface().comms.remove(to_handle(*comm)));
    retire(*keeper->core);
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

}  // namespace

int MPI_Comm_free(MPI_Comm* comm) {
    return free_comm("MPI_Comm_free", comm);
}

/// All processes of a communicator are of one job, which they leave together: the rest is as above.
int MPI_Comm_disconnect(MPI_Comm* comm) {
    return free_comm("MPI_Comm_disconnect", comm);
}

/// Nobody starts processes from within a job.
int MPI_Comm_get_parent(MPI_Comm* parent) {
    const Site site("MPI_Comm_get_parent");
    if (!site.ok()) return site.error();
    if (const int wrong = site.require(parent, "parent")) return site.raise(wrong);
    *parent = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

int MPI_Comm_set_name(MPI_Comm comm, const char* comm_name) {
    const Site site("MPI_Comm_set_name", comm);
    if (!site.ok()) return site.error();
    if (const int wrong = site.require(comm_name, "comm_name")) return site.raise(wrong);
    site.comm().name = std::string_view(comm_name).substr(0, MPI_MAX_OBJECT_NAME - 1);
    return MPI_SUCCESS;
}

int MPI_Comm_get_name(MPI_Comm comm, char* comm_name, int* resultlen) {
    const Site any("MPI_Comm_get_name");
    if (!any.ok()) return any.error();
    if (const int wrong = any.require(comm_name, "comm_name")) return any.raise(wrong);
    if (const int wrong = any.require(resultlen, "resultlen")) return any.raise(wrong);
    if (comm == MPI_COMM_NULL) {
        write_text("MPI_COMM_NULL", MPI_MAX_OBJECT_NAME, comm_name, resultlen);
        return MPI_SUCCESS;
    }
    const Site site("MPI_Comm_get_name", comm);
    if (!site.ok()) return site.error();
    write_text(site.comm().name, MPI_MAX_OBJECT_NAME, comm_name, resultlen);
    return MPI_SUCCESS;
}

int MPI_Comm_set_info(MPI_Comm comm, MPI_Info info) {
    const Site site("MPI_Comm_set_info", comm);
    if (!site.ok()) return site.error();
    InfoRef hints;
    if (const int wrong = site.use(info, hints)) return site.raise(wrong);
    auto merged = std::make_shared<Info>(
        site.comm().hints != nullptr ? *site.comm().hints : Info()
    );
    for (const auto& [key, value] : hints->entries()) merged->set(key, value);
    site.comm().hints = std::move(merged);
    return MPI_SUCCESS;
}

int MPI_Comm_get_info(MPI_Comm comm, MPI_Info* info_used) {
    const Site site("MPI_Comm_get_info", comm);
    if (!site.ok()) return site.error();
    if (const int wrong = site.require(info_used, "info_used")) return site.raise(wrong);
    const InfoRef& hints = site.comm().hints;
    const int wrong = site.give(
        std::make_shared<Info>(hints != nullptr ? *hints : Info()), info_used
    );
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

}  // namespace dlrt::mpi
