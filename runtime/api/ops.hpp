// SPDX-License-Identifier: Apache-2.0
/// The operations of reductions, from handles to what the core works with.
#pragma once

#include "runtime/api/surface.hpp"
#include "runtime/reducer.hpp"

#include <cstdint>

namespace dlrt::api {

/// whole: everybody's values are combined. prefix: those of the ranks up to one.
enum class ReductionForm : std::uint8_t { whole, prefix };

/// Looks up the operation and checks that it is defined for the type. `type` is the handle behind
/// `layout`. Errors: Errc::op, Errc::type.
Status use_op(
    const Site& site, dlrt_op op, ReductionForm form, dlrt_type type, const LayoutRef& layout,
    Reducer& reducer
);

}  // namespace dlrt::api
