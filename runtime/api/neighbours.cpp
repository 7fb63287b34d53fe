// SPDX-License-Identifier: Apache-2.0
/// Collectives among neighbours, each in its three forms.
#include "runtime/api/collective_site.hpp"
#include "runtime/api/communicator_site.hpp"

#include <algorithm>
#include <vector>

namespace dlrt::api {
namespace {

/// A rank's only block, for or from each neighbour.
struct Block {
    const void* address;
    std::int64_t count;
    dlrt_type type;
};

/// What one function is called with. Stays where it is.
struct Exchange {
    explicit Exchange(const Entry& entry) : site(entry.function) {}
    const Site site;
    Prepared prepared;
    Lists lists;
    std::int64_t in_count = 0;
    std::int64_t out_count = 0;
    std::vector<std::int64_t> equal_counts;  ///< Of the forms where all blocks are alike.
};

ListArguments list_of(
    const char* name, const void* base, const std::int64_t* counts,
    const std::int64_t* displacements, const dlrt_type* type
) {
    return {name, base, counts, displacements, type, ListArguments::Types::one};
}

/// What each function begins with.
Status open(Exchange& exchange, const Entry& entry, dlrt_comm comm, coll::Collective collective) {
    const Site& site = exchange.site;
    Status bad = open_collective(site, entry, comm, exchange.prepared);
    if (bad.ok()) bad = check_topology(site, exchange.prepared.comm());
    if (!bad.ok()) return bad;
    const coll::Neighbours& neighbours = exchange.prepared.comm().topology()->neighbours();
    exchange.in_count = static_cast<std::int64_t>(neighbours.sources.size());
    exchange.out_count = static_cast<std::int64_t>(neighbours.targets.size());
    exchange.prepared.call.collective = collective;
    // Where entries of it are pointed to, it must not move.
    exchange.lists.uses.reserve(neighbours.sources.size() + neighbours.targets.size());
    return {};
}

Status use_input_list(Exchange& exchange, ListArguments list) {
    list.block_count = exchange.out_count;
    list.block_owner = "neighbour";
    Prepared& prepared = exchange.prepared;
    const Status bad = use_list(
        exchange.site, list, prepared, exchange.lists, exchange.lists.input
    );
    prepared.call.input.address = list.base;
    prepared.call.input_list = &exchange.lists.input;
    return bad;
}

Status use_output_list(Exchange& exchange, ListArguments list) {
    list.block_count = exchange.in_count;
    list.block_owner = "neighbour";
    Prepared& prepared = exchange.prepared;
    const Status bad = use_list(
        exchange.site, list, prepared, exchange.lists, exchange.lists.output
    );
    // The core writes to the output only.
    prepared.call.output.address = const_cast<void*>(list.base);
    prepared.call.output_list = &exchange.lists.output;
    return bad;
}

/// The blocks of input and output, so many of each, have `count` elements and don't overlap.
Status check_blocks(
    Exchange& exchange, const Block& input, std::int64_t input_blocks, const void* output
) {
    BufferArguments share{input.address, input.count, input.type};
    if (input_blocks == 0 && input.count > 0) share = {nullptr, 0, input.type};
    const Status bad = use_share(exchange.site, share, exchange.prepared);
    if (!bad.ok()) return bad;
    const Pair pair{
        input.address, static_cast<std::int32_t>(input_blocks), output,
        static_cast<std::int32_t>(exchange.in_count), ""};
    return check_pair(exchange.site, exchange.prepared, pair, input.count);
}

dlrt_err do_allgather(const Entry& entry, const Block& input, const void* output, dlrt_comm comm) {
    Exchange exchange(entry);
    Status bad = open(exchange, entry, comm, coll::Collective::neighbor_allgather);
    if (bad.ok()) bad = check_blocks(exchange, input, 1, output);
    if (!bad.ok()) return to_c(bad);
    exchange.equal_counts.assign(static_cast<std::size_t>(exchange.in_count), input.count);
    const std::int64_t* const counts = exchange.equal_counts.data();
    bad = use_output_list(exchange, list_of("output", output, counts, nullptr, &input.type));
    if (!bad.ok()) return to_c(bad);
    Prepared& prepared = exchange.prepared;
    prepared.call.input = {
        input.address, static_cast<std::uint64_t>(input.count), prepared.layout.reference};
    return conclude(exchange.site, entry, prepared, Call::neighbor_allgather);
}

dlrt_err do_allgatherv(
    const Entry& entry, const Block& input, const ListArguments& output, dlrt_comm comm
) {
    Exchange exchange(entry);
    Prepared& prepared = exchange.prepared;
    Status bad = open(exchange, entry, comm, coll::Collective::neighbor_allgather);
    if (bad.ok()) {
        bad = use_share(exchange.site, {input.address, input.count, input.type}, prepared);
    }
    if (bad.ok()) bad = use_output_list(exchange, output);
    if (!bad.ok()) return to_c(bad);
    prepared.call.input = {
        input.address, static_cast<std::uint64_t>(input.count), prepared.layout.reference};
    bad = check_apart(exchange.site, prepared.call, "");
    if (!bad.ok()) return to_c(bad);
    return conclude(exchange.site, entry, prepared, Call::neighbor_allgather);
}

dlrt_err do_alltoall(const Entry& entry, const Block& input, const void* output, dlrt_comm comm) {
    Exchange exchange(entry);
    Status bad = open(exchange, entry, comm, coll::Collective::neighbor_alltoall);
    if (bad.ok()) bad = check_blocks(exchange, input, exchange.out_count, output);
    if (!bad.ok()) return to_c(bad);
    const std::int64_t most = std::max(exchange.in_count, exchange.out_count);
    exchange.equal_counts.assign(static_cast<std::size_t>(most), input.count);
    const std::int64_t* const counts = exchange.equal_counts.data();
    bad = use_input_list(exchange, list_of("input", input.address, counts, nullptr, &input.type));
    if (bad.ok()) {
        bad = use_output_list(exchange, list_of("output", output, counts, nullptr, &input.type));
    }
    if (!bad.ok()) return to_c(bad);
    return conclude(exchange.site, entry, exchange.prepared, Call::neighbor_alltoall);
}

dlrt_err do_alltoall_lists(
    const Entry& entry, const ListArguments& input, const ListArguments& output, dlrt_comm comm
) {
    Exchange exchange(entry);
    Status bad = open(exchange, entry, comm, coll::Collective::neighbor_alltoall);
    if (bad.ok()) bad = use_input_list(exchange, input);
    if (bad.ok()) bad = use_output_list(exchange, output);
    if (!bad.ok()) return to_c(bad);
    Prepared& prepared = exchange.prepared;
    prepared.size_bytes = data_bytes(exchange.lists.input);
    bad = check_apart(exchange.site, prepared.call, "");
    if (!bad.ok()) return to_c(bad);
    return conclude(exchange.site, entry, prepared, Call::neighbor_alltoall);
}

}  // namespace
}  // namespace dlrt::api

