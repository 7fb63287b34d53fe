// SPDX-License-Identifier: Apache-2.0
#include "runtime/collective_settings.hpp"

#include "runtime/base/error_text.hpp"

#include <utility>

namespace dlrt {
Result<CollectiveSettings> collective_settings(const Settings& settings) {
    CollectiveSettings found;
    found.is_explaining = settings.is_explaining;
    if (settings.algorithm_rules.empty()) return found;
    auto rules = coll::parse_algorithm_rules(settings.algorithm_rules);
    if (!rules) {
        const std::string reason = last_error_text();
        return fail(Errc::argument, "DLRT_ALGO={}: {}", settings.algorithm_rules, reason);
    }
    found.rules = std::move(*rules);
    return found;
}

}  // namespace dlrt
