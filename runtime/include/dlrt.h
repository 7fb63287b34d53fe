/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlrt.h: message passing for C99 and later. Link with -ldlrt (pkg-config: dlrt).
 *
 * Conventions
 *  1. Functions return dlrt_err: DLRT_OK or the reason. dlrt_last_error() has the calling thread's
 *     text with the function, the argument, its value and what is valid. A failed call has done
 *     nothing, unless said.
 *  2. Results come through the last pointer parameters and are written only on DLRT_OK, unless
 *     said.
 *  3. Handles are small structs by value: an index and a generation, so that a freed handle is
 *     recognised. All-zero is the null handle of its kind. Freeing a handle never disturbs
 *     operations in flight.
 *  4. Counts are 64 bits, in elements of the type; sizes and displacements that end in _bytes are
 *     in bytes.
 *  5. Ranks are numbers within the communicator given. DLRT_PROC_NULL as a peer makes an operation
 *     succeed at once without data. Tags of users are 0..2147483647.
 *  6. Threads: see dlrt_init_thread. At DLRT_THREAD_MULTIPLE every function may be called by any
 *     thread. Operations advance while some thread is inside a call, or, where that is asked for,
 *     by a thread of dlrt's own (DLRT_THREAD_PROGRESS).
 *  7. Buffers given to a nonblocking operation belong to it until it is complete.
 *  8. Everything before dlrt_init and after dlrt_finalize, and in a child made by fork(), returns
 *     an error, except dlrt_init*, dlrt_initialized, dlrt_finalized, dlrt_version and the error
 *     texts.
 */
#ifndef DLRT_H
#define DLRT_H

#include <stddef.h>
#include <stdint.h>

#define DLRT_VERSION_MAJOR 0
#define DLRT_VERSION_MINOR 1
#define DLRT_VERSION_PATCH 0

#if defined(__GNUC__)
#define DLRT_PUBLIC __attribute__((visibility("default")))
#define DLRT_MUST_CHECK __attribute__((warn_unused_result))
#else
#define DLRT_PUBLIC
#define DLRT_MUST_CHECK
#endif

#ifdef __cplusplus
#define DLRT_CONSTANT static constexpr
#else
#define DLRT_CONSTANT static const
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Errors ---- */

typedef enum dlrt_err {
    DLRT_OK = 0,
    DLRT_ERR_ARG = 1,
    DLRT_ERR_COMM = 2,
    DLRT_ERR_GROUP = 3,
    DLRT_ERR_TYPE = 4,
    DLRT_ERR_OP = 5,
    DLRT_ERR_RANK = 6,
    DLRT_ERR_TAG = 7,
    DLRT_ERR_COUNT = 8,
    DLRT_ERR_BUFFER = 9,
    DLRT_ERR_REQUEST = 10,
    DLRT_ERR_ROOT = 11,
    DLRT_ERR_MESSAGE = 12,
    DLRT_ERR_TRUNCATE = 13,
    DLRT_ERR_NOT_INITIALIZED = 14,
    DLRT_ERR_ALREADY_INITIALIZED = 15,
    DLRT_ERR_THREAD = 16,
    DLRT_ERR_FORKED = 17,
    DLRT_ERR_IN_STATUS = 18,
    DLRT_ERR_PEER_LOST = 19,
    DLRT_ERR_ABORTED = 20,
    DLRT_ERR_WIREUP = 21,
    DLRT_ERR_NO_MEMORY = 22,
    DLRT_ERR_LIMIT = 23,
    DLRT_ERR_UNSUPPORTED = 24,
    DLRT_ERR_SYSTEM = 25,
    DLRT_ERR_INTERNAL = 26,
    DLRT_ERR_MISMATCH = 27,
    DLRT_ERR_TIMEOUT = 28,
    DLRT_ERR_PIN_SIZE = 0x7fffffff
} dlrt_err;

/* Short name, such as "ERR_RANK"; "ERR_UNKNOWN" for other numbers. Never NULL. Any time. */
DLRT_PUBLIC const char* dlrt_error_name(dlrt_err error);
/* One general sentence. Never NULL. Any time. */
DLRT_PUBLIC const char* dlrt_error_text(dlrt_err error);
/* The calling thread's last failure in words; "" if none. Valid until that thread's next failure.
 */
