// SPDX-License-Identifier: Apache-2.0
/// Collectives that reduce, each in its three forms.
#include "runtime/api/between.hpp"
#include "runtime/api/collective_site.hpp"

#include <vector>

namespace dlrt::api {
namespace {

/// A reduction as its caller describes it.
struct Reduction {
    coll::Collective collective;
    Call call;
    dlrt_op op;
    std::int32_t root = 0;
    /// So many times the elements of the output in the input.
    bool has_blocks = false;
};

/// Between two groups.
dlrt_err do_reduction_between(
    const Site& site, const Entry& entry, Prepared& prepared, const Buffers& buffers,
    const Reduction& reduction
) {
    if (!coll::is_for_two_groups(reduction.collective)) {
        return to_c(site.fail(
            Errc::communicator, "no rank is before another in a communicator between two groups"
        ));
    }
    const std::vector<std::int64_t> counts(
        static_cast<std::size_t>(prepared.comm().size()), buffers.count
    );
    return reduce_between(
        site, entry, prepared, {reduction.collective, reduction.call, reduction.root},
        {buffers.input, buffers.output, buffers.count, buffers.type},
        {reduction.op, reduction.has_blocks ? counts.data() : nullptr}
    );
}

dlrt_err do_reduction(
    const Entry& entry, const Buffers& buffers, const Reduction& reduction, dlrt_comm comm
) {
    const Site site(entry.function);
    Prepared prepared;
    Status bad = open_collective(site, entry, comm, prepared);
    if (!bad.ok()) return to_c(bad);
    if (prepared.comm().is_between_groups()) {
        return do_reduction_between(site, entry, prepared, buffers, reduction);
    }
    const Communicator& on = prepared.comm();
    const bool has_root = reduction.collective == coll::Collective::reduce;
    if (has_root) bad = check_root(site, on, reduction.root);
    if (!bad.ok()) return to_c(bad);
    const bool is_first = reduction.collective == coll::Collective::exscan && on.rank() == 0;
    const bool has_output = !(has_root && on.rank() != reduction.root);
    const bool is_in_place = has_output && buffers.input == DLRT_IN_PLACE;
    bad = use_share(
        site, {is_in_place ? buffers.output : buffers.input, buffers.count, buffers.type}, prepared
    );
    const bool is_prefix = reduction.collective == coll::Collective::scan ||
                           reduction.collective == coll::Collective::exscan;
    const ReductionForm form = is_prefix ? ReductionForm::prefix : ReductionForm::whole;
    if (bad.ok()) {
        bad = use_op(
            site, reduction.op, form, buffers.type, *prepared.layout.reference, prepared.reducer
        );
    }
    if (!bad.ok()) return to_c(bad);
    // Nothing is before the first rank: it need not have an output.
    if (has_output && (!is_first || is_in_place)) {
        const std::int32_t shares = reduction.has_blocks ? on.size() : 1;
        const Pair pair{
            is_in_place ? nullptr : buffers.input, is_in_place ? 0 : shares, buffers.output,
            is_in_place ? shares : 1};
        bad = check_pair(site, prepared, pair, buffers.count);
        if (!bad.ok()) return to_c(bad);
    }
    prepared.call.collective = reduction.collective;
    prepared.call.root = reduction.root;
    prepared.call.reducer = &prepared.reducer;
    prepared.call.is_in_place = is_in_place;
    prepared.call.input = input_of(buffers, prepared);
    if (has_output) prepared.call.output = output_of(buffers, prepared);
    return conclude(site, entry, prepared, reduction.call);
}

}  // namespace
}  // namespace dlrt::api

using namespace dlrt;
using namespace dlrt::api;

dlrt_err dlrt_reduce(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_op op, int32_t root,
    dlrt_comm comm
) {
    const CollectiveArguments arguments{
        "dlrt_reduce", coll::Collective::reduce, comm, input, output, count, type, op, root};
    return repeat_or(arguments, [&] {
        return do_reduction(
            {"dlrt_reduce", Form::blocking, nullptr, &arguments}, {input, output, count, type},
            {coll::Collective::reduce, Call::reduce, op, root}, comm
        );
    });
}

dlrt_err dlrt_ireduce(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_op op, int32_t root,
    dlrt_comm comm, dlrt_request* request
) {
    return do_reduction(
        {"dlrt_ireduce", Form::nonblocking, request}, {input, output, count, type},
        {coll::Collective::reduce, Call::reduce, op, root}, comm
    );
}

dlrt_err dlrt_reduce_init(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_op op, int32_t root,
    dlrt_comm comm, dlrt_request* request
) {
    return do_reduction(
        {"dlrt_reduce_init", Form::persistent, request}, {input, output, count, type},
        {coll::Collective::reduce, Call::reduce, op, root}, comm
    );
}

