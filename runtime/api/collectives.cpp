// SPDX-License-Identifier: Apache-2.0
/// Collectives whose blocks are alike, each in its three forms.
#include "runtime/api/collective_site.hpp"

namespace dlrt::api {
namespace {

/// One buffer in, one out, of the same elements.
struct Buffers {
    const void* input;
    void* output;
    std::int64_t count;
    dlrt_type type;
};

ConstBuffer input_of(const Buffers& buffers, const Prepared& prepared) {
    if (prepared.call.is_in_place) return {};
    return {buffers.input, static_cast<std::uint64_t>(buffers.count), prepared.layout.reference};
}

Buffer output_of(const Buffers& buffers, const Prepared& prepared) {
    return {buffers.output, static_cast<std::uint64_t>(buffers.count), prepared.layout.reference};
}

dlrt_err do_barrier(const Entry& entry, dlrt_comm comm) {
    const Site site(entry.function);
    Prepared prepared;
    const Status bad = open_collective(site, entry, comm, prepared);
    return bad.ok() ? conclude(site, entry, prepared, Call::barrier) : to_c(bad);
}

dlrt_err do_bcast(
    const Entry& entry, const BufferArguments& buffer, std::int32_t root, dlrt_comm comm
) {
    const Site site(entry.function);
    Prepared prepared;
    Status bad = open_collective(site, entry, comm, prepared);
    if (bad.ok()) bad = use_share(site, buffer, prepared);
    if (bad.ok()) bad = check_root(site, prepared.comm(), root);
    if (!bad.ok()) return to_c(bad);
    prepared.call.collective = coll::Collective::bcast;
    prepared.call.root = root;
    // The root's is only read.
    prepared.call.output = {
        const_cast<void*>(buffer.address), static_cast<std::uint64_t>(buffer.count),
        prepared.layout.reference};
    return conclude(site, entry, prepared, Call::bcast);
}

/// A reduction as its caller describes it.
struct Reduction {
    coll::Collective collective;
    Call call;
    dlrt_op op;
    std::int32_t root = 0;
    /// So many times the elements of the output in the input.
    bool has_blocks = false;
};

dlrt_err do_reduction(
    const Entry& entry, const Buffers& buffers, const Reduction& reduction, dlrt_comm comm
) {
    const Site site(entry.function);
    Prepared prepared;
    Status bad = open_collective(site, entry, comm, prepared);
    if (!bad.ok()) return to_c(bad);
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

/// One that moves equal shares.
struct Movement {
    coll::Collective collective;
    Call call;
    std::int32_t root = 0;
    bool has_root = false;
};

/// gather and allgather; `is_receiver`: has an output.
dlrt_err do_collection(
    const Entry& entry, const Buffers& buffers, const Movement& movement, dlrt_comm comm
) {
    const Site site(entry.function);
    Prepared prepared;
    Status bad = open_collective(site, entry, comm, prepared);
    if (!bad.ok()) return to_c(bad);
    const Communicator& on = prepared.comm();
    if (movement.has_root) bad = check_root(site, on, movement.root);
    if (!bad.ok()) return to_c(bad);
    const bool is_receiver = !movement.has_root || on.rank() == movement.root;
    const bool is_in_place = is_receiver && buffers.input == DLRT_IN_PLACE;
    bad = use_share(
        site, {is_in_place ? buffers.output : buffers.input, buffers.count, buffers.type}, prepared
    );
    if (bad.ok() && is_receiver) {
        const Pair pair{
            is_in_place ? nullptr : buffers.input, is_in_place ? 0 : 1, buffers.output, on.size()};
        bad = check_pair(site, prepared, pair, buffers.count);
    }
    if (!bad.ok()) return to_c(bad);
    prepared.call.collective = movement.collective;
    prepared.call.root = movement.root;
    prepared.call.is_in_place = is_in_place;
    prepared.call.input = input_of(buffers, prepared);
    if (is_receiver) prepared.call.output = output_of(buffers, prepared);
    return conclude(site, entry, prepared, movement.call);
}

dlrt_err do_scatter(const Entry& entry, const Buffers& buffers, std::int32_t root, dlrt_comm comm) {
    const Site site(entry.function);
    Prepared prepared;
    Status bad = open_collective(site, entry, comm, prepared);
    if (bad.ok()) bad = check_root(site, prepared.comm(), root);
    if (!bad.ok()) return to_c(bad);
    const Communicator& on = prepared.comm();
    const bool is_root = on.rank() == root;
    const bool is_in_place = is_root && buffers.output == DLRT_IN_PLACE;
    bad = use_share(
        site, {is_in_place ? buffers.input : buffers.output, buffers.count, buffers.type}, prepared
    );
    if (bad.ok() && is_root) {
        const Pair pair{
            buffers.input, on.size(), is_in_place ? nullptr : buffers.output, is_in_place ? 0 : 1};
        bad = check_pair(site, prepared, pair, buffers.count);
    }
    if (!bad.ok()) return to_c(bad);
    prepared.call.collective = coll::Collective::scatter;
    prepared.call.root = root;
    if (is_root) prepared.call.input = input_of(buffers, prepared);
    prepared.call.is_in_place = is_in_place;
    if (!is_in_place) prepared.call.output = output_of(buffers, prepared);
    return conclude(site, entry, prepared, Call::scatter);
}

dlrt_err do_alltoall(const Entry& entry, const Buffers& buffers, dlrt_comm comm) {
    const Site site(entry.function);
    Prepared prepared;
    Status bad = open_collective(site, entry, comm, prepared);
    if (!bad.ok()) return to_c(bad);
    const std::int32_t size = prepared.comm().size();
    const bool is_in_place = buffers.input == DLRT_IN_PLACE;
    bad = use_share(
        site, {is_in_place ? buffers.output : buffers.input, buffers.count, buffers.type}, prepared
    );
    if (bad.ok()) {
        const Pair pair{
            is_in_place ? nullptr : buffers.input, is_in_place ? 0 : size, buffers.output, size};
        bad = check_pair(site, prepared, pair, buffers.count);
    }
    if (!bad.ok()) return to_c(bad);
    prepared.call.collective = coll::Collective::alltoall;
    prepared.call.is_in_place = is_in_place;
    prepared.call.input = input_of(buffers, prepared);
    prepared.call.output = output_of(buffers, prepared);
    return conclude(site, entry, prepared, Call::alltoall);
}

}  // namespace
}  // namespace dlrt::api

using namespace dlrt;
using namespace dlrt::api;

dlrt_err dlrt_barrier(dlrt_comm comm) {
    return do_barrier({"dlrt_barrier"}, comm);
}

dlrt_err dlrt_ibarrier(dlrt_comm comm, dlrt_request* request) {
    return do_barrier({"dlrt_ibarrier", Form::nonblocking, request}, comm);
}

dlrt_err dlrt_barrier_init(dlrt_comm comm, dlrt_request* request) {
    return do_barrier({"dlrt_barrier_init", Form::persistent, request}, comm);
}

dlrt_err dlrt_bcast(void* buffer, int64_t count, dlrt_type type, int32_t root, dlrt_comm comm) {
    return do_bcast({"dlrt_bcast"}, {buffer, count, type}, root, comm);
}

dlrt_err dlrt_ibcast(
    void* buffer, int64_t count, dlrt_type type, int32_t root, dlrt_comm comm, dlrt_request* request
) {
    return do_bcast({"dlrt_ibcast", Form::nonblocking, request}, {buffer, count, type}, root, comm);
}

dlrt_err dlrt_bcast_init(
    void* buffer, int64_t count, dlrt_type type, int32_t root, dlrt_comm comm, dlrt_request* request
) {
    return do_bcast(
        {"dlrt_bcast_init", Form::persistent, request}, {buffer, count, type}, root, comm
    );
}

dlrt_err dlrt_reduce(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_op op, int32_t root,
    dlrt_comm comm
) {
    return do_reduction(
        {"dlrt_reduce"}, {input, output, count, type},
        {coll::Collective::reduce, Call::reduce, op, root}, comm
    );
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
    return do_reduction(
        {"dlrt_allreduce"}, {input, output, count, type},
        {coll::Collective::allreduce, Call::allreduce, op}, comm
    );
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
    return do_reduction(
        {"dlrt_scan"}, {input, output, count, type}, {coll::Collective::scan, Call::scan, op}, comm
    );
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
    return do_reduction(
        {"dlrt_exscan"}, {input, output, count, type}, {coll::Collective::exscan, Call::exscan, op},
        comm
    );
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
    return do_reduction(
        {"dlrt_reduce_scatter"}, {input, output, count, type},
        {coll::Collective::reduce_scatter, Call::reduce_scatter, op, 0, true}, comm
    );
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

dlrt_err dlrt_gather(
    const void* input, int64_t count, dlrt_type type, void* output, int32_t root, dlrt_comm comm
) {
    return do_collection(
        {"dlrt_gather"}, {input, output, count, type},
        {coll::Collective::gather, Call::gather, root, true}, comm
    );
}

dlrt_err dlrt_igather(
    const void* input, int64_t count, dlrt_type type, void* output, int32_t root, dlrt_comm comm,
    dlrt_request* request
) {
    return do_collection(
        {"dlrt_igather", Form::nonblocking, request}, {input, output, count, type},
        {coll::Collective::gather, Call::gather, root, true}, comm
    );
}

dlrt_err dlrt_gather_init(
    const void* input, int64_t count, dlrt_type type, void* output, int32_t root, dlrt_comm comm,
    dlrt_request* request
) {
    return do_collection(
        {"dlrt_gather_init", Form::persistent, request}, {input, output, count, type},
        {coll::Collective::gather, Call::gather, root, true}, comm
    );
}

dlrt_err dlrt_scatter(
    const void* input, void* output, int64_t count, dlrt_type type, int32_t root, dlrt_comm comm
) {
    return do_scatter({"dlrt_scatter"}, {input, output, count, type}, root, comm);
}

dlrt_err dlrt_iscatter(
    const void* input, void* output, int64_t count, dlrt_type type, int32_t root, dlrt_comm comm,
    dlrt_request* request
) {
    return do_scatter(
        {"dlrt_iscatter", Form::nonblocking, request}, {input, output, count, type}, root, comm
    );
}

dlrt_err dlrt_scatter_init(
    const void* input, void* output, int64_t count, dlrt_type type, int32_t root, dlrt_comm comm,
    dlrt_request* request
) {
    return do_scatter(
        {"dlrt_scatter_init", Form::persistent, request}, {input, output, count, type}, root, comm
    );
}

dlrt_err dlrt_allgather(
    const void* input, int64_t count, dlrt_type type, void* output, dlrt_comm comm
) {
    return do_collection(
        {"dlrt_allgather"}, {input, output, count, type},
        {coll::Collective::allgather, Call::allgather}, comm
    );
}

dlrt_err dlrt_iallgather(
    const void* input, int64_t count, dlrt_type type, void* output, dlrt_comm comm,
    dlrt_request* request
) {
    return do_collection(
        {"dlrt_iallgather", Form::nonblocking, request}, {input, output, count, type},
        {coll::Collective::allgather, Call::allgather}, comm
    );
}

dlrt_err dlrt_allgather_init(
    const void* input, int64_t count, dlrt_type type, void* output, dlrt_comm comm,
    dlrt_request* request
) {
    return do_collection(
        {"dlrt_allgather_init", Form::persistent, request}, {input, output, count, type},
        {coll::Collective::allgather, Call::allgather}, comm
    );
}

dlrt_err dlrt_alltoall(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_comm comm
) {
    return do_alltoall({"dlrt_alltoall"}, {input, output, count, type}, comm);
}

dlrt_err dlrt_ialltoall(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_comm comm,
    dlrt_request* request
) {
    return do_alltoall(
        {"dlrt_ialltoall", Form::nonblocking, request}, {input, output, count, type}, comm
    );
}

dlrt_err dlrt_alltoall_init(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_comm comm,
    dlrt_request* request
) {
    return do_alltoall(
        {"dlrt_alltoall_init", Form::persistent, request}, {input, output, count, type}, comm
    );
}