using namespace dlrt;
using namespace dlrt::api;

dlrt_err dlrt_neighbor_allgather(
    const void* input, int64_t count, dlrt_type type, void* output, dlrt_comm comm
) {
    return do_allgather({"dlrt_neighbor_allgather"}, {input, count, type}, output, comm);
}

dlrt_err dlrt_ineighbor_allgather(
    const void* input, int64_t count, dlrt_type type, void* output, dlrt_comm comm,
    dlrt_request* request
) {
    return do_allgather(
        {"dlrt_ineighbor_allgather", Form::nonblocking, request}, {input, count, type}, output, comm
    );
}

dlrt_err dlrt_neighbor_allgather_init(
    const void* input, int64_t count, dlrt_type type, void* output, dlrt_comm comm,
    dlrt_request* request
) {
    return do_allgather(
        {"dlrt_neighbor_allgather_init", Form::persistent, request}, {input, count, type}, output,
        comm
    );
}

dlrt_err dlrt_neighbor_allgatherv(
    const void* input, int64_t count, dlrt_type type, void* output, const int64_t* counts,
    const int64_t* displacements, dlrt_comm comm
) {
    return do_allgatherv(
        {"dlrt_neighbor_allgatherv"}, {input, count, type},
        list_of("output", output, counts, displacements, &type), comm
    );
}

dlrt_err dlrt_ineighbor_allgatherv(
    const void* input, int64_t count, dlrt_type type, void* output, const int64_t* counts,
    const int64_t* displacements, dlrt_comm comm, dlrt_request* request
) {
    return do_allgatherv(
        {"dlrt_ineighbor_allgatherv", Form::nonblocking, request}, {input, count, type},
        list_of("output", output, counts, displacements, &type), comm
    );
}

dlrt_err dlrt_neighbor_allgatherv_init(
    const void* input, int64_t count, dlrt_type type, void* output, const int64_t* counts,
    const int64_t* displacements, dlrt_comm comm, dlrt_request* request
) {
    return do_allgatherv(
        {"dlrt_neighbor_allgatherv_init", Form::persistent, request}, {input, count, type},
        list_of("output", output, counts, displacements, &type), comm
    );
}

