/* SPDX-License-Identifier: Apache-2.0 */
/* The operations that are measured, by one name for dlrt and for any MPI library: dlperf is one
 * program whose source knows neither. Defined here by the library that DLPERF_MPI chooses. Errors
 * end the program. */
#ifndef DLPERF_MESSAGING_H
#define DLPERF_MESSAGING_H

#include <stddef.h>

#ifdef DLPERF_MPI
#include "messaging_mpi.h"
#else
#include "messaging_dlrt.h"
#endif

#endif
