/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes, offsets and values of the standard ABI, as the compiler sees them. */
#include <mpi.h>
#include <stddef.h>

#define SAME(name, expected) typedef char name[(expected) ? 1 : -1] __attribute__((unused))

SAME(status_size, sizeof(MPI_Status) == 32);
SAME(status_tag, offsetof(MPI_Status, MPI_TAG) == 4);
SAME(status_error, offsetof(MPI_Status, MPI_ERROR) == 8);
SAME(status_inside, offsetof(MPI_Status, MPI_internal) == 12);
SAME(counts, sizeof(MPI_Count) == 8 && sizeof(MPI_Aint) == 8 && sizeof(MPI_Offset) == 8);
SAME(handles, sizeof(MPI_Comm) == sizeof(void*) && sizeof(MPI_Request) == sizeof(void*));
SAME(wildcards, MPI_ANY_SOURCE == -1 && MPI_ANY_TAG == -2 && MPI_PROC_NULL == -3);
SAME(others, MPI_ROOT == -4 && MPI_UNDEFINED == -32766 && MPI_KEYVAL_INVALID == 0);
SAME(levels, MPI_THREAD_FUNNELED == 1024 && MPI_THREAD_MULTIPLE == 4096);
SAME(classes, MPI_ERR_TRUNCATE == 15 && MPI_ERR_ABI == 62 && MPI_ERR_LASTCODE == 16383);
SAME(kinds, MPI_IDENT == 201 && MPI_CART == 211 && MPI_COMBINER_VALUE_INDEX == 117);
SAME(versions, MPI_VERSION == 5 && MPI_SUBVERSION == 0 && MPI_ABI_VERSION == 1);

int main(void) {
    return MPI_BSEND_OVERHEAD == 512 ? 0 : 1;
}
