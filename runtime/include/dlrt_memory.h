/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlrt_memory.h: memory that the ranks of a host share, a part of dlrt.h. Include dlrt.h, not this.
 */
#ifndef DLRT_MEMORY_H
#define DLRT_MEMORY_H

#include "dlrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Memory for buffers ---- */
/*
 * Memory like that of malloc, but the other ranks of the host read large messages and collectives
 * straight out of it, also where the system lets no process read another (containers). Any buffer
 * of any call may lie in it, whole or in part. A child made by fork() shares it with its parent.
 *
 * At most DLRT_HEAP_BYTES for each rank, by default as much as the host's memory. It is not
 * reserved: as everywhere, pages are taken when they are touched.
 */

/* *address: so many bytes, aligned to 64, from 4 KiB on to 4 KiB; what is in them is undefined.
 * NULL for 0 bytes. Errors: DLRT_ERR_NO_MEMORY, with the limit and what is left of it. */
DLRT_PUBLIC dlrt_err dlrt_alloc(uint64_t size_bytes, void** address) DLRT_MUST_CHECK;
/* Gives it back, also to the system. No open operation may use it. NULL is accepted. Errors:
 * DLRT_ERR_ARG for what dlrt_alloc has not given, or has been freed. dlrt_finalize frees what is
 * left; with DLRT_CHECK=1 it says how much. */
DLRT_PUBLIC dlrt_err dlrt_free(void* address);

#ifdef __cplusplus
}
#endif

#endif /* DLRT_MEMORY_H */
