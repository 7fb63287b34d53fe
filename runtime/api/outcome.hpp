// SPDX-License-Identifier: Apache-2.0
/// From the engine's outcomes to dlrt_status.
#pragma once

#include "runtime/api/surface.hpp"

#include <cstdint>

namespace dlrt::api {

/// What null, inactive and sending requests report.
inline void write_empty_status(dlrt_status* status, Status outcome = {}) {
    if (status == nullptr) return;
    *status = {DLRT_ANY_SOURCE, DLRT_ANY_TAG, to_c(outcome), 0, 0, {0, 0}};
}

/// What a receive from DLRT_PROC_NULL reports.
inline void write_no_peer_status(dlrt_status* status) {
    if (status == nullptr) return;
    *status = {DLRT_PROC_NULL, DLRT_ANY_TAG, DLRT_OK, 0, 0, {0, 0}};
}

/// `translation` is null when ranks are world ranks.
inline void write_status(
    const MessageStatus& found, const Group* translation, dlrt_status* status
) {
    if (status == nullptr) return;
    std::int32_t source = found.source;
    if (source < 0) {
        source = DLRT_ANY_SOURCE;
    } else if (translation != nullptr) {
        source = translation->rank_of(source);
    }
    *status = {
        source, found.tag, to_c(found.error), found.is_cancelled ? 1 : 0, found.size_bytes, {0, 0},
    };
}

}  // namespace dlrt::api
