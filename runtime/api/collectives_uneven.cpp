// SPDX-License-Identifier: Apache-2.0
/// Collectives whose blocks differ in size, place or type, each in its three forms.
#include "runtime/api/between.hpp"
#include "runtime/api/collective_site.hpp"

namespace dlrt::api {
namespace {

/// A rank's only block beside the list.
struct Block {
    const void* address;
    std::int64_t count;
    dlrt_type type;
};

ListArguments list_of(
    const char* name, const void* base, const std::int64_t* counts,
    const std::int64_t* displacements, const dlrt_type* type
) {
    return {name, base, counts, displacements, type, ListArguments::Types::one};
}

/// gatherv and allgatherv.
struct Collection {
    coll::Collective collective;
    Call call;
    std::int32_t root = 0;
    bool has_root = false;
};
dlrt_err do_collection(
    const Entry& entry, const Block& input, const ListArguments& output,
    const Collection& collection, dlrt_comm comm
) {
    const Site site(entry.function);
    Prepared prepared;
    Lists lists;
    Status bad = open_collective(site, entry, comm, prepared);
    if (!bad.ok()) return to_c(bad);
    if (prepared.comm().is_between_groups()) {
        return move_between(
            site, entry, prepared, {collection.collective, collection.call, collection.root},
            list_of("input", input.address, &input.count, nullptr, &input.type), output
        );
    }
    const Communicator& on = prepared.comm();
    if (collection.has_root) bad = check_root(site, on, collection.root);
    if (!bad.ok()) return to_c(bad);
    const bool is_receiver = !collection.has_root || on.rank() == collection.root;
    const bool is_in_place = is_receiver && input.address == DLRT_IN_PLACE;
    if (!is_in_place) bad = use_share(site, {input.address, input.count, input.type}, prepared);
    if (bad.ok() && is_receiver) bad = use_list(site, output, prepared, lists, lists.output);
    if (!bad.ok()) return to_c(bad);
    prepared.call.collective = collection.collective;
    prepared.call.root = collection.root;
    prepared.call.is_in_place = is_in_place;
    prepared.call.has_uneven_others = true;
    if (!is_in_place) {
        prepared.call.input = {
            input.address, static_cast<std::uint64_t>(input.count), prepared.layout.reference};
    }
    if (is_receiver) {
        // The core writes to the output only.
        prepared.call.output.address = const_cast<void*>(output.base);
        prepared.call.output_list = &lists.output;
        if (!is_in_place) bad = check_apart(site, prepared.call, in_place_advice);
        if (!bad.ok()) return to_c(bad);
    }
    return conclude(site, entry, prepared, collection.call);
}

dlrt_err do_scatterv(
    const Entry& entry, const ListArguments& input, const Block& output, std::int32_t root,
    dlrt_comm comm
) {
    const Site site(entry.function);
    Prepared prepared;
    Lists lists;
    Status bad = open_collective(site, entry, comm, prepared);
    if (bad.ok() && prepared.comm().is_between_groups()) {
        return move_between(
            site, entry, prepared, {coll::Collective::scatter, Call::scatterv, root}, input,
            list_of("output", output.address, &output.count, nullptr, &output.type)
        );
    }
    if (bad.ok()) bad = check_root(site, prepared.comm(), root);
    if (!bad.ok()) return to_c(bad);
    const bool is_root = prepared.comm().rank() == root;
    const bool is_in_place = is_root && output.address == DLRT_IN_PLACE;
    if (!is_in_place) bad = use_share(site, {output.address, output.count, output.type}, prepared);
    if (bad.ok() && is_root) bad = use_list(site, input, prepared, lists, lists.input);
    if (!bad.ok()) return to_c(bad);
    prepared.call.collective = coll::Collective::scatter;
    prepared.call.root = root;
    prepared.call.is_in_place = is_in_place;
    prepared.call.has_uneven_others = true;
    if (is_root) {
        prepared.call.input.address = input.base;
        prepared.call.input_list = &lists.input;
    }
    if (!is_in_place) {
        prepared.call.output = {
            const_cast<void*>(output.address), static_cast<std::uint64_t>(output.count),
            prepared.layout.reference};
        if (is_root) bad = check_apart(site, prepared.call, in_place_advice);
        if (!bad.ok()) return to_c(bad);
    }
    return conclude(site, entry, prepared, Call::scatterv);
}

dlrt_err do_exchange(
    const Entry& entry, const ListArguments& input, const ListArguments& output, Call call,
    dlrt_comm comm
) {
    const Site site(entry.function);
    Prepared prepared;
    Lists lists;
    Status bad = open_collective(site, entry, comm, prepared);
    if (!bad.ok()) return to_c(bad);
    if (prepared.comm().is_between_groups()) {
        const BetweenCall between{coll::Collective::alltoall, call};
        return move_between(site, entry, prepared, between, input, output);
    }
    const bool is_in_place = input.base == DLRT_IN_PLACE;
    if (!is_in_place) bad = use_list(site, input, prepared, lists, lists.input);
    if (bad.ok()) bad = use_list(site, output, prepared, lists, lists.output);
    if (!bad.ok()) return to_c(bad);
    prepared.call.collective = coll::Collective::alltoall;
    prepared.call.is_in_place = is_in_place;
    prepared.size_bytes = data_bytes(is_in_place ? lists.output : lists.input);
    if (!is_in_place) {
        prepared.call.input.address = input.base;
        prepared.call.input_list = &lists.input;
    }
    prepared.call.output.address = const_cast<void*>(output.base);
    prepared.call.output_list = &lists.output;
    if (!is_in_place) bad = check_apart(site, prepared.call, in_place_advice);
    return bad.ok() ? conclude(site, entry, prepared, call) : to_c(bad);
}

dlrt_err do_reduce_scatterv(
    const Entry& entry, const ListArguments& input, void* output, dlrt_op op, dlrt_comm comm
) {
    const Site site(entry.function);
    Prepared prepared;
    Lists lists;
    Status bad = open_collective(site, entry, comm, prepared);
    if (!bad.ok()) return to_c(bad);
    if (prepared.comm().is_between_groups()) {
        if (bad = site.require(input.counts, "counts"); !bad.ok()) return to_c(bad);
        const auto own = static_cast<std::size_t>(prepared.comm().rank());
        return reduce_between(
            site, entry, prepared, {coll::Collective::reduce_scatter, Call::reduce_scatterv},
            {input.base, output, input.counts[own], *input.types}, {op, input.counts}
        );
    }
    const bool is_in_place = input.base == DLRT_IN_PLACE;
    ListArguments blocks = input;
    if (is_in_place) blocks.base = output;
    bad = use_list(site, blocks, prepared, lists, lists.input);
    if (!bad.ok()) return to_c(bad);
    const auto rank = static_cast<std::size_t>(prepared.comm().rank());
    bad = use_share(site, {output, input.counts[rank], *input.types}, prepared);
    if (bad.ok()) {
        bad = use_op(
            site, op, ReductionForm::whole, *input.types, *prepared.layout.reference,
            prepared.reducer
        );
    }
    if (!bad.ok()) return to_c(bad);
    prepared.call.collective = coll::Collective::reduce_scatter;
    prepared.call.reducer = &prepared.reducer;
    prepared.call.is_in_place = is_in_place;
    prepared.call.input_list = &lists.input;
    if (!is_in_place) prepared.call.input = {input.base, 0, prepared.layout.reference};
    const auto own_count = static_cast<std::uint64_t>(input.counts[rank]);
    prepared.call.output = {output, own_count, prepared.layout.reference};
    if (!is_in_place) bad = check_apart(site, prepared.call, in_place_advice);
    if (!bad.ok()) return to_c(bad);
    prepared.call.output.count = 0;
    return conclude(site, entry, prepared, Call::reduce_scatterv);
}

}  // namespace
}  // namespace dlrt::api

