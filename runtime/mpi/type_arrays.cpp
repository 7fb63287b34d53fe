// SPDX-License-Identifier: Apache-2.0
/// Datatypes that are parts of arrays: subarrays, and one process's part of a distributed array.
#include "runtime/mpi/type_site.hpp"

#include <algorithm>
#include <mpi_functions.hpp>

namespace dlrt::mpi {
namespace {

int check_order(const Site& site, int order) {
    if (order == MPI_ORDER_C || order == MPI_ORDER_FORTRAN) return MPI_SUCCESS;
    return site.bad(MPI_ERR_ARG, "order {} is neither MPI_ORDER_C nor MPI_ORDER_FORTRAN", order);
}

/// How one dimension of an array is dealt out, and to which of its processes this one counts.
struct Distribution {
    std::int64_t size = 1;
    int kind = MPI_DISTRIBUTE_NONE;
    int argument = MPI_DISTRIBUTE_DFLT_DARG;
    std::int64_t processes = 1;
    std::int64_t coordinate = 0;
};

int check_distribution(const Site& site, const Distribution& dimension) {
    const bool is_default = dimension.argument == MPI_DISTRIBUTE_DFLT_DARG;
    if (dimension.size < 1) {
        return site.bad(MPI_ERR_ARG, "a size of {} is below 1", dimension.size);
    }
    if (dimension.processes < 1) {
        return site.bad(MPI_ERR_ARG, "{} processes are below 1", dimension.processes);
    }
    switch (dimension.kind) {
        case MPI_DISTRIBUTE_NONE:
            if (dimension.processes == 1) return MPI_SUCCESS;
            return site.bad(
                MPI_ERR_ARG, "MPI_DISTRIBUTE_NONE is for one process, not for {}",
                dimension.processes
            );
        case MPI_DISTRIBUTE_BLOCK:
            if (is_default || (dimension.argument > 0 &&
                               dimension.argument * dimension.processes >= dimension.size)) {
                return MPI_SUCCESS;
            }
            return site.bad(
                MPI_ERR_ARG, "{} blocks of {} don't cover {} elements", dimension.processes,
                dimension.argument, dimension.size
            );
        case MPI_DISTRIBUTE_CYCLIC:
            if (is_default || dimension.argument > 0) return MPI_SUCCESS;
            return site.bad(MPI_ERR_ARG, "a block of {} is below 1", dimension.argument);
        default:
            return site.bad(MPI_ERR_ARG, "{} is no MPI_DISTRIBUTE_...", dimension.kind);
    }
}

/// The elements of this process, as runs.
struct Runs {
    std::vector<std::int64_t> lengths, starts;
};
Runs runs_of(const Distribution& dimension) {
    const bool is_default = dimension.argument == MPI_DISTRIBUTE_DFLT_DARG;
    std::int64_t block = dimension.size;
    if (dimension.kind == MPI_DISTRIBUTE_BLOCK) {
        const std::int64_t least = (dimension.size + dimension.processes - 1) / dimension.processes;
        block = is_default ? least : dimension.argument;
    } else if (dimension.kind == MPI_DISTRIBUTE_CYCLIC) {
        block = is_default ? 1 : dimension.argument;
    }
    Runs runs;
    const std::int64_t step = block * dimension.processes;
    for (std::int64_t at = dimension.coordinate * block; at < dimension.size; at += step) {
        runs.starts.push_back(at);
        runs.lengths.push_back(std::min(block, dimension.size - at));
    }
    return runs;
}

Result<LayoutRef> distribute(
    const LayoutRef& old, std::span<const Distribution> dimensions, int order
) {
    LayoutRef result = old;
    std::int64_t stride = old->extent_bytes();
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
        const std::size_t d = order == MPI_ORDER_C ? dimensions.size() - 1 - i : i;
        Runs runs = runs_of(dimensions[d]);
        for (std::int64_t& start : runs.starts) start *= stride;
        const Result<LayoutRef> spaced = Layout::resized(
            result->lower_bound_bytes(), stride, result
        );
        if (!spaced) return spaced.error();
        const Result<LayoutRef> dealt = Layout::indexed(runs.lengths, runs.starts, *spaced);
        if (!dealt) return dealt.error();
        result = *dealt;
        if (__builtin_mul_overflow(stride, dimensions[d].size, &stride)) {
            return fail(Errc::type, "the extent of the array is beyond 2^63 - 1 bytes");
        }
    }
    return Layout::resized(0, stride, result);
}

/// Row by row, whatever the order of the array.
void set_coordinates(std::span<Distribution> dimensions, std::int64_t rank) {
    for (std::size_t i = dimensions.size(); i-- > 0;) {
        dimensions[i].coordinate = rank % dimensions[i].processes;
        rank /= dimensions[i].processes;
    }
}

int check_grid(const Site& site, std::span<const Distribution> dimensions, int size, int rank) {
    std::int64_t processes = 1;
    for (const Distribution& dimension : dimensions) {
        if (const int wrong = check_distribution(site, dimension)) return wrong;
        processes *= dimension.processes;
    }
    if (processes != size) {
        return site.bad(MPI_ERR_ARG, "the grid has {} processes, size is {}", processes, size);
    }
    if (rank < 0 || rank >= size) {
        return site.bad(MPI_ERR_ARG, "rank {} is not in 0..{}", rank, size - 1);
    }
    return MPI_SUCCESS;
}

void add_integers(EnvelopeWriter& envelope, const int* numbers, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) envelope.add_integer(numbers[i]);
}

}  // namespace

