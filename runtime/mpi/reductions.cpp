// SPDX-License-Identifier: Apache-2.0
/// Chapter: collectives that reduce.
#include "runtime/mpi/between.hpp"
#include "runtime/mpi/collective_site.hpp"

#include <mpi_functions.hpp>
#include <numeric>

namespace dlrt::mpi {
namespace {

/// A reduction as its caller describes it.
struct Reduction {
    coll::Collective collective;
    Call call;
    const void* input;
    void* output;
    MPI_Count count;
    MPI_Datatype type;
    MPI_Op op;
    int root = 0;
};

BetweenReduction between_of(const Reduction& reduction) {
    return {reduction.input, reduction.output, reduction.count, reduction.type, reduction.op};
}

int reduce_carefully(CollectiveSite& site, const Reduction& reduction) {
    if (!site.ok()) return site.code();
    const Communicator& core = site.core();
    if (core.is_between_groups()) {
        const bool has_order = !coll::is_for_two_groups(reduction.collective);
        if (has_order) {
            return site.site().raise(MPI_ERR_COMM, "comm is an intercommunicator");
        }
        return reduce_between(
            site, {reduction.collective, reduction.call, reduction.root}, between_of(reduction)
        );
    }
    const bool has_root = reduction.collective == coll::Collective::reduce;
    const bool is_first = reduction.collective == coll::Collective::exscan && core.rank() == 0;
    const bool has_output = !has_root || core.rank() == reduction.root;
    const bool is_in_place = has_output && reduction.input == MPI_IN_PLACE;
    int wrong = has_root ? site.check_root(reduction.root) : MPI_SUCCESS;
    site.call().collective = reduction.collective;
    site.call().root = reduction.root;
    site.call().is_in_place = is_in_place;
    if (wrong == MPI_SUCCESS && !is_in_place) {
        wrong = site.set_input({reduction.input, reduction.count, reduction.type});
    }
    if (wrong == MPI_SUCCESS) wrong = site.set_op(reduction.op, reduction.type);
    // Nothing is before the first rank: it need not have an output.
    if (wrong == MPI_SUCCESS && has_output && (!is_first || is_in_place)) {
        wrong = site.set_output({reduction.output, reduction.count, reduction.type});
    }
    if (is_first && !is_in_place) {
        site.call().output = {nullptr, site.call().input.count, site.call().input.layout};
    }
    return site.conclude(wrong, reduction.call);
}

/// What `careful` does may be done the short way when it comes again.
template<typename Careful>
[[gnu::always_inline]] inline int repeat_or_reduce(
    const Entry& entry, const Reduction& reduction, MPI_Comm comm, const Careful& careful
) {
    RecentCall recent = recent_of(
        reduction.collective, {reduction.input, reduction.count, reduction.type},
        {reduction.output, 0, nullptr}, reduction.root, comm
    );
    recent.op = number_of(reduction.op);
    return repeat_or(entry, comm, recent, [&] {
        CollectiveSite site(entry, comm, &recent);
        return careful(site, reduction);
    });
}

int reduce(const Entry& entry, const Reduction& reduction, MPI_Comm comm) {
    return repeat_or_reduce(entry, reduction, comm, reduce_carefully);
}

}  // namespace

int MPI_Reduce(
    const Entry& entry, const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, int root, MPI_Comm comm
) {
    return reduce(
        entry,
        {coll::Collective::reduce, Call::reduce, sendbuf, recvbuf, count, datatype, op, root}, comm
    );
}

int MPI_Allreduce(
    const Entry& entry, const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm
) {
    return reduce(
        entry,
        {coll::Collective::allreduce, Call::allreduce, sendbuf, recvbuf, count, datatype, op}, comm
    );
}

int MPI_Scan(
    const Entry& entry, const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm
) {
    return reduce(
        entry, {coll::Collective::scan, Call::scan, sendbuf, recvbuf, count, datatype, op}, comm
    );
}

int MPI_Exscan(
    const Entry& entry, const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm
) {
    return reduce(
        entry, {coll::Collective::exscan, Call::exscan, sendbuf, recvbuf, count, datatype, op}, comm
    );
}

namespace {

int scatter_evenly(CollectiveSite& site, const Reduction& reduction) {
    if (!site.ok()) return site.code();
    if (!site.core().is_between_groups()) return reduce_carefully(site, reduction);
    const std::vector<std::int64_t> counts(
        static_cast<std::size_t>(site.core().size()), reduction.count
    );
    BetweenReduction between = between_of(reduction);
    between.counts = &counts;
    return reduce_between(site, {coll::Collective::reduce_scatter, Call::reduce_scatter}, between);
}

}  // namespace

int MPI_Reduce_scatter_block(
    const Entry& entry, const void* sendbuf, void* recvbuf, MPI_Count recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm
) {
    const Reduction reduction{coll::Collective::reduce_scatter,
                              Call::reduce_scatter,
                              sendbuf,
                              recvbuf,
                              recvcount,
                              datatype,
                              op};
    return repeat_or_reduce(entry, reduction, comm, scatter_evenly);
}

int MPI_Reduce_scatter(
    const Entry& entry, const void* sendbuf, void* recvbuf, Numbers recvcounts,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm
) {
    CollectiveSite site(entry, comm);
    if (!site.ok()) return site.code();
    if (recvcounts.is_null()) return site.site().raise(MPI_ERR_ARG, "recvcounts is null");
    const auto size = static_cast<std::size_t>(site.core().size());
    const auto rank = static_cast<std::size_t>(site.core().rank());
    const std::vector<std::int64_t> counts = recvcounts.copy(size);
    if (site.core().is_between_groups()) {
        return reduce_between(
            site, {coll::Collective::reduce_scatter, Call::reduce_scatterv},
            {sendbuf, recvbuf, counts[rank], datatype, op, &counts}
        );
    }
    const bool is_in_place = sendbuf == MPI_IN_PLACE;
    site.call().collective = coll::Collective::reduce_scatter;
    site.call().is_in_place = is_in_place;
    int wrong = site.set_input_list(
        {"sendbuf", is_in_place ? recvbuf : sendbuf, &recvcounts, nullptr, &datatype},
        static_cast<std::int64_t>(size)
    );
    if (wrong == MPI_SUCCESS) wrong = site.set_op(op, datatype);
    if (wrong == MPI_SUCCESS) wrong = site.set_output({recvbuf, counts[rank], datatype});
    if (wrong == MPI_SUCCESS) {
        const LayoutRef* const layout = site.call().output.layout;
        site.call().input = {is_in_place ? nullptr : sendbuf, 0, is_in_place ? nullptr : layout};
        site.call().output.count = 0;
        // Without a share of one's own there need not be memory for it; in place there is.
        site.call().output.address = recvbuf;
    }
    return site.conclude(wrong, Call::reduce_scatterv);
}

}  // namespace dlrt::mpi
