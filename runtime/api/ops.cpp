// SPDX-License-Identifier: Apache-2.0
/// Reductions: creation, freeing, and the checks of those that a call names.
#include "runtime/api/ops.hpp"

#include <utility>

namespace dlrt::api {
namespace {

Status explain_undefined(const Site& site, ReduceOp op, const Layout& layout) {
    if (layout.element() == ElementType::none) {
        return site.fail(
            Errc::type, "a type of mixed elements can't be reduced but by an operation of your own"
        );
    }
    const char* const name = reduce_op_name(op);
    const char* const element = element_name(layout.element());
    if (op == ReduceOp::average && dlrt::is_defined(ReduceOp::sum, layout.element())) {
        return site.fail(
            Errc::op, "op {} is not defined for {}; use DLRT_SUM and divide", name, element
        );
    }
    const bool is_location = op == ReduceOp::minimum_location || op == ReduceOp::maximum_location;
    if (is_location) {
        return site.fail(
            Errc::op, "op {} is not defined for {}, only for pairs such as DLRT_DOUBLE_INT32", name,
            element
        );
    }
    return site.fail(Errc::op, "op {} is not defined for {}", name, element);
}

}  // namespace

Status use_op(
    const Site& site, dlrt_op op, ReductionForm form, dlrt_type type, const LayoutRef& layout,
    Reducer& reducer
) {
    if (op.generation != 0 || op.index - 1 >= built_in_op_count - 1) {
        UserOpRef user_op;
        if (const Status bad = site.use(op, user_op); !bad.ok()) return bad;
        reducer = Reducer(std::move(user_op), layout, to_handle(type));
        return {};
    }
    const auto built_in = static_cast<ReduceOp>(op.index);
    if (!is_defined(built_in, layout->element())) {
        return explain_undefined(site, built_in, *layout);
    }
    if (form == ReductionForm::prefix && !is_defined_for_prefix(built_in)) {
        return site.fail(
            Errc::op, "op {} is not defined for scans; use DLRT_SUM and divide by rank + 1",
            reduce_op_name(built_in)
        );
    }
    reducer = Reducer(built_in, layout->element());
    return {};
}

}  // namespace dlrt::api

using namespace dlrt;
using namespace dlrt::api;

dlrt_err dlrt_op_create(
    dlrt_op_function* function, void* user, int is_commutative, dlrt_op* result
) {
    const Site site("dlrt_op_create");
    if (!site.is_ready()) return site.error();
    if (function == nullptr) return to_c(site.fail(Errc::argument, "function is null"));
    if (const Status bad = site.require(result, "result"); !bad.ok()) return to_c(bad);
    const auto call = [function,
                       user](const void* left, void* right, std::int64_t count, Handle type) {
        function(left, right, count, {type.index, type.generation}, user);
    };
    return to_c(site.give(std::make_shared<const UserOp>(UserOp{call, is_commutative != 0}), result)
    );
}

dlrt_err dlrt_op_free(dlrt_op* op) {
    const Site site("dlrt_op_free");
    if (!site.is_ready()) return site.error();
    if (const Status bad = site.require(op, "op"); !bad.ok()) return to_c(bad);
    const bool is_built_in = op->generation == 0 && op->index - 1 < built_in_op_count - 1;
    if (is_built_in) return to_c(site.fail(Errc::op, "predefined operations can't be freed"));
    UserOpRef user_op;
    if (const Status bad = site.use(*op, user_op); !bad.ok()) return to_c(bad);
    static_cast<void>(site.surface().ops.remove(to_handle(*op)));
    *op = DLRT_OP_NULL;
    return DLRT_OK;
}