DLRT_PUBLIC const char* dlrt_last_error(void);

/* ---- Handles and constants ---- */

typedef struct dlrt_comm {
    uint32_t index, generation;
} dlrt_comm;
typedef struct dlrt_group {
    uint32_t index, generation;
} dlrt_group;
typedef struct dlrt_type {
    uint32_t index, generation;
} dlrt_type;
typedef struct dlrt_request {
    uint32_t index, generation;
} dlrt_request;
typedef struct dlrt_message {
    uint32_t index, generation;
} dlrt_message;
typedef struct dlrt_op {
    uint32_t index, generation;
} dlrt_op;

DLRT_CONSTANT dlrt_comm DLRT_COMM_NULL = {0, 0};
DLRT_CONSTANT dlrt_comm DLRT_COMM_WORLD = {1, 0};
DLRT_CONSTANT dlrt_comm DLRT_COMM_SELF = {2, 0};
DLRT_CONSTANT dlrt_group DLRT_GROUP_NULL = {0, 0};
DLRT_CONSTANT dlrt_group DLRT_GROUP_EMPTY = {1, 0};
DLRT_CONSTANT dlrt_request DLRT_REQUEST_NULL = {0, 0};
DLRT_CONSTANT dlrt_message DLRT_MESSAGE_NULL = {0, 0};
/* What a matched probe of DLRT_PROC_NULL yields: receiving it completes at once. */
DLRT_CONSTANT dlrt_message DLRT_MESSAGE_NO_PROC = {1, 0};

DLRT_CONSTANT dlrt_type DLRT_TYPE_NULL = {0, 0};
DLRT_CONSTANT dlrt_type DLRT_BYTE = {1, 0};
DLRT_CONSTANT dlrt_type DLRT_BOOL = {2, 0};
DLRT_CONSTANT dlrt_type DLRT_CHAR = {3, 0};
DLRT_CONSTANT dlrt_type DLRT_INT8 = {4, 0};
DLRT_CONSTANT dlrt_type DLRT_UINT8 = {5, 0};
DLRT_CONSTANT dlrt_type DLRT_INT16 = {6, 0};
DLRT_CONSTANT dlrt_type DLRT_UINT16 = {7, 0};
DLRT_CONSTANT dlrt_type DLRT_INT32 = {8, 0};
DLRT_CONSTANT dlrt_type DLRT_UINT32 = {9, 0};
DLRT_CONSTANT dlrt_type DLRT_INT64 = {10, 0};
DLRT_CONSTANT dlrt_type DLRT_UINT64 = {11, 0};
DLRT_CONSTANT dlrt_type DLRT_FLOAT16 = {12, 0};  /* IEEE 754 binary16 */
DLRT_CONSTANT dlrt_type DLRT_BFLOAT16 = {13, 0}; /* upper half of a binary32 */
DLRT_CONSTANT dlrt_type DLRT_FLOAT = {14, 0};
DLRT_CONSTANT dlrt_type DLRT_DOUBLE = {15, 0};
DLRT_CONSTANT dlrt_type DLRT_LONG_DOUBLE = {16, 0};
DLRT_CONSTANT dlrt_type DLRT_COMPLEX_FLOAT = {17, 0};
DLRT_CONSTANT dlrt_type DLRT_COMPLEX_DOUBLE = {18, 0};
/* A value and where it is, for DLRT_MINLOC and DLRT_MAXLOC: struct { value; int32_t index; } as C
 * lays it out on this platform. The extent is that of the struct; gaps are not sent. */
