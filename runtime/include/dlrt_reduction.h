/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlrt_reduction.h: the part of dlrt.h about reductions. Include dlrt.h, not this.
 */
#ifndef DLRT_REDUCTION_H
#define DLRT_REDUCTION_H

#include "dlrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which element types each accepts: integers all; floats, complex and pairs per line. Types of
 * several elements are reduced element by element. DLRT_CHAR is text and has none. Integers wrap;
 * -0 is less than +0; logical results are 0 or 1. DLRT_FLOAT16 and DLRT_BFLOAT16 are summed,
 * multiplied and averaged as float, and rounded once at the end. */
DLRT_CONSTANT dlrt_op DLRT_OP_NULL = {0, 0};
DLRT_CONSTANT dlrt_op DLRT_SUM = {1, 0};  /* integers, floats, complex */
DLRT_CONSTANT dlrt_op DLRT_PROD = {2, 0}; /* integers, floats, complex */
DLRT_CONSTANT dlrt_op DLRT_MIN = {3, 0};  /* integers, floats: NaN wins (IEEE 754-2019 minimum) */
DLRT_CONSTANT dlrt_op DLRT_MAX = {4, 0};  /* integers, floats: NaN wins */
DLRT_CONSTANT dlrt_op DLRT_LAND = {5, 0}; /* integers, bool */
DLRT_CONSTANT dlrt_op DLRT_LOR = {6, 0};
DLRT_CONSTANT dlrt_op DLRT_LXOR = {7, 0};
DLRT_CONSTANT dlrt_op DLRT_BAND = {8, 0}; /* integers, bool, byte */
DLRT_CONSTANT dlrt_op DLRT_BOR = {9, 0};
DLRT_CONSTANT dlrt_op DLRT_BXOR = {10, 0};
/* Pairs (DLRT_DOUBLE_INT32 and its like): the extreme value with its index. Of equal values, zeros
 * of either sign among them, the one with the smaller index; NaN wins, of two NaN the one with the
 * smaller index. */
DLRT_CONSTANT dlrt_op DLRT_MINLOC = {11, 0};
DLRT_CONSTANT dlrt_op DLRT_MAXLOC = {12, 0};
/* Floats, complex: the sum, divided once at the end by the number of ranks that contributed; so it
 * overflows where the sum does. Not for scans. Integers have none: sum and divide as you need. */
DLRT_CONSTANT dlrt_op DLRT_AVG = {13, 0};

/*
 * A reduction of the caller's: right[i] = left[i] op right[i], for each of `count` elements; count
 * is never 0. Both lie in memory as the type of the call says, with its gaps and bounds; gaps hold
 * nothing in particular. `type` is the handle given to the call, which stays yours to free: not
 * before the operation is complete if the function asks about it. The function must be associative,
 * is called by threads that are inside dlrt, any number of times with any part of the elements, and
 * must not communicate, throw or jump out.
 */
typedef void dlrt_op_function(
    const void* left, void* right, int64_t count, dlrt_type type, void* user
);
/* is_commutative 0: operands are combined in the order of ranks, left to right. Not 0: in any
 * order. Local; works with any type. */
DLRT_PUBLIC dlrt_err
dlrt_op_create(dlrt_op_function* function, void* user, int is_commutative, dlrt_op* result);
/* Sets *op to DLRT_OP_NULL. Operations in flight still call the function. Predefined ones can't be
 * freed. */
DLRT_PUBLIC dlrt_err dlrt_op_free(dlrt_op* op);

#ifdef __cplusplus
}
#endif

#endif /* DLRT_REDUCTION_H */
