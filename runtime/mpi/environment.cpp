// SPDX-License-Identifier: Apache-2.0
/// Chapter: the life of a process in a job, and what it can ask about its surroundings.
#include "runtime/base/clock.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/collective.hpp"
#include "runtime/heap.hpp"
#include "runtime/mpi/predefined_attributes.hpp"
#include "runtime/mpi/send_buffer.hpp"
#include "runtime/mpi/surface.hpp"
#include "runtime/mpi/text_result.hpp"

#include <limits>
#include <mpi_functions.hpp>
#include <thread>

namespace dlrt::mpi {
namespace {

std::thread::id main_thread;

/// The standard's levels in their order.
constexpr int levels[] = {
    MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};

int provided_level() {
    return levels[static_cast<std::size_t>(Core::get()->thread_level())];
}

/// The least level of the core that is at least this.
ThreadLevel level_for(int required) {
    if (required <= MPI_THREAD_SINGLE) return ThreadLevel::single;
    if (required <= MPI_THREAD_FUNNELED) return ThreadLevel::funneled;
    if (required <= MPI_THREAD_SERIALIZED) return ThreadLevel::serialized;
    return ThreadLevel::multiple;
}

int init(const char* function, int required, int* provided) {
    Surface& surface = Surface::get();
    const Site site(function, Site::Time::any);
    if (surface.phase() == Surface::Phase::inside) {
        return site.raise(MPI_ERR_OTHER, "MPI is initialised already");
    }
    if (surface.phase() == Surface::Phase::after) {
        return site.raise(MPI_ERR_OTHER, "called after MPI_Finalize; MPI can't be started again");
    }
    surface.owns_core = Core::get() == nullptr;
    if (surface.owns_core) {
        const Status joined = Core::init(level_for(required));
        if (!joined.ok()) return site.raise(joined);
    }
    main_thread = std::this_thread::get_id();
    surface.attach(*Core::get());
    if (provided != nullptr) *provided = provided_level();
    return MPI_SUCCESS;
}

int get_version(int* version, int* subversion, int number, int subnumber) {
    if (version != nullptr) *version = number;
    if (subversion != nullptr) *subversion = subnumber;
    return version != nullptr && subversion != nullptr ? MPI_SUCCESS : MPI_ERR_ARG;
}

}  // namespace

int MPI_Init(int*, char***) {
    return init("MPI_Init", MPI_THREAD_SINGLE, nullptr);
}

int MPI_Init_thread(int*, char***, int required, int* provided) {
    const Site site("MPI_Init_thread", Site::Time::any);
    if (const int wrong = site.require(provided, "provided")) return site.raise(wrong);
    return init("MPI_Init_thread", required, provided);
}

int MPI_Initialized(int* flag) {
    if (flag == nullptr) return MPI_ERR_ARG;
    *flag = Surface::get().phase() != Surface::Phase::before ? 1 : 0;
    return MPI_SUCCESS;
}

int MPI_Finalized(int* flag) {
    if (flag == nullptr) return MPI_ERR_ARG;
    *flag = Surface::get().phase() == Surface::Phase::after ? 1 : 0;
    return MPI_SUCCESS;
}

int MPI_Finalize() {
    const Site site("MPI_Finalize");
    if (!site.ok()) return site.error();
    Surface& surface = site.surface();
    const int said = surface.self->attributes.erase_all(MPI_COMM_SELF);
    if (said != MPI_SUCCESS) {
        return site.raise(said, "an attribute's delete function returned {}", said);
    }
    flush_all_send_buffers(surface);
    const Status outcome = surface.owns_core ? Core::finalize() : barrier(*surface.world->core);
    const int code = outcome.ok() ? MPI_SUCCESS : site.raise(outcome);
    surface.detach();
    return code;
}

int MPI_Abort(MPI_Comm comm, int errorcode) {
    CommRef keeper;
    const Surface& surface = Surface::get();
    const Comm* const found = surface.is_ready() ? Surface::get().find(comm, keeper) : nullptr;
    const std::string where = found != nullptr && !found->name.empty() ? " in " + found->name : "";
    Core::abort(errorcode, fmt::format("MPI_Abort{} with code {}", where, errorcode));
}

int MPI_Query_thread(int* provided) {
    const Site site("MPI_Query_thread");
    if (!site.ok()) return site.error();
    if (const int wrong = site.require(provided, "provided")) return site.raise(wrong);
    *provided = provided_level();
    return MPI_SUCCESS;
}

int MPI_Is_thread_main(int* flag) {
    const Site site("MPI_Is_thread_main");
    if (!site.ok()) return site.error();
    if (const int wrong = site.require(flag, "flag")) return site.raise(wrong);
    *flag = std::this_thread::get_id() == main_thread ? 1 : 0;
    return MPI_SUCCESS;
}

int MPI_Get_version(int* version, int* subversion) {
    return get_version(version, subversion, MPI_VERSION, MPI_SUBVERSION);
}

int MPI_Abi_get_version(int* abi_major, int* abi_minor) {
    return get_version(abi_major, abi_minor, MPI_ABI_VERSION, MPI_ABI_SUBVERSION);
}

int MPI_Get_library_version(char* version, int* resultlen) {
    if (version == nullptr || resultlen == nullptr) return MPI_ERR_ARG;
    write_text("dlrt " DLRT_VERSION, MPI_MAX_LIBRARY_VERSION_STRING, version, resultlen);
    return MPI_SUCCESS;
}

int MPI_Get_processor_name(char* name, int* resultlen) {
    const Site site("MPI_Get_processor_name");
    if (!site.ok()) return site.error();
    if (const int wrong = site.require(name, "name")) return site.raise(wrong);
    if (const int wrong = site.require(resultlen, "resultlen")) return site.raise(wrong);
    const JobMap& map = Core::get()->job_map();
    const auto rank = static_cast<std::size_t>(site.surface().world->core->rank());
    const std::string& host = map.hosts[map.ranks[rank].host_index].name;
    write_text(host, MPI_MAX_PROCESSOR_NAME, name, resultlen);
    return MPI_SUCCESS;
}

int MPI_Get_hw_resource_info(MPI_Info* hw_info) {
    const Site site("MPI_Get_hw_resource_info", Site::Time::any);
    if (const int wrong = site.require(hw_info, "hw_info")) return site.raise(wrong);
    const int wrong = site.give(std::make_shared<Info>(), hw_info);
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

int MPI_Pcontrol(int) {
    return MPI_SUCCESS;
}

double MPI_Wtime() {
    return static_cast<double>(monotonic_ns()) * 1e-9;
}

double MPI_Wtick() {
    return 1e-9;
}

int MPI_Alloc_mem(MPI_Aint size, MPI_Info, void* baseptr) {
    const Site site("MPI_Alloc_mem");
    if (!site.ok()) return site.error();
    if (const int wrong = site.require(baseptr, "baseptr")) return site.raise(wrong);
    if (const int wrong = site.require_not_negative(size, "size", MPI_ERR_ARG)) {
        return site.raise(wrong);
    }
    void*& address = *static_cast<void**>(baseptr);
    address = nullptr;
    if (size == 0) return MPI_SUCCESS;
    const Result<void*> made = Core::get()->heap().allocate(static_cast<std::uint64_t>(size));
    if (!made) return site.raise(made.error());
    address = *made;
    return MPI_SUCCESS;
}

int MPI_Free_mem(void* base) {
    const Site site("MPI_Free_mem");
    if (!site.ok()) return site.error();
    if (base == nullptr) return MPI_SUCCESS;
    if (Core::get()->heap().free(base).ok()) return MPI_SUCCESS;
    return site.raise(MPI_ERR_BASE, "{}", last_error_text());
}

int MPI_Get_address(const void* location, MPI_Aint* address) {
    const Site site("MPI_Get_address", Site::Time::any);
    if (const int wrong = site.require(address, "address")) return site.raise(wrong);
    *address = reinterpret_cast<MPI_Aint>(location);
    return MPI_SUCCESS;
}

namespace {

MPI_Aint wrap_around(std::uint64_t sum) {
    return static_cast<MPI_Aint>(sum);
}

}  // namespace

MPI_Aint MPI_Aint_add(MPI_Aint base, MPI_Aint disp) {
    return wrap_around(static_cast<std::uint64_t>(base) + static_cast<std::uint64_t>(disp));
}

MPI_Aint MPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2) {
    return wrap_around(static_cast<std::uint64_t>(addr1) - static_cast<std::uint64_t>(addr2));
}

int* predefined_attribute(int keyval) {
    static int tag_max = std::numeric_limits<int>::max();
    static int io_rank = MPI_ANY_SOURCE;
    static int host_rank = MPI_PROC_NULL;
    static int is_time_global = 0;
    static int application = 0;
    static int universe_size = 0;
    const Surface& surface = Surface::get();
    const JobMap& map = Core::get()->job_map();
    const auto rank = static_cast<std::size_t>(surface.world->core->rank());
    switch (keyval) {
        case MPI_TAG_UB:
            return &tag_max;
        case MPI_IO:
            return &io_rank;
        case MPI_HOST:
            return &host_rank;
        case MPI_WTIME_IS_GLOBAL:
            // The monotonic clock is one for all processes of a host.
            is_time_global = map.hosts.size() == 1 ? 1 : 0;
            return &is_time_global;
        case MPI_APPNUM:
            application = static_cast<int>(map.ranks[rank].block_index);
            return &application;
        case MPI_LASTUSEDCODE:
            return ErrorCodes::get().last_used();
        case MPI_UNIVERSE_SIZE:
            universe_size = surface.world->core->size();
            return &universe_size;
        default:
            return nullptr;
    }
}

}  // namespace dlrt::mpi