DLRT_CONSTANT dlrt_type DLRT_FLOAT_INT32 = {19, 0};
DLRT_CONSTANT dlrt_type DLRT_DOUBLE_INT32 = {20, 0};
DLRT_CONSTANT dlrt_type DLRT_INT32_INT32 = {21, 0};
DLRT_CONSTANT dlrt_type DLRT_INT64_INT32 = {22, 0};
DLRT_CONSTANT dlrt_type DLRT_INT16_INT32 = {23, 0};
DLRT_CONSTANT dlrt_type DLRT_LONG_DOUBLE_INT32 = {24, 0};
/* The C integers by their own names, for the data model of this platform. */
#define DLRT_SHORT DLRT_INT16
#define DLRT_INT DLRT_INT32
#define DLRT_UNSIGNED DLRT_UINT32
#define DLRT_LONG (sizeof(long) == 8 ? DLRT_INT64 : DLRT_INT32)
#define DLRT_UNSIGNED_LONG (sizeof(long) == 8 ? DLRT_UINT64 : DLRT_UINT32)
#define DLRT_LONG_LONG DLRT_INT64
#define DLRT_UNSIGNED_LONG_LONG DLRT_UINT64
#define DLRT_SIZE_T (sizeof(size_t) == 8 ? DLRT_UINT64 : DLRT_UINT32)

enum {
    DLRT_PROC_NULL = -1,
    DLRT_ANY_SOURCE = -2,
    DLRT_ANY_TAG = -1,
    DLRT_ROOT = -3, /* between two groups: the caller is the root */
    DLRT_UNDEFINED = -32766
};

#include "dlrt_reduction.h"

/* What a receive, a probe or a completed request reports. */
typedef struct dlrt_status {
    int32_t source; /* rank in the communicator, DLRT_PROC_NULL or DLRT_ANY_SOURCE (nothing
                       received) */
    int32_t tag;
    dlrt_err error;
    int32_t cancelled;   /* 1 when the receive was cancelled */
    uint64_t size_bytes; /* data bytes received, without gaps */
    uint64_t reserved[2];
} dlrt_status;

/* ---- Life of a process in a job ---- */

typedef enum dlrt_thread_level {
    DLRT_THREAD_SINGLE = 0,     /* one thread in the process */
    DLRT_THREAD_FUNNELED = 1,   /* only the thread that called init calls dlrt */
    DLRT_THREAD_SERIALIZED = 2, /* one thread at a time */
    DLRT_THREAD_MULTIPLE = 3,   /* any thread, any time */
    /* Beside one of them, as in DLRT_THREAD_SINGLE | DLRT_THREAD_PROGRESS: a thread of dlrt
     * advances nonblocking operations while the program computes. DLRT_PROGRESS_THREAD=1 does the
     * same. The level provided is DLRT_THREAD_MULTIPLE then, so that each call takes a lock; user
     * functions of reductions may be called by that thread. It sleeps while no operation is open.
     */
    DLRT_THREAD_PROGRESS = 0x100,
    DLRT_THREAD_PIN_SIZE = 0x7fffffff
} dlrt_thread_level;

/* Joins the job: under dlrun by its daemon, under a PMI-1 launcher by that, else alone. Errors:
 * DLRT_ERR_ALREADY_INITIALIZED, DLRT_ERR_WIREUP. init after finalize joins again where the source
 * can. */
DLRT_PUBLIC dlrt_err dlrt_init(void) DLRT_MUST_CHECK;
/* As dlrt_init with the thread level wanted, and with DLRT_THREAD_PROGRESS beside it if wanted;
 * *provided (may be NULL) is a level, at least that. */
DLRT_PUBLIC dlrt_err dlrt_init_thread(dlrt_thread_level required, dlrt_thread_level* provided)
    DLRT_MUST_CHECK;

/* A key-value store of the caller for jobs that no launcher knows. put and get return 0 on success.
 * get waits for the key, stores at most capacity bytes and always the whole length. Both may be
 * called by one thread at a time, during init and finalize only. */
typedef struct dlrt_store {
    size_t size; /* sizeof(dlrt_store) */
    void* user;
    int (*put)(void* user, const char* key, const void* value, size_t length);
    int (*get)(void* user, const char* key, void* value, size_t capacity, size_t* length);
    uint32_t rank;
    uint32_t world_size;
} dlrt_store;
DLRT_PUBLIC dlrt_err dlrt_init_store(
    const dlrt_store* store, dlrt_thread_level required, dlrt_thread_level* provided
) DLRT_MUST_CHECK;

/* Collective over the world: completes outstanding sends, waits for all ranks, leaves. Errors: a
 * second call, or other threads inside a call (DLRT_ERR_THREAD). DLRT_ERR_PEER_LOST when a rank has
 * ended without finalizing: the caller has left all the same. */
