// SPDX-License-Identifier: Apache-2.0
/// The text of the last failure, per thread. Whoever decides that something is an error calls
/// fail() once; everyone else only passes the Status on.
#pragma once

#include "runtime/base/export.hpp"
#include "runtime/base/status.hpp"

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace dlrt {

/// Stable short name of a code, such as "ERR_RANK". Never fails.
[[nodiscard]] DLRT_CORE std::string_view errc_name(Errc code);

/// One sentence that explains the code in general. Never fails.
[[nodiscard]] DLRT_CORE std::string_view errc_description(Errc code);

/// The calling thread's text of its last failure; empty if none yet. Valid until the next fail().
[[nodiscard]] DLRT_CORE const std::string& last_error_text();

/// Stores the text for the calling thread and returns the status.
DLRT_CORE Status store_failure(Errc code, int os_error, std::string text);

/// Decides an error: `return fail(Errc::rank, "rank {} is not in 0..{}", rank, size - 1);`
template<typename... Args>
Status fail(Errc code, fmt::format_string<Args...> format, Args&&... args) {
    return store_failure(code, 0, fmt::format(format, std::forward<Args>(args)...));
}

/// As fail(Errc::system, …) with errno's number and its text appended (": Permission denied").
template<typename... Args>
Status fail_errno(int os_error, fmt::format_string<Args...> format, Args&&... args) {
    return store_failure(Errc::system, os_error, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace dlrt
