// SPDX-License-Identifier: Apache-2.0
#include "runtime/api/outcome.hpp"

namespace dlrt::api {

Status explain_outcome(const Site& site, Status outcome, const MessageStatus& found) {
    if (outcome.code == Errc::truncate) {
        return site.fail(
            Errc::truncate,
            "the message with tag {} is longer than the buffer; its first {} bytes are there",
            found.tag, found.size_bytes
        );
    }
    static_cast<void>(site.fail(outcome.code, "{}", errc_description(outcome.code)));
    return outcome;
}

}  // namespace dlrt::api
