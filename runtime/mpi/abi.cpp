// SPDX-License-Identifier: Apache-2.0
/// Chapter: handles as integers, and facts of the ABI. All may be called at any time.
#include "runtime/mpi/surface.hpp"

#include <map>
#include <mpi_functions.hpp>
#include <mutex>

namespace dlrt::mpi {
namespace {

/// The handles of one kind that were turned into integers: an integer is the lower half of the
/// handle, and this finds the upper half again. Any thread.
class IntegerHandles {
  public:
    int add(std::uint64_t number) {
        const auto integer = static_cast<int>(static_cast<std::uint32_t>(number));
        if (number < first_own_index) return integer;
        const std::scoped_lock guard(mutex_);
        numbers_[integer] = number;
        return integer;
    }
    [[nodiscard]] std::uint64_t find(int integer, std::uint64_t null_number) {
        if (integer >= 0 && integer < static_cast<int>(first_own_index)) {
            return static_cast<std::uint64_t>(integer);
        }
        const std::scoped_lock guard(mutex_);
        const auto found = numbers_.find(integer);
        return found != numbers_.end() ? found->second : null_number;
    }

  private:
    std::mutex mutex_;
    std::map<int, std::uint64_t> numbers_;
};

template<typename MpiHandle>
IntegerHandles& integers_of() {
    static IntegerHandles* const handles = new IntegerHandles;
    return *handles;
}

template<typename MpiHandle>
int to_integer(MpiHandle handle) {
    return integers_of<MpiHandle>().add(number_of(handle));
}

template<typename MpiHandle>
MpiHandle from_integer(int integer, MpiHandle null) {
    const std::uint64_t number = integers_of<MpiHandle>().find(integer, number_of(null));
    return reinterpret_cast<MpiHandle>(static_cast<std::uintptr_t>(number));
}

}  // namespace

int MPI_Comm_toint(MPI_Comm comm) {
    return to_integer(comm);
}
MPI_Comm MPI_Comm_fromint(int comm) {
    return from_integer(comm, MPI_COMM_NULL);
}
int MPI_Errhandler_toint(MPI_Errhandler errhandler) {
    return to_integer(errhandler);
}
MPI_Errhandler MPI_Errhandler_fromint(int errhandler) {
    return from_integer(errhandler, MPI_ERRHANDLER_NULL);
}
int MPI_File_toint(MPI_File file) {
    return to_integer(file);
}
MPI_File MPI_File_fromint(int file) {
    return from_integer(file, MPI_FILE_NULL);
}
int MPI_Group_toint(MPI_Group group) {
    return to_integer(group);
}
MPI_Group MPI_Group_fromint(int group) {
    return from_integer(group, MPI_GROUP_NULL);
}
int MPI_Info_toint(MPI_Info info) {
    return to_integer(info);
}
MPI_Info MPI_Info_fromint(int info) {
    return from_integer(info, MPI_INFO_NULL);
}
int MPI_Message_toint(MPI_Message message) {
    return to_integer(message);
}
MPI_Message MPI_Message_fromint(int message) {
    return from_integer(message, MPI_MESSAGE_NULL);
}
int MPI_Op_toint(MPI_Op op) {
    return to_integer(op);
}
MPI_Op MPI_Op_fromint(int op) {
    return from_integer(op, MPI_OP_NULL);
}
int MPI_Request_toint(MPI_Request request) {
    return to_integer(request);
}
MPI_Request MPI_Request_fromint(int request) {
    return from_integer(request, MPI_REQUEST_NULL);
}
int MPI_Session_toint(MPI_Session session) {
    return to_integer(session);
}
MPI_Session MPI_Session_fromint(int session) {
    return from_integer(session, MPI_SESSION_NULL);
}
int MPI_Type_toint(MPI_Datatype datatype) {
    return to_integer(datatype);
}
MPI_Datatype MPI_Type_fromint(int datatype) {
    return from_integer(datatype, MPI_DATATYPE_NULL);
}
int MPI_Win_toint(MPI_Win win) {
    return to_integer(win);
}
MPI_Win MPI_Win_fromint(int win) {
    return from_integer(win, MPI_WIN_NULL);
}

int MPI_Abi_get_info(MPI_Info* info) {
    const Site site("MPI_Abi_get_info", Site::Time::any);
    if (const int wrong = site.require(info, "info")) return site.raise(wrong);
    auto made = std::make_shared<Info>();
    made->set("mpi_aint_size", std::to_string(sizeof(MPI_Aint)));
    made->set("mpi_count_size", std::to_string(sizeof(MPI_Count)));
    made->set("mpi_offset_size", std::to_string(sizeof(MPI_Offset)));
    const int wrong = site.give(std::move(made), info);
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

/// There is no Fortran here, so nobody has said what its types are.
int MPI_Abi_get_fortran_info(MPI_Info* info) {
    const Site site("MPI_Abi_get_fortran_info", Site::Time::any);
    if (const int wrong = site.require(info, "info")) return site.raise(wrong);
    *info = MPI_INFO_NULL;
    return MPI_SUCCESS;
}

int MPI_Abi_get_fortran_booleans(int, void*, void*, int* is_set) {
    const Site site("MPI_Abi_get_fortran_booleans", Site::Time::any);
    if (const int wrong = site.require(is_set, "is_set")) return site.raise(wrong);
    *is_set = 0;
    return MPI_SUCCESS;
}

}  // namespace dlrt::mpi
