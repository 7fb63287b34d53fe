// SPDX-License-Identifier: Apache-2.0
#include "runtime/mpi/between.hpp"

#include "collectives/two_groups.hpp"

#include <algorithm>

namespace dlrt::mpi {
namespace {

bool is_same_for_all(coll::Collective collective) {
    return collective == coll::Collective::barrier || collective == coll::Collective::bcast ||
           collective == coll::Collective::allgather;
}

bool has_root(coll::Collective collective) {
    return collective == coll::Collective::bcast || collective == coll::Collective::reduce ||
           collective == coll::Collective::gather || collective == coll::Collective::scatter;
}

/// The part that the rank has: how many it sends to and receives from.
struct Part {
    std::int64_t target_count = 0;
    std::int64_t source_count = 0;
};

int find_part(CollectiveSite& site, const BetweenCall& call, Part& part) {
    const Communicator& comm = site.core();
    coll::TwoGroups groups = comm.two_groups(0);
    if (has_root(call.collective)) {
        if (call.root == MPI_ROOT) {
            groups.root = groups.rank;
        } else if (call.root == MPI_PROC_NULL) {
            groups.root = coll::no_part;
        } else if (call.root >= 0 && call.root < comm.peer_count()) {
            groups.root = groups.others_begin() + call.root;
        } else {
            return site.site().bad(
                MPI_ERR_ROOT,
                "root {} is neither MPI_ROOT, MPI_PROC_NULL nor in 0..{} of the other group",
                call.root, comm.peer_count() - 1
            );
        }
    }
    site.call().collective = call.collective;
    site.call().root = groups.root;
    site.call().is_between_groups = true;
    const coll::Neighbours partners = coll::partners_between(call.collective, groups);
    part.target_count = static_cast<std::int64_t>(partners.targets.size());
    part.source_count = static_cast<std::int64_t>(partners.sources.size());
    return MPI_SUCCESS;
}

int refuse_in_place(
    const CollectiveSite& site, const Part& part, const void* input, const void* output
) {
    if (part.target_count > 0) {
        if (const int wrong = site.refuse_in_place(input)) return wrong;
    }
    return part.source_count > 0 ? site.refuse_in_place(output) : MPI_SUCCESS;
}

/// Of a rank that neither gives nor gets anything: its type means nothing.
int set_idle_op(CollectiveSite& site, const BetweenReduction& reduction) {
    const bool is_location = reduction.op == MPI_MINLOC || reduction.op == MPI_MAXLOC;
    return site.set_op(reduction.op, is_location ? MPI_2INT : MPI_INT);
}

}  // namespace

int move_between(
    CollectiveSite& site, const BetweenCall& call, const ListArguments& input,
    const ListArguments& output
) {
    Part part;
    int wrong = find_part(site, call, part);
    if (wrong == MPI_SUCCESS) wrong = refuse_in_place(site, part, input.base, output.base);
    if (is_same_for_all(call.collective)) {
        part.target_count = std::min<std::int64_t>(part.target_count, 1);
    }
    if (wrong == MPI_SUCCESS) wrong = site.set_input_list(input, part.target_count);
    if (wrong == MPI_SUCCESS) wrong = site.set_output_list(output, part.source_count);
    return site.conclude(wrong, call.call);
}

int move_between(
    CollectiveSite& site, const BetweenCall& call, const BufferArguments& input,
    const BufferArguments& output
) {
    const auto most = static_cast<std::size_t>(site.core().peer_count());
    const std::vector<std::int64_t> in_counts(most, input.count);
    const std::vector<std::int64_t> out_counts(most, output.count);
    const Numbers in(in_counts.data());
    const Numbers out(out_counts.data());
    return move_between(
        site, call, ListArguments{"sendbuf", input.address, &in, nullptr, &input.type},
        ListArguments{"recvbuf", output.address, &out, nullptr, &output.type}
    );
}

int reduce_between(
    CollectiveSite& site, const BetweenCall& call, const BetweenReduction& reduction
) {
    Part part;
    int wrong = find_part(site, call, part);
    if (wrong == MPI_SUCCESS) {
        wrong = refuse_in_place(site, part, reduction.input, reduction.output);
    }
    const bool has_input = part.target_count > 0;
    const bool has_output = part.source_count > 0;
    if (wrong == MPI_SUCCESS && has_input) {
        wrong = site.set_input({reduction.input, reduction.count, reduction.type});
    }
    if (wrong == MPI_SUCCESS && has_output) {
        wrong = site.set_output({reduction.output, reduction.count, reduction.type});
    }
    const bool has_data = has_input || has_output;
    if (wrong == MPI_SUCCESS) {
        wrong = has_data ? site.set_op(reduction.op, reduction.type) : set_idle_op(site, reduction);
    }
    if (wrong == MPI_SUCCESS && reduction.counts != nullptr) {
        const void* const address = site.call().input.address;
        const Numbers counts(reduction.counts->data());
        const auto size = static_cast<std::int64_t>(reduction.counts->size());
        wrong = site.set_input_list(
            {"sendbuf", reduction.input, &counts, nullptr, &reduction.type}, size
        );
        site.call().input.address = address;
    }
    return site.conclude(wrong, call.call);
}

}  // namespace dlrt::mpi
