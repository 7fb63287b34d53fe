/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlrt_group_call.h: groups of calls, a part of dlrt.h. Include dlrt.h, not this.
 */
#ifndef DLRT_GROUP_CALL_H
#define DLRT_GROUP_CALL_H

#include "dlrt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Groups of calls: one operation that no order can deadlock ---- */
/*
 * Between start and end this thread's dlrt_send, dlrt_ssend, dlrt_recv, dlrt_mrecv, dlrt_sendrecv,
 * dlrt_sendrecv_replace and blocking collectives only begin, and return at once; end returns when
 * all are complete. So ranks may send to each other before they receive, and call collectives on
 * several communicators in different orders. Buffers, also those of small messages, belong to the
 * group until its end, and what is received is there after it only. Statuses are filled at the
 * end; they, too, must live until then.
 *
 * A collective is called within a group by all of its ranks or by none (with dlrt_iX where it must
 * be mixed); on one communicator its order is the same on all ranks, as ever.
 *
 * An error of the arguments is returned by the call itself; the group stays open and goes on
 * without it. dlrt_group_end returns the first error, in the order of calls, of what was begun, and
 * dlrt_last_error() names its function; all has ended then.
 *
 * Groups nest: only the outermost end waits. Each thread has its own; other threads' calls are not
 * part of it. Nonblocking calls, starts of persistent requests, waits, tests and probes work as
 * outside, and what they begin is not part of the group. Creating communicators and dlrt_finalize
 * (while any thread has a group open) are refused with DLRT_ERR_UNSUPPORTED. What a thread that
 * ends leaves in an open group completes by itself, as after dlrt_request_free.
 *
 * These are not the groups of ranks (dlrt_group).
 */
DLRT_PUBLIC dlrt_err dlrt_group_start(void);
/* Errors also: DLRT_ERR_ARG when this thread has no open group. */
DLRT_PUBLIC dlrt_err dlrt_group_end(void);

#ifdef __cplusplus
}
#endif

#endif /* DLRT_GROUP_CALL_H */
