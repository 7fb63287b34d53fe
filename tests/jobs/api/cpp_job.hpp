// SPDX-License-Identifier: Apache-2.0
/// What programs that test dlrt.hpp share: expectations that end the job, and one operation tried
/// in its three forms.
#pragma once

#include "dlrt.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <numeric>
#include <source_location>

namespace cpp_job {

inline void expect(
    bool is_right, const char* what,
    const std::source_location& where = std::source_location::current()
) {
    if (is_right) return;
    std::fprintf(stderr, "wrong: %s (line %u)\n", what, static_cast<unsigned>(where.line()));
    dlrt::abort(1, what);
}

template<typename E, typename F>
void expect_throw(const F& function, const char* what) {
    try {
        function();
    } catch (const E&) {
        return;
    }
    expect(false, what);
}

using Values = std::vector<std::int64_t>;
using Counts = std::vector<std::int64_t>;

/// The numbers from `first` on.
inline Values run_from(std::int64_t first, std::int64_t count) {
    Values values(static_cast<std::size_t>(count));
    std::iota(values.begin(), values.end(), first);
    return values;
}

/// One operation by its three forms; `result` is what each must leave in `output`.
struct Forms {
    std::function<void()> blocking;
    std::function<dlrt::Request()> begin, make;
};
inline void expect_same(
    const Forms& forms, Values& output, const Values& result, const char* what
) {
    const auto is_right = [&] {
        const bool same = output == result;
        output.assign(output.size(), -1);
        return same;
    };
    output.assign(output.size(), -1);
    forms.blocking();
    expect(is_right(), what);
    forms.begin().wait();
    expect(is_right(), what);
    dlrt::Request request = forms.make();
    for (int round = 0; round < 2; ++round) {
        request.start();
        request.wait();
        expect(is_right(), what);
    }
}

}  // namespace cpp_job
