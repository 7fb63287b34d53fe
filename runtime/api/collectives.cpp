// SPDX-License-Identifier: Apache-2.0
/// Collectives that move data whose blocks are alike, each in its three forms.
#include "runtime/api/between.hpp"
#include "runtime/api/collective_site.hpp"

namespace dlrt::api {
namespace {

dlrt_err do_barrier(const Entry& entry, dlrt_comm comm) {
    const Site site(entry.function);
    Prepared prepared;
    const Status bad = open_collective(site, entry, comm, prepared);
    if (bad.ok() && prepared.comm().is_between_groups()) {
        const BetweenCall call{coll::Collective::barrier, Call::barrier};
        return move_between(site, entry, prepared, call, {nullptr, nullptr, 0, DLRT_BYTE});
    }
    return bad.ok() ? conclude(site, entry, prepared, Call::barrier) : to_c(bad);
}

dlrt_err do_bcast(
    const Entry& entry, const BufferArguments& buffer, std::int32_t root, dlrt_comm comm
) {
    const Site site(entry.function);
    Prepared prepared;
    Status bad = open_collective(site, entry, comm, prepared);
    if (bad.ok() && prepared.comm().is_between_groups()) {
        const BetweenCall call{coll::Collective::bcast, Call::bcast, root};
        const void* const data = buffer.address;
        return move_between(site, entry, prepared, call, {data, data, buffer.count, buffer.type});
    }
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
    if (prepared.comm().is_between_groups()) {
        return move_between(
            site, entry, prepared, {movement.collective, movement.call, movement.root},
            EvenBlocks{buffers.input, buffers.output, buffers.count, buffers.type}
        );
    }
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
    if (bad.ok() && prepared.comm().is_between_groups()) {
        return move_between(
            site, entry, prepared, {coll::Collective::scatter, Call::scatter, root},
            EvenBlocks{buffers.input, buffers.output, buffers.count, buffers.type}
        );
    }
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
    if (prepared.comm().is_between_groups()) {
        return move_between(
            site, entry, prepared, {coll::Collective::alltoall, Call::alltoall},
            EvenBlocks{buffers.input, buffers.output, buffers.count, buffers.type}
        );
    }
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
    const CollectiveArguments arguments{"dlrt_barrier", coll::Collective::barrier, comm};
    return repeat_or(arguments, [&] {
        return do_barrier({"dlrt_barrier", Form::blocking, nullptr, &arguments}, comm);
    });
}

dlrt_err dlrt_ibarrier(dlrt_comm comm, dlrt_request* request) {
    return do_barrier({"dlrt_ibarrier", Form::nonblocking, request}, comm);
}

dlrt_err dlrt_barrier_init(dlrt_comm comm, dlrt_request* request) {
    return do_barrier({"dlrt_barrier_init", Form::persistent, request}, comm);
}

dlrt_err dlrt_bcast(void* buffer, int64_t count, dlrt_type type, int32_t root, dlrt_comm comm) {
    const CollectiveArguments arguments{
        "dlrt_bcast", coll::Collective::bcast, comm, nullptr, buffer, count, type, {}, root};
    return repeat_or(arguments, [&] {
        return do_bcast(
            {"dlrt_bcast", Form::blocking, nullptr, &arguments}, {buffer, count, type}, root, comm
        );
    });
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

dlrt_err dlrt_gather(
    const void* input, int64_t count, dlrt_type type, void* output, int32_t root, dlrt_comm comm
) {
    const CollectiveArguments arguments{
        "dlrt_gather", coll::Collective::gather, comm, input, output, count, type, {}, root};
    return repeat_or(arguments, [&] {
        return do_collection(
            {"dlrt_gather", Form::blocking, nullptr, &arguments}, {input, output, count, type},
            {coll::Collective::gather, Call::gather, root, true}, comm
        );
    });
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
    const CollectiveArguments arguments{
        "dlrt_scatter", coll::Collective::scatter, comm, input, output, count, type, {}, root};
    return repeat_or(arguments, [&] {
        return do_scatter(
            {"dlrt_scatter", Form::blocking, nullptr, &arguments}, {input, output, count, type},
            root, comm
        );
    });
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
    const CollectiveArguments arguments{
        "dlrt_allgather", coll::Collective::allgather, comm, input, output, count, type};
    return repeat_or(arguments, [&] {
        return do_collection(
            {"dlrt_allgather", Form::blocking, nullptr, &arguments}, {input, output, count, type},
            {coll::Collective::allgather, Call::allgather}, comm
        );
    });
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
    const CollectiveArguments arguments{
        "dlrt_alltoall", coll::Collective::alltoall, comm, input, output, count, type};
    return repeat_or(arguments, [&] {
        return do_alltoall(
            {"dlrt_alltoall", Form::blocking, nullptr, &arguments}, {input, output, count, type},
            comm
        );
    });
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