DLRT_PUBLIC dlrt_err dlrt_finalize(void);
/* Leaves without meeting the others, as a process that ends, but once what this rank sends has been
 * handed over, for which it waits timeout_ms at most (then DLRT_ERR_TIMEOUT: it has left all the
 * same). Whoever waits for this rank afterwards gets DLRT_ERR_PEER_LOST. Local. Errors otherwise as
 * dlrt_finalize, and DLRT_ERR_ARG. */
DLRT_PUBLIC dlrt_err dlrt_leave(int64_t timeout_ms);
DLRT_PUBLIC int dlrt_initialized(void); /* 1 between init and finalize */
DLRT_PUBLIC int dlrt_finalized(void);   /* 1 after finalize, until a new init */
DLRT_PUBLIC dlrt_err dlrt_query_thread(dlrt_thread_level* provided);
/* Ends the whole job with this exit code (low 8 bits; 1 where that is 0). Never returns. text may
 * be NULL. */
DLRT_PUBLIC void dlrt_abort(int code, const char* text);
/* Version of the library at run time: major * 10000 + minor * 100 + patch. */
DLRT_PUBLIC int dlrt_version(void);

/* ---- Groups: ordered sets of ranks; local operations ---- */

DLRT_PUBLIC dlrt_err dlrt_comm_group(dlrt_comm comm, dlrt_group* group);
DLRT_PUBLIC dlrt_err dlrt_group_size(dlrt_group group, int32_t* size);
/* DLRT_UNDEFINED when the caller is not in it. */
DLRT_PUBLIC dlrt_err dlrt_group_rank(dlrt_group group, int32_t* rank);
/* Ranks without a counterpart become DLRT_UNDEFINED; DLRT_PROC_NULL stays. */
DLRT_PUBLIC dlrt_err dlrt_group_translate(
    dlrt_group from, int32_t count, const int32_t* ranks, dlrt_group to, int32_t* translated
);
typedef enum dlrt_comparison {
    DLRT_IDENT = 0, /* the same object (communicators), the same members in the same order (groups)
                     */
    DLRT_CONGRUENT = 1, /* communicators: same members and order, other context */
    DLRT_SIMILAR = 2,   /* same members, other order */
    DLRT_UNEQUAL = 3,
    DLRT_COMPARISON_PIN_SIZE = 0x7fffffff
} dlrt_comparison;
DLRT_PUBLIC dlrt_err dlrt_group_compare(dlrt_group a, dlrt_group b, dlrt_comparison* result);
/* Order of the results: as in MPI-4.1 section 7.3.2 (first group's order, then the second's). */
DLRT_PUBLIC dlrt_err dlrt_group_union(dlrt_group a, dlrt_group b, dlrt_group* result);
DLRT_PUBLIC dlrt_err dlrt_group_intersection(dlrt_group a, dlrt_group b, dlrt_group* result);
DLRT_PUBLIC dlrt_err dlrt_group_difference(dlrt_group a, dlrt_group b, dlrt_group* result);
DLRT_PUBLIC dlrt_err
dlrt_group_incl(dlrt_group group, int32_t count, const int32_t* ranks, dlrt_group* result);
DLRT_PUBLIC dlrt_err
dlrt_group_excl(dlrt_group group, int32_t count, const int32_t* ranks, dlrt_group* result);
/* Triplets first, last, stride (stride may be negative, never 0). */
DLRT_PUBLIC dlrt_err dlrt_group_range_incl(
    dlrt_group group, int32_t count, const int32_t (*ranges)[3], dlrt_group* result
);
DLRT_PUBLIC dlrt_err dlrt_group_range_excl(
    dlrt_group group, int32_t count, const int32_t (*ranges)[3], dlrt_group* result
);
/* Sets *group to DLRT_GROUP_NULL. */
DLRT_PUBLIC dlrt_err dlrt_group_free(dlrt_group* group);

/* ---- Communicators. Creation and freeing are collective over the communicator given ---- */