dlrt_err dlrt_allreduce(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_op op, dlrt_comm comm
) {
    const CollectiveArguments arguments{
        "dlrt_allreduce", coll::Collective::allreduce, comm, input, output, count, type, op};
    return repeat_or(arguments, [&] {
        return do_reduction(
            {"dlrt_allreduce", Form::blocking, nullptr, &arguments}, {input, output, count, type},
            {coll::Collective::allreduce, Call::allreduce, op}, comm
        );
    });
}

dlrt_err dlrt_iallreduce(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_op op, dlrt_comm comm,
    dlrt_request* request
) {
    return do_reduction(
        {"dlrt_iallreduce", Form::nonblocking, request}, {input, output, count, type},
        {coll::Collective::allreduce, Call::allreduce, op}, comm
    );
}

dlrt_err dlrt_allreduce_init(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_op op, dlrt_comm comm,
    dlrt_request* request
) {
    return do_reduction(
        {"dlrt_allreduce_init", Form::persistent, request}, {input, output, count, type},
        {coll::Collective::allreduce, Call::allreduce, op}, comm
    );
}

dlrt_err dlrt_scan(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_op op, dlrt_comm comm
) {
    const CollectiveArguments arguments{
        "dlrt_scan", coll::Collective::scan, comm, input, output, count, type, op};
    return repeat_or(arguments, [&] {
        return do_reduction(
            {"dlrt_scan", Form::blocking, nullptr, &arguments}, {input, output, count, type},
            {coll::Collective::scan, Call::scan, op}, comm
        );
    });
}

dlrt_err dlrt_iscan(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_op op, dlrt_comm comm,
    dlrt_request* request
) {
    return do_reduction(
        {"dlrt_iscan", Form::nonblocking, request}, {input, output, count, type},
        {coll::Collective::scan, Call::scan, op}, comm
    );
}

dlrt_err dlrt_scan_init(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_op op, dlrt_comm comm,
    dlrt_request* request
) {
    return do_reduction(
        {"dlrt_scan_init", Form::persistent, request}, {input, output, count, type},
        {coll::Collective::scan, Call::scan, op}, comm
    );
}

dlrt_err dlrt_exscan(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_op op, dlrt_comm comm
) {
    const CollectiveArguments arguments{
        "dlrt_exscan", coll::Collective::exscan, comm, input, output, count, type, op};
    return repeat_or(arguments, [&] {
        return do_reduction(
            {"dlrt_exscan", Form::blocking, nullptr, &arguments}, {input, output, count, type},
            {coll::Collective::exscan, Call::exscan, op}, comm
        );
    });
}

dlrt_err dlrt_iexscan(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_op op, dlrt_comm comm,
    dlrt_request* request
) {
    return do_reduction(
        {"dlrt_iexscan", Form::nonblocking, request}, {input, output, count, type},
        {coll::Collective::exscan, Call::exscan, op}, comm
    );
}

dlrt_err dlrt_exscan_init(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_op op, dlrt_comm comm,
    dlrt_request* request
) {
    return do_reduction(
        {"dlrt_exscan_init", Form::persistent, request}, {input, output, count, type},
        {coll::Collective::exscan, Call::exscan, op}, comm
    );
}

dlrt_err dlrt_reduce_scatter(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_op op, dlrt_comm comm
) {
    const CollectiveArguments arguments{"dlrt_reduce_scatter",
                                        coll::Collective::reduce_scatter,
                                        comm,
                                        input,
                                        output,
                                        count,
                                        type,
                                        op};
    return repeat_or(arguments, [&] {
        return do_reduction(
            {"dlrt_reduce_scatter", Form::blocking, nullptr, &arguments},
            {input, output, count, type},
            {coll::Collective::reduce_scatter, Call::reduce_scatter, op, 0, true}, comm
        );
    });
}

dlrt_err dlrt_ireduce_scatter(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_op op, dlrt_comm comm,
    dlrt_request* request
) {
    return do_reduction(
        {"dlrt_ireduce_scatter", Form::nonblocking, request}, {input, output, count, type},
        {coll::Collective::reduce_scatter, Call::reduce_scatter, op, 0, true}, comm
    );
}

dlrt_err dlrt_reduce_scatter_init(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_op op, dlrt_comm comm,
    dlrt_request* request
) {
    return do_reduction(
        {"dlrt_reduce_scatter_init", Form::persistent, request}, {input, output, count, type},
        {coll::Collective::reduce_scatter, Call::reduce_scatter, op, 0, true}, comm
    );
}