int MPI_Type_create_subarray(
    int ndims, Numbers array_of_sizes, Numbers array_of_subsizes, Numbers array_of_starts,
    int order, MPI_Datatype oldtype, MPI_Datatype* newtype, Width width
) {
    const Site site("MPI_Type_create_subarray");
    if (!site.ok()) return site.error();
    TypeRef old;
    if (const int wrong = use_old(site, oldtype, old)) return site.raise(wrong);
    if (const int wrong = check_order(site, order)) return site.raise(wrong);
    if (ndims < 1) return site.raise(MPI_ERR_ARG, "ndims {} is below 1", ndims);
    std::vector<std::int64_t> sizes, subsizes, starts;
    int wrong = use_list(site, ndims, array_of_sizes, "array_of_sizes", sizes);
    if (wrong == MPI_SUCCESS) {
        wrong = use_list(site, ndims, array_of_subsizes, "array_of_subsizes", subsizes);
    }
    if (wrong == MPI_SUCCESS) {
        wrong = use_list(site, ndims, array_of_starts, "array_of_starts", starts);
    }
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    std::int64_t elements = 1;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i] < 1 || subsizes[i] < 1) {
            return site.raise(
                MPI_ERR_ARG, "dimension {}: {} of {} elements; both must be 1 or more", i,
                subsizes[i], sizes[i]
            );
        }
        elements *= subsizes[i];
    }
    EnvelopeWriter envelope(MPI_COMBINER_SUBARRAY, width);
    envelope.add_integer(ndims);
    envelope.add_counts(sizes);
    envelope.add_counts(subsizes);
    envelope.add_counts(starts);
    envelope.add_integer(order);
    envelope.add_type(old, elements);
    const Layout::Order made = order == MPI_ORDER_C ? Layout::Order::row_major
                                                    : Layout::Order::column_major;
    return give_type(
        site, Layout::subarray(sizes, subsizes, starts, made, old->layout), envelope, newtype
    );
}

int MPI_Type_create_darray(
    int size, int rank, int ndims, Numbers array_of_gsizes, const int array_of_distribs[],
    const int array_of_dargs[], const int array_of_psizes[], int order, MPI_Datatype oldtype,
    MPI_Datatype* newtype, Width width
) {
    const Site site("MPI_Type_create_darray");
    if (!site.ok()) return site.error();
    TypeRef old;
    if (const int wrong = use_old(site, oldtype, old)) return site.raise(wrong);
    if (const int wrong = check_order(site, order)) return site.raise(wrong);
    if (ndims < 1) return site.raise(MPI_ERR_ARG, "ndims {} is below 1", ndims);
    if (array_of_distribs == nullptr || array_of_dargs == nullptr || array_of_psizes == nullptr) {
        return site.raise(MPI_ERR_ARG, "an array is null");
    }
    std::vector<std::int64_t> sizes;
    int wrong = use_list(site, ndims, array_of_gsizes, "array_of_gsizes", sizes);
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    std::vector<Distribution> dimensions;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        dimensions.push_back(
            {sizes[i], array_of_distribs[i], array_of_dargs[i], array_of_psizes[i], 0}
        );
    }
    wrong = check_grid(site, dimensions, size, rank);
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    set_coordinates(dimensions, rank);
    std::int64_t elements = 1;
    for (const Distribution& dimension : dimensions) elements *= sum_of(runs_of(dimension).lengths);
    EnvelopeWriter envelope(MPI_COMBINER_DARRAY, width);
    envelope.add_integer(size);
    envelope.add_integer(rank);
    envelope.add_integer(ndims);
    envelope.add_counts(sizes);
    add_integers(envelope, array_of_distribs, sizes.size());
    add_integers(envelope, array_of_dargs, sizes.size());
    add_integers(envelope, array_of_psizes, sizes.size());
    envelope.add_integer(order);
    envelope.add_type(old, elements);
    return give_type(site, distribute(old->layout, dimensions, order), envelope, newtype);
}

}  // namespace dlrt::mpi
