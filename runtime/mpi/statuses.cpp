// SPDX-License-Identifier: Apache-2.0
/// Chapter: statuses, and how much of what type they say has come.
#include "runtime/mpi/status_result.hpp"
#include "runtime/mpi/surface.hpp"

#include <mpi_functions.hpp>

namespace dlrt::mpi {
namespace {

int open_status(const Site& site, const MPI_Status* status, MPI_Datatype handle, Use<Type>& type) {
    if (const int wrong = site.require(status, "status")) return wrong;
    if (const int wrong = site.use(handle, type)) return wrong;
    if (type->layout != nullptr) return MPI_SUCCESS;
    return site.bad(MPI_ERR_TYPE, "{} isn't supported on this platform", type->name);
}

int set_elements(const char* function, MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
    const Site site(function);
    if (!site.ok()) return site.error();
    Use<Type> type;
    int wrong = open_status(site, status, datatype, type);
    if (wrong == MPI_SUCCESS) wrong = site.require_not_negative(count, "count", MPI_ERR_COUNT);
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    StatusInside inside = StatusInside::of(*status);
    inside.size_bytes = bytes_of_elements(*type, static_cast<std::uint64_t>(count));
    inside.write(*status);
    return MPI_SUCCESS;
}

int set_field(const char* function, MPI_Status* status, int MPI_Status::*field, int value) {
    const Site site(function, Site::Time::any);
    if (const int wrong = site.require(status, "status")) return site.raise(wrong);
    status->*field = value;
    return MPI_SUCCESS;
}

int get_field(const char* function, const MPI_Status* status, int MPI_Status::*field, int* result) {
    const Site site(function, Site::Time::any);
    if (const int wrong = site.require(status, "status")) return site.raise(wrong);
    if (const int wrong = site.require(result, "the result")) return site.raise(wrong);
    *result = status->*field;
    return MPI_SUCCESS;
}

}  // namespace

int MPI_Get_count(const MPI_Status* status, MPI_Datatype datatype, NumberResult count) {
    const Site site("MPI_Get_count");
    if (!site.ok()) return site.error();
    Use<Type> type;
    if (const int wrong = open_status(site, status, datatype, type)) return site.raise(wrong);
    if (count.is_null()) return site.raise(MPI_ERR_ARG, "count is null");
    const std::uint64_t bytes = StatusInside::of(*status).size_bytes;
    const std::uint64_t size = type->layout->size_bytes();
    if (bytes == 0) {
        count.set(0);
    } else if (size == 0 || bytes % size != 0) {
        count.set(MPI_UNDEFINED);
    } else {
        count.set(static_cast<std::int64_t>(bytes / size));
    }
    return MPI_SUCCESS;
}

int MPI_Get_elements(const MPI_Status* status, MPI_Datatype datatype, NumberResult count) {
    const Site site("MPI_Get_elements");
    if (!site.ok()) return site.error();
    Use<Type> type;
    if (const int wrong = open_status(site, status, datatype, type)) return site.raise(wrong);
    if (count.is_null()) return site.raise(MPI_ERR_ARG, "count is null");
    const std::uint64_t bytes = StatusInside::of(*status).size_bytes;
    const ElementCount counted = count_elements(*type, bytes);
    const bool is_whole = bytes == 0 || counted.rest_bytes == 0;
    const auto elements = static_cast<std::int64_t>(counted.elements);
    count.set(is_whole ? elements : std::int64_t{MPI_UNDEFINED});
    return MPI_SUCCESS;
}

int MPI_Get_elements_x(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
    return MPI_Get_elements(status, datatype, NumberResult(count));
}

int MPI_Status_set_elements(MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
    return set_elements("MPI_Status_set_elements", status, datatype, count);
}

int MPI_Status_set_elements_x(MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
    return set_elements("MPI_Status_set_elements_x", status, datatype, count);
}

int MPI_Status_set_cancelled(MPI_Status* status, int flag) {
    const Site site("MPI_Status_set_cancelled", Site::Time::any);
    if (const int wrong = site.require(status, "status")) return site.raise(wrong);
    StatusInside inside = StatusInside::of(*status);
    inside.is_cancelled = flag != 0 ? 1 : 0;
    inside.write(*status);
    return MPI_SUCCESS;
}

int MPI_Test_cancelled(const MPI_Status* status, int* flag) {
    const Site site("MPI_Test_cancelled", Site::Time::any);
    if (const int wrong = site.require(status, "status")) return site.raise(wrong);
    if (const int wrong = site.require(flag, "flag")) return site.raise(wrong);
    *flag = StatusInside::of(*status).is_cancelled;
    return MPI_SUCCESS;
}

int MPI_Status_get_error(const MPI_Status* status, int* error) {
    return get_field("MPI_Status_get_error", status, &MPI_Status::MPI_ERROR, error);
}
int MPI_Status_get_source(const MPI_Status* status, int* source) {
    return get_field("MPI_Status_get_source", status, &MPI_Status::MPI_SOURCE, source);
}
int MPI_Status_get_tag(const MPI_Status* status, int* tag) {
    return get_field("MPI_Status_get_tag", status, &MPI_Status::MPI_TAG, tag);
}
int MPI_Status_set_error(MPI_Status* status, int error) {
    return set_field("MPI_Status_set_error", status, &MPI_Status::MPI_ERROR, error);
}
int MPI_Status_set_source(MPI_Status* status, int source) {
    return set_field("MPI_Status_set_source", status, &MPI_Status::MPI_SOURCE, source);
}
int MPI_Status_set_tag(MPI_Status* status, int tag) {
    return set_field("MPI_Status_set_tag", status, &MPI_Status::MPI_TAG, tag);
}

}  // namespace dlrt::mpi
