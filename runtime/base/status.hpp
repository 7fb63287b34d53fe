// SPDX-License-Identifier: Apache-2.0
/// The outcome of an operation as a value: 8 bytes, no allocation, never thrown.
///
/// The numbers of Errc are those of `dlrt_err` in dlrt.h and never change. The text that explains a
/// failure is kept apart, per thread (error_text.hpp), where the failure is decided.
#pragma once

#include <cstdint>

namespace dlrt {

enum class Errc : std::int32_t {
    ok = 0,
    argument = 1,      ///< An argument that has no more specific code below.
    communicator = 2,  ///< Null, freed or unknown communicator.
    group = 3,
    type = 4,
    op = 5,  ///< Unknown reduction, or one that the element type doesn't have.
    rank = 6,
    tag = 7,
    count = 8,
    buffer = 9,
    request = 10,
    root = 11,
    message = 12,   ///< Null or already received matched-probe message.
    truncate = 13,  ///< The message was longer than the receive buffer; the buffer holds its head.
    not_initialized = 14,  ///< Called before init or after finalize.
    already_initialized = 15,
    thread = 16,     ///< The call needs a higher thread level than init granted.
    forked = 17,     ///< Called in a child forked after init.
    in_status = 18,  ///< At least one of several requests failed; see each status.
    peer_lost = 19,  ///< A peer died or left while this operation needed it.
    aborted = 20,
    wireup = 21,  ///< The job could not be joined.
    no_memory = 22,
    limit = 23,  ///< A limit of the system or of dlrt is reached.
    unsupported = 24,
    system = 25,  ///< A system call failed; os_error holds errno.
    internal = 26,
    mismatch = 27,  ///< Ranks disagree about a collective call.
    timeout = 28,
};

struct [[nodiscard]] Status {
    Errc code = Errc::ok;
    std::int32_t os_error = 0;  ///< errno where the system said no, else 0.

    [[nodiscard]] constexpr bool ok() const { return code == Errc::ok; }
    friend constexpr bool operator==(Status, Status) = default;
};

static_assert(sizeof(Status) == 8);

}  // namespace dlrt