DLRT_PUBLIC dlrt_err dlrt_comm_size(dlrt_comm comm, int32_t* size);
DLRT_PUBLIC dlrt_err dlrt_comm_rank(dlrt_comm comm, int32_t* rank);
DLRT_PUBLIC dlrt_err dlrt_comm_compare(dlrt_comm a, dlrt_comm b, dlrt_comparison* result);
DLRT_PUBLIC dlrt_err dlrt_comm_dup(dlrt_comm comm, dlrt_comm* result);
/* Same color: same new communicator, ordered by key, then by old rank. color DLRT_UNDEFINED:
 * DLRT_COMM_NULL. */
DLRT_PUBLIC dlrt_err dlrt_comm_split(dlrt_comm comm, int32_t color, int32_t key, dlrt_comm* result);
/* Splits by host. take_part 0: DLRT_COMM_NULL for this rank. */
DLRT_PUBLIC dlrt_err
dlrt_comm_split_host(dlrt_comm comm, int take_part, int32_t key, dlrt_comm* result);
/* Collective over comm; each rank passes the group it belongs to (groups of one call must be equal
 * or disjoint); ranks outside their group, and those with the empty group, get DLRT_COMM_NULL. */
DLRT_PUBLIC dlrt_err dlrt_comm_create(dlrt_comm comm, dlrt_group group, dlrt_comm* result);
/* Collective over the group only. text tells apart concurrent creations with overlapping groups. */
DLRT_PUBLIC dlrt_err
dlrt_comm_create_from_group(dlrt_group group, const char* text, dlrt_comm* result);
/* Sets *comm to DLRT_COMM_NULL. Operations in flight complete normally. World and self can't be
 * freed. */
DLRT_PUBLIC dlrt_err dlrt_comm_free(dlrt_comm* comm);

/* ---- Types. Immutable, usable at once. Displacements and strides as named ---- */
/* Bounds as in MPI-4.1 chapter 5, with one difference: no padding for alignment is added to the
 * extent of a struct; for an array of C structs say dlrt_type_resized(type, 0, sizeof(struct),
 * ...). Bounds that dlrt_type_resized and dlrt_type_subarray set are sticky: a type with such parts
 * is bounded by them alone. Blocks of length 0 have no effect; a type without data has all bounds
 * 0. Elements may overlap when they are sent (an extent shorter than the data). Sizes, bounds and
 * extents must fit 63 bits (DLRT_ERR_TYPE). */

DLRT_PUBLIC dlrt_err dlrt_type_contiguous(int64_t count, dlrt_type old, dlrt_type* result);
DLRT_PUBLIC dlrt_err dlrt_type_vector(
    int64_t count, int64_t block_length, int64_t stride, dlrt_type old, dlrt_type* result
);
DLRT_PUBLIC dlrt_err dlrt_type_vector_bytes(
    int64_t count, int64_t block_length, int64_t stride_bytes, dlrt_type old, dlrt_type* result
);
DLRT_PUBLIC dlrt_err dlrt_type_indexed(
    int64_t count, const int64_t* block_lengths, const int64_t* displacements, dlrt_type old,
    dlrt_type* result
);
DLRT_PUBLIC dlrt_err dlrt_type_indexed_bytes(
    int64_t count, const int64_t* block_lengths, const int64_t* displacements_bytes, dlrt_type old,
    dlrt_type* result
);
DLRT_PUBLIC dlrt_err dlrt_type_struct(
    int64_t count, const int64_t* block_lengths, const int64_t* displacements_bytes,
    const dlrt_type* olds, dlrt_type* result
);
DLRT_PUBLIC dlrt_err dlrt_type_resized(
    dlrt_type old, int64_t lower_bound_bytes, int64_t extent_bytes, dlrt_type* result
);
typedef enum dlrt_order {
    DLRT_ROW_MAJOR = 0,
    DLRT_COLUMN_MAJOR = 1,
    DLRT_ORDER_PIN_SIZE = 0x7fffffff
} dlrt_order;
DLRT_PUBLIC dlrt_err dlrt_type_subarray(
    int32_t dimensions, const int64_t* sizes, const int64_t* subsizes, const int64_t* starts,
    dlrt_order order, dlrt_type old, dlrt_type* result
);
/* Sets *type to DLRT_TYPE_NULL. Predefined types can't be freed. */
DLRT_PUBLIC dlrt_err dlrt_type_free(dlrt_type* type);
DLRT_PUBLIC dlrt_err dlrt_type_size(dlrt_type type, uint64_t* size_bytes);
DLRT_PUBLIC dlrt_err
dlrt_type_extent(dlrt_type type, int64_t* lower_bound_bytes, int64_t* extent_bytes);
DLRT_PUBLIC dlrt_err
dlrt_type_true_extent(dlrt_type type, int64_t* lower_bound_bytes, int64_t* extent_bytes);
/* Whole elements of the type in what was received; DLRT_UNDEFINED when it is not a whole number. */
DLRT_PUBLIC dlrt_err dlrt_status_count(const dlrt_status* status, dlrt_type type, int64_t* count);
DLRT_PUBLIC dlrt_err dlrt_pack_size(int64_t count, dlrt_type type, uint64_t* size_bytes);
/* *position_bytes is where to write, and afterwards the end of what was written. */
DLRT_PUBLIC dlrt_err dlrt_pack(
    const void* source, int64_t count, dlrt_type type, void* packed, uint64_t packed_size_bytes,
    uint64_t* position_bytes
);
DLRT_PUBLIC dlrt_err dlrt_unpack(
    const void* packed, uint64_t packed_size_bytes, uint64_t* position_bytes, void* target,
    int64_t count, dlrt_type type
);