dlrt_err dlrt_neighbor_alltoall(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_comm comm
) {
    return do_alltoall({"dlrt_neighbor_alltoall"}, {input, count, type}, output, comm);
}

dlrt_err dlrt_ineighbor_alltoall(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_comm comm,
    dlrt_request* request
) {
    return do_alltoall(
        {"dlrt_ineighbor_alltoall", Form::nonblocking, request}, {input, count, type}, output, comm
    );
}

dlrt_err dlrt_neighbor_alltoall_init(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_comm comm,
    dlrt_request* request
) {
    return do_alltoall(
        {"dlrt_neighbor_alltoall_init", Form::persistent, request}, {input, count, type}, output,
        comm
    );
}

dlrt_err dlrt_neighbor_alltoallv(
    const void* input, const int64_t* send_counts, const int64_t* send_displacements, void* output,
    const int64_t* recv_counts, const int64_t* recv_displacements, dlrt_type type, dlrt_comm comm
) {
    return do_alltoall_lists(
        {"dlrt_neighbor_alltoallv"},
        list_of("input", input, send_counts, send_displacements, &type),
        list_of("output", output, recv_counts, recv_displacements, &type), comm
    );
}

dlrt_err dlrt_ineighbor_alltoallv(
    const void* input, const int64_t* send_counts, const int64_t* send_displacements, void* output,
    const int64_t* recv_counts, const int64_t* recv_displacements, dlrt_type type, dlrt_comm comm,
    dlrt_request* request
) {
    return do_alltoall_lists(
        {"dlrt_ineighbor_alltoallv", Form::nonblocking, request},
        list_of("input", input, send_counts, send_displacements, &type),
        list_of("output", output, recv_counts, recv_displacements, &type), comm
    );
}

dlrt_err dlrt_neighbor_alltoallv_init(
    const void* input, const int64_t* send_counts, const int64_t* send_displacements, void* output,
    const int64_t* recv_counts, const int64_t* recv_displacements, dlrt_type type, dlrt_comm comm,
    dlrt_request* request
) {
    return do_alltoall_lists(
        {"dlrt_neighbor_alltoallv_init", Form::persistent, request},
        list_of("input", input, send_counts, send_displacements, &type),
        list_of("output", output, recv_counts, recv_displacements, &type), comm
    );
}

dlrt_err dlrt_neighbor_alltoallw(
    const void* input, const int64_t* send_counts, const int64_t* send_displacements_bytes,
    const dlrt_type* send_types, void* output, const int64_t* recv_counts,
    const int64_t* recv_displacements_bytes, const dlrt_type* recv_types, dlrt_comm comm
) {
    return do_alltoall_lists(
        {"dlrt_neighbor_alltoallw"},
        {"input", input, send_counts, send_displacements_bytes, send_types,
         ListArguments::Types::each},
        {"output", output, recv_counts, recv_displacements_bytes, recv_types,
         ListArguments::Types::each},
        comm
    );
}

dlrt_err dlrt_ineighbor_alltoallw(
    const void* input, const int64_t* send_counts, const int64_t* send_displacements_bytes,
    const dlrt_type* send_types, void* output, const int64_t* recv_counts,
    const int64_t* recv_displacements_bytes, const dlrt_type* recv_types, dlrt_comm comm,
    dlrt_request* request
) {
    return do_alltoall_lists(
        {"dlrt_ineighbor_alltoallw", Form::nonblocking, request},
        {"input", input, send_counts, send_displacements_bytes, send_types,
         ListArguments::Types::each},
        {"output", output, recv_counts, recv_displacements_bytes, recv_types,
         ListArguments::Types::each},
        comm
    );
}

dlrt_err dlrt_neighbor_alltoallw_init(
    const void* input, const int64_t* send_counts, const int64_t* send_displacements_bytes,
    const dlrt_type* send_types, void* output, const int64_t* recv_counts,
    const int64_t* recv_displacements_bytes, const dlrt_type* recv_types, dlrt_comm comm,
    dlrt_request* request
) {
    return do_alltoall_lists(
        {"dlrt_neighbor_alltoallw_init", Form::persistent, request},
        {"input", input, send_counts, send_displacements_bytes, send_types,
         ListArguments::Types::each},
        {"output", output, recv_counts, recv_displacements_bytes, recv_types,
         ListArguments::Types::each},
        comm
    );
}