using namespace dlrt;
using namespace dlrt::api;

dlrt_err dlrt_gatherv(
    const void* input, int64_t count, dlrt_type type, void* output, const int64_t* counts,
    const int64_t* displacements, int32_t root, dlrt_comm comm
) {
    return do_collection(
        {"dlrt_gatherv"}, {input, count, type},
        list_of("output", output, counts, displacements, &type),
        {coll::Collective::gather, Call::gatherv, root, true}, comm
    );
}

dlrt_err dlrt_igatherv(
    const void* input, int64_t count, dlrt_type type, void* output, const int64_t* counts,
    const int64_t* displacements, int32_t root, dlrt_comm comm, dlrt_request* request
) {
    return do_collection(
        {"dlrt_igatherv", Form::nonblocking, request}, {input, count, type},
        list_of("output", output, counts, displacements, &type),
        {coll::Collective::gather, Call::gatherv, root, true}, comm
    );
}

dlrt_err dlrt_gatherv_init(
    const void* input, int64_t count, dlrt_type type, void* output, const int64_t* counts,
    const int64_t* displacements, int32_t root, dlrt_comm comm, dlrt_request* request
) {
    return do_collection(
        {"dlrt_gatherv_init", Form::persistent, request}, {input, count, type},
        list_of("output", output, counts, displacements, &type),
        {coll::Collective::gather, Call::gatherv, root, true}, comm
    );
}

