// SPDX-License-Identifier: Apache-2.0
#include "runtime/api/between.hpp"

#include "collectives/contract.hpp"

#include <algorithm>
#include <vector>

namespace dlrt::api {
namespace {

bool is_same_for_all(coll::Collective collective) {
    return collective == coll::Collective::barrier || collective == coll::Collective::bcast ||
           collective == coll::Collective::allgather;
}

/// The part that the rank has: how many it sends to and receives from.
struct Part {
    std::size_t target_count = 0;
    std::size_t source_count = 0;
};

Status find_part(const Site& site, Prepared& prepared, const BetweenCall& call, Part& part) {
    const Communicator& comm = prepared.comm();
    coll::TwoGroups groups = comm.two_groups(0);
    if (coll::has_root(call.collective)) {
        if (call.root == DLRT_ROOT) {
            groups.root = groups.rank;
        } else if (call.root == DLRT_PROC_NULL) {
            groups.root = coll::no_part;
        } else if (call.root >= 0 && call.root < comm.peer_count()) {
            groups.root = groups.others_begin() + call.root;
        } else {
            return site.fail(
                Errc::root,
                "root {} is neither DLRT_ROOT, DLRT_PROC_NULL nor in 0..{} of the other group",
                call.root, comm.peer_count() - 1
            );
        }
    }
    prepared.call.collective = call.collective;
    prepared.call.root = groups.root;
    prepared.call.is_between_groups = true;
    const coll::Neighbours partners = coll::partners_between(call.collective, groups);
    part = {partners.targets.size(), partners.sources.size()};
    return {};
}

Status refuse_in_place(const Site& site, const Part& part, const void* input, const void* output) {
    const bool is_in_place = (part.target_count > 0 && input == DLRT_IN_PLACE) ||
                             (part.source_count > 0 && output == DLRT_IN_PLACE);
    if (!is_in_place) return {};
    return site.fail(
        Errc::buffer, "DLRT_IN_PLACE is not valid in a communicator between two groups"
    );
}

}  // namespace

dlrt_err move_between(
    const Site& site, const Entry& entry, Prepared& prepared, const BetweenCall& call,
    ListArguments input, ListArguments output
) {
    Lists lists;
    Part part;
    Status bad = find_part(site, prepared, call, part);
    if (bad.ok()) bad = refuse_in_place(site, part, input.base, output.base);
    if (!bad.ok()) return to_c(bad);
    if (is_same_for_all(call.collective))
        part.target_count = std::min<std::size_t>(part.target_count, 1);
    lists.uses.reserve(part.target_count + part.source_count);
    input.block_count = static_cast<std::int64_t>(part.target_count);
    output.block_count = static_cast<std::int64_t>(part.source_count);
    bad = use_list(site, input, prepared, lists, lists.input);
    if (bad.ok()) bad = use_list(site, output, prepared, lists, lists.output);
    if (!bad.ok()) return to_c(bad);
    prepared.size_bytes = data_bytes(lists.input);
    prepared.call.input.address = input.base;
    prepared.call.input_list = &lists.input;
    // The core writes to the output only.
    prepared.call.output.address = const_cast<void*>(output.base);
    prepared.call.output_list = &lists.output;
    bad = check_apart(site, prepared.call, "");
    return bad.ok() ? conclude(site, entry, prepared, call.call) : to_c(bad);
}

dlrt_err move_between(
    const Site& site, const Entry& entry, Prepared& prepared, const BetweenCall& call,
    const EvenBlocks& blocks
) {
    // The type and the count are looked at on ranks without part as well.
    const Status bad = use_share(
        site, {nullptr, std::min<std::int64_t>(blocks.count, 0), blocks.type}, prepared
    );
    if (!bad.ok()) return to_c(bad);
    const auto most = static_cast<std::size_t>(prepared.comm().peer_count());
    const std::vector<std::int64_t> counts(most, blocks.count);
    return move_between(
        site, entry, prepared, call,
        {"input", blocks.input, counts.data(), nullptr, &blocks.type, ListArguments::Types::one},
        {"output", blocks.output, counts.data(), nullptr, &blocks.type, ListArguments::Types::one}
    );
}

dlrt_err reduce_between(
    const Site& site, const Entry& entry, Prepared& prepared, const BetweenCall& call,
    const EvenBlocks& blocks, const BetweenReduction& reduction
) {
    Lists lists;
    Part part;
    Status bad = find_part(site, prepared, call, part);
    if (bad.ok()) bad = refuse_in_place(site, part, blocks.input, blocks.output);
    if (!bad.ok()) return to_c(bad);
    const bool has_input = part.target_count > 0;
    const bool has_output = part.source_count > 0;
    const void* const any = has_input ? blocks.input : blocks.output;
    const bool is_idle = !has_input && !has_output;
    bad = use_share(
        site, {any, is_idle ? std::min<std::int64_t>(blocks.count, 0) : blocks.count, blocks.type},
        prepared
    );
    if (bad.ok() && reduction.counts != nullptr) {
        ListArguments list{"input", blocks.input, reduction.counts,
                           nullptr, &blocks.type, ListArguments::Types::one};
        bad = use_list(site, list, prepared, lists, lists.input);
    }
    if (bad.ok() && has_input && has_output) {
        const Pair pair{blocks.input, 1, blocks.output, 1, ""};
        bad = check_pair(site, prepared, pair, blocks.count);
    }
    if (bad.ok()) {
        bad = use_op(
            site, reduction.op, ReductionForm::whole, blocks.type, *prepared.layout.reference,
            prepared.reducer
        );
    }
    if (!bad.ok()) return to_c(bad);
    prepared.call.reducer = &prepared.reducer;
    const auto count = static_cast<std::uint64_t>(blocks.count);
    if (has_input) prepared.call.input = {blocks.input, count, prepared.layout.reference};
    if (has_output) {
        prepared.call.output = {const_cast<void*>(blocks.output), count, prepared.layout.reference};
    }
    if (reduction.counts != nullptr) prepared.call.input_list = &lists.input;
    return conclude(site, entry, prepared, call.call);
}

}  // namespace dlrt::api