/* ---- Point to point ---- */
/* status may be NULL everywhere. A message longer than the buffer gives DLRT_ERR_TRUNCATE: the
 * buffer holds the head of the message, nothing is written behind it, and the message is consumed.
 */

DLRT_PUBLIC dlrt_err dlrt_send(
    const void* buffer, int64_t count, dlrt_type type, int32_t target, int32_t tag, dlrt_comm comm
);
/* Returns once the receiver has matched the message. */
DLRT_PUBLIC dlrt_err dlrt_ssend(
    const void* buffer, int64_t count, dlrt_type type, int32_t target, int32_t tag, dlrt_comm comm
);
DLRT_PUBLIC dlrt_err dlrt_recv(
    void* buffer, int64_t count, dlrt_type type, int32_t source, int32_t tag, dlrt_comm comm,
    dlrt_status* status
);
DLRT_PUBLIC dlrt_err dlrt_sendrecv(
    const void* send_buffer, int64_t send_count, dlrt_type send_type, int32_t target,
    int32_t send_tag, void* recv_buffer, int64_t recv_count, dlrt_type recv_type, int32_t source,
    int32_t recv_tag, dlrt_comm comm, dlrt_status* status
);
/* The buffer is sent, then overwritten. */
DLRT_PUBLIC dlrt_err dlrt_sendrecv_replace(
    void* buffer, int64_t count, dlrt_type type, int32_t target, int32_t send_tag, int32_t source,
    int32_t recv_tag, dlrt_comm comm, dlrt_status* status
);

DLRT_PUBLIC dlrt_err dlrt_isend(
    const void* buffer, int64_t count, dlrt_type type, int32_t target, int32_t tag, dlrt_comm comm,
    dlrt_request* request
);
DLRT_PUBLIC dlrt_err dlrt_issend(
    const void* buffer, int64_t count, dlrt_type type, int32_t target, int32_t tag, dlrt_comm comm,
    dlrt_request* request
);
DLRT_PUBLIC dlrt_err dlrt_irecv(
    void* buffer, int64_t count, dlrt_type type, int32_t source, int32_t tag, dlrt_comm comm,
    dlrt_request* request
);

/* Persistent: made inactive, started any number of times, freed with dlrt_request_free. */
DLRT_PUBLIC dlrt_err dlrt_send_init(
    const void* buffer, int64_t count, dlrt_type type, int32_t target, int32_t tag, dlrt_comm comm,
    dlrt_request* request
);
DLRT_PUBLIC dlrt_err dlrt_ssend_init(
    const void* buffer, int64_t count, dlrt_type type, int32_t target, int32_t tag, dlrt_comm comm,
    dlrt_request* request
);
DLRT_PUBLIC dlrt_err dlrt_recv_init(
    void* buffer, int64_t count, dlrt_type type, int32_t source, int32_t tag, dlrt_comm comm,
    dlrt_request* request
);
/* Errors: DLRT_ERR_REQUEST when not persistent or already active. */
DLRT_PUBLIC dlrt_err dlrt_start(dlrt_request request);
DLRT_PUBLIC dlrt_err dlrt_startall(int32_t count, const dlrt_request* requests);