dlrt_err dlrt_scatterv(
    const void* input, const int64_t* counts, const int64_t* displacements, void* output,
    int64_t count, dlrt_type type, int32_t root, dlrt_comm comm
) {
    return do_scatterv(
        {"dlrt_scatterv"}, list_of("input", input, counts, displacements, &type),
        {output, count, type}, root, comm
    );
}

dlrt_err dlrt_iscatterv(
    const void* input, const int64_t* counts, const int64_t* displacements, void* output,
    int64_t count, dlrt_type type, int32_t root, dlrt_comm comm, dlrt_request* request
) {
    return do_scatterv(
        {"dlrt_iscatterv", Form::nonblocking, request},
        list_of("input", input, counts, displacements, &type), {output, count, type}, root, comm
    );
}

dlrt_err dlrt_scatterv_init(
    const void* input, const int64_t* counts, const int64_t* displacements, void* output,
    int64_t count, dlrt_type type, int32_t root, dlrt_comm comm, dlrt_request* request
) {
    return do_scatterv(
        {"dlrt_scatterv_init", Form::persistent, request},
        list_of("input", input, counts, displacements, &type), {output, count, type}, root, comm
    );
}

dlrt_err dlrt_allgatherv(
    const void* input, int64_t count, dlrt_type type, void* output, const int64_t* counts,
    const int64_t* displacements, dlrt_comm comm
) {
    return do_collection(
        {"dlrt_allgatherv"}, {input, count, type},
        list_of("output", output, counts, displacements, &type),
        {coll::Collective::allgather, Call::allgatherv}, comm
    );
}

dlrt_err dlrt_iallgatherv(
    const void* input, int64_t count, dlrt_type type, void* output, const int64_t* counts,
    const int64_t* displacements, dlrt_comm comm, dlrt_request* request
) {
    return do_collection(
        {"dlrt_iallgatherv", Form::nonblocking, request}, {input, count, type},
        list_of("output", output, counts, displacements, &type),
        {coll::Collective::allgather, Call::allgatherv}, comm
    );
}

dlrt_err dlrt_allgatherv_init(
    const void* input, int64_t count, dlrt_type type, void* output, const int64_t* counts,
    const int64_t* displacements, dlrt_comm comm, dlrt_request* request
) {
    return do_collection(
        {"dlrt_allgatherv_init", Form::persistent, request}, {input, count, type},
        list_of("output", output, counts, displacements, &type),
        {coll::Collective::allgather, Call::allgatherv}, comm
    );
}

dlrt_err dlrt_reduce_scatterv(
    const void* input, void* output, const int64_t* counts, dlrt_type type, dlrt_op op,
    dlrt_comm comm
) {
    return do_reduce_scatterv(
        {"dlrt_reduce_scatterv"}, list_of("input", input, counts, nullptr, &type), output, op, comm
    );
}

dlrt_err dlrt_ireduce_scatterv(
    const void* input, void* output, const int64_t* counts, dlrt_type type, dlrt_op op,
    dlrt_comm comm, dlrt_request* request
) {
    return do_reduce_scatterv(
        {"dlrt_ireduce_scatterv", Form::nonblocking, request},
        list_of("input", input, counts, nullptr, &type), output, op, comm
    );
}