/* Completion. A completed request that is not persistent is freed and its handle set to null; null
 * and inactive handles count as complete with an empty status. The return value is the operation's
 * own error, or DLRT_ERR_IN_STATUS from the forms that complete several (then every status has its
 * own error). */
DLRT_PUBLIC dlrt_err dlrt_wait(dlrt_request* request, dlrt_status* status);
DLRT_PUBLIC dlrt_err dlrt_test(dlrt_request* request, int* is_complete, dlrt_status* status);
/* *index is DLRT_UNDEFINED when all are null or inactive. */
DLRT_PUBLIC dlrt_err
dlrt_waitany(int32_t count, dlrt_request* requests, int32_t* index, dlrt_status* status);
DLRT_PUBLIC dlrt_err dlrt_testany(
    int32_t count, dlrt_request* requests, int32_t* index, int* is_complete, dlrt_status* status
);
/* As dlrt_waitany, for about timeout_ms at most: then DLRT_ERR_TIMEOUT, and all requests stay as
 * they are. dlrt_last_error() names the first unfinished operation, and of a collective the ranks
 * on this host that have not called it. */
DLRT_PUBLIC dlrt_err dlrt_waitany_for(
    int32_t count, dlrt_request* requests, int64_t timeout_ms, int32_t* index, dlrt_status* status
);
/* *completed_count is DLRT_UNDEFINED when all are null or inactive. statuses may be NULL. */
DLRT_PUBLIC dlrt_err dlrt_waitsome(
    int32_t count, dlrt_request* requests, int32_t* completed_count, int32_t* indices,
    dlrt_status* statuses
);
DLRT_PUBLIC dlrt_err dlrt_testsome(
    int32_t count, dlrt_request* requests, int32_t* completed_count, int32_t* indices,
    dlrt_status* statuses
);
DLRT_PUBLIC dlrt_err dlrt_waitall(int32_t count, dlrt_request* requests, dlrt_status* statuses);
/* Completes none unless all are complete. */
DLRT_PUBLIC dlrt_err
dlrt_testall(int32_t count, dlrt_request* requests, int* is_complete, dlrt_status* statuses);
/* Looks without completing or freeing. */
DLRT_PUBLIC dlrt_err
dlrt_request_status(dlrt_request request, int* is_complete, dlrt_status* status);
/* Gives the handle up; an active operation still completes. */
DLRT_PUBLIC dlrt_err dlrt_request_free(dlrt_request* request);
/* Receives only (sends: DLRT_ERR_UNSUPPORTED). The request must still be completed;
 * status.cancelled tells. */
DLRT_PUBLIC dlrt_err dlrt_cancel(dlrt_request request);

DLRT_PUBLIC dlrt_err dlrt_probe(int32_t source, int32_t tag, dlrt_comm comm, dlrt_status* status);
DLRT_PUBLIC dlrt_err
dlrt_iprobe(int32_t source, int32_t tag, dlrt_comm comm, int* is_there, dlrt_status* status);
/* Take the message out of matching: only the handle can receive it. */
DLRT_PUBLIC dlrt_err dlrt_mprobe(
    int32_t source, int32_t tag, dlrt_comm comm, dlrt_message* message, dlrt_status* status
);
DLRT_PUBLIC dlrt_err dlrt_improbe(
    int32_t source, int32_t tag, dlrt_comm comm, int* is_there, dlrt_message* message,
    dlrt_status* status
);
/* Sets *message to DLRT_MESSAGE_NULL. */
DLRT_PUBLIC dlrt_err
dlrt_mrecv(void* buffer, int64_t count, dlrt_type type, dlrt_message* message, dlrt_status* status);
DLRT_PUBLIC dlrt_err dlrt_imrecv(
    void* buffer, int64_t count, dlrt_type type, dlrt_message* message, dlrt_request* request
);

#ifdef __cplusplus
}
#endif

#include "dlrt_collective.h"
#include "dlrt_group_call.h"
#include "dlrt_intercomm.h"
#include "dlrt_memory.h"
#include "dlrt_topology.h"

#endif /* DLRT_H */