dlrt_err dlrt_reduce_scatterv_init(
    const void* input, void* output, const int64_t* counts, dlrt_type type, dlrt_op op,
    dlrt_comm comm, dlrt_request* request
) {
    return do_reduce_scatterv(
        {"dlrt_reduce_scatterv_init", Form::persistent, request},
        list_of("input", input, counts, nullptr, &type), output, op, comm
    );
}

dlrt_err dlrt_alltoallv(
    const void* input, const int64_t* send_counts, const int64_t* send_displacements, void* output,
    const int64_t* recv_counts, const int64_t* recv_displacements, dlrt_type type, dlrt_comm comm
) {
    return do_exchange(
        {"dlrt_alltoallv"}, list_of("input", input, send_counts, send_displacements, &type),
        list_of("output", output, recv_counts, recv_displacements, &type), Call::alltoallv, comm
    );
}

dlrt_err dlrt_ialltoallv(
    const void* input, const int64_t* send_counts, const int64_t* send_displacements, void* output,
    const int64_t* recv_counts, const int64_t* recv_displacements, dlrt_type type, dlrt_comm comm,
    dlrt_request* request
) {
    return do_exchange(
        {"dlrt_ialltoallv", Form::nonblocking, request},
        list_of("input", input, send_counts, send_displacements, &type),
        list_of("output", output, recv_counts, recv_displacements, &type), Call::alltoallv, comm
    );
}

dlrt_err dlrt_alltoallv_init(
    const void* input, const int64_t* send_counts, const int64_t* send_displacements, void* output,
    const int64_t* recv_counts, const int64_t* recv_displacements, dlrt_type type, dlrt_comm comm,
    dlrt_request* request
) {
    return do_exchange(
        {"dlrt_alltoallv_init", Form::persistent, request},
        list_of("input", input, send_counts, send_displacements, &type),
        list_of("output", output, recv_counts, recv_displacements, &type), Call::alltoallv, comm
    );
}

dlrt_err dlrt_alltoallw(
    const void* input, const int64_t* send_counts, const int64_t* send_displacements_bytes,
    const dlrt_type* send_types, void* output, const int64_t* recv_counts,
    const int64_t* recv_displacements_bytes, const dlrt_type* recv_types, dlrt_comm comm
) {
    return do_exchange(
        {"dlrt_alltoallw"},
        {"input", input, send_counts, send_displacements_bytes, send_types,
         ListArguments::Types::each},
        {"output", output, recv_counts, recv_displacements_bytes, recv_types,
         ListArguments::Types::each},
        Call::alltoallw, comm
    );
}

dlrt_err dlrt_ialltoallw(
    const void* input, const int64_t* send_counts, const int64_t* send_displacements_bytes,
    const dlrt_type* send_types, void* output, const int64_t* recv_counts,
    const int64_t* recv_displacements_bytes, const dlrt_type* recv_types, dlrt_comm comm,
    dlrt_request* request
) {
    return do_exchange(
        {"dlrt_ialltoallw", Form::nonblocking, request},
        {"input", input, send_counts, send_displacements_bytes, send_types,
         ListArguments::Types::each},
        {"output", output, recv_counts, recv_displacements_bytes, recv_types,
         ListArguments::Types::each},
        Call::alltoallw, comm
    );
}

dlrt_err dlrt_alltoallw_init(
    const void* input, const int64_t* send_counts, const int64_t* send_displacements_bytes,
    const dlrt_type* send_types, void* output, const int64_t* recv_counts,
    const int64_t* recv_displacements_bytes, const dlrt_type* recv_types, dlrt_comm comm,
    dlrt_request* request
) {
    return do_exchange(
        {"dlrt_alltoallw_init", Form::persistent, request},
        {"input", input, send_counts, send_displacements_bytes, send_types,
         ListArguments::Types::each},
        {"output", output, recv_counts, recv_displacements_bytes, recv_types,
         ListArguments::Types::each},
        Call::alltoallw, comm
    );
}
