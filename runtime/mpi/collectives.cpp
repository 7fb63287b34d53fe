// SPDX-License-Identifier: Apache-2.0
/// Chapter: collectives that move data.
#include "runtime/mpi/between.hpp"
#include "runtime/mpi/collective_site.hpp"

#include <mpi_functions.hpp>

namespace dlrt::mpi {
namespace {

constexpr auto types_each = ListArguments::Types::each;

/// A movement between groups, or within one.
bool is_between(const CollectiveSite& site) {
    return site.core().is_between_groups();
}

}  // namespace

namespace {

/// A collective of blocks that are alike, as its caller describes it.
struct Movement {
    coll::Collective collective;
    Call call;
    BufferArguments input, output;
    int root = 0;
};

int pass_barrier(CollectiveSite& site, const Movement& movement) {
    if (!is_between(site)) return site.conclude(MPI_SUCCESS, movement.call);
    const BufferArguments nothing{nullptr, 0, MPI_BYTE};
    return move_between(site, {movement.collective, movement.call}, nothing, nothing);
}

int broadcast(CollectiveSite& site, const Movement& movement) {
    const BufferArguments& data = movement.output;
    if (is_between(site)) {
        return move_between(site, {movement.collective, movement.call, movement.root}, data, data);
    }
    int wrong = site.set_output(data);
    if (wrong == MPI_SUCCESS) wrong = site.check_root(movement.root);
    site.call().collective = movement.collective;
    site.call().root = movement.root;
    return site.conclude(wrong, movement.call);
}

int gather(CollectiveSite& site, const Movement& movement) {
    const auto& [collective, call, input, output, root] = movement;
    if (is_between(site)) return move_between(site, {collective, call, root}, input, output);
    int wrong = site.check_root(root);
    const bool is_root = site.core().rank() == root;
    site.call().collective = collective;
    site.call().root = root;
    site.call().is_in_place = is_root && input.address == MPI_IN_PLACE;
    if (wrong == MPI_SUCCESS && !site.call().is_in_place) wrong = site.set_input(input);
    if (wrong == MPI_SUCCESS && is_root) wrong = site.set_output(output);
    return site.conclude(wrong, call);
}

int scatter(CollectiveSite& site, const Movement& movement) {
    const auto& [collective, call, input, output, root] = movement;
    if (is_between(site)) return move_between(site, {collective, call, root}, input, output);
    int wrong = site.check_root(root);
    const bool is_root = site.core().rank() == root;
    site.call().collective = collective;
    site.call().root = root;
    site.call().is_in_place = is_root && output.address == MPI_IN_PLACE;
    if (wrong == MPI_SUCCESS && is_root) wrong = site.set_input(input);
    if (wrong == MPI_SUCCESS && !site.call().is_in_place) wrong = site.set_output(output);
    return site.conclude(wrong, call);
}

/// What every rank gets a block of from everybody.
int exchange_evenly(CollectiveSite& site, const Movement& movement) {
    const auto& [collective, call, input, output, root] = movement;
    if (is_between(site)) return move_between(site, {collective, call}, input, output);
    int wrong = MPI_SUCCESS;
    site.call().collective = collective;
    site.call().is_in_place = input.address == MPI_IN_PLACE;
    if (!site.call().is_in_place) wrong = site.set_input(input);
    if (wrong == MPI_SUCCESS) wrong = site.set_output(output);
    return site.conclude(wrong, call);
}

/// The short way, or the careful one.
template<int (*careful)(CollectiveSite&, const Movement&)>
[[gnu::always_inline]] inline int move(
    const Entry& entry, const Movement& movement, MPI_Comm comm
) {
    const RecentCall recent = recent_of(
        movement.collective, movement.input, movement.output, movement.root, comm
    );
    return repeat_or(entry, comm, recent, [&] {
        CollectiveSite site(entry, comm, &recent);
        return site.ok() ? careful(site, movement) : site.code();
    });
}

constexpr BufferArguments nowhere{nullptr, 0, nullptr};

}  // namespace

int MPI_Barrier(const Entry& entry, MPI_Comm comm) {
    const Movement movement{coll::Collective::barrier, Call::barrier, nowhere, nowhere};
    return move<pass_barrier>(entry, movement, comm);
}

int MPI_Bcast(
    const Entry& entry, void* buffer, MPI_Count count, MPI_Datatype datatype, int root,
    MPI_Comm comm
) {
    const Movement movement{
        coll::Collective::bcast, Call::bcast, nowhere, {buffer, count, datatype}, root};
    return move<broadcast>(entry, movement, comm);
}

int MPI_Gather(
    const Entry& entry, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm
) {
    const Movement movement{
        coll::Collective::gather,
        Call::gather,
        {sendbuf, sendcount, sendtype},
        {recvbuf, recvcount, recvtype},
        root};
    return move<gather>(entry, movement, comm);
}

int MPI_Scatter(
    const Entry& entry, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm
) {
    const Movement movement{
        coll::Collective::scatter,
        Call::scatter,
        {sendbuf, sendcount, sendtype},
        {recvbuf, recvcount, recvtype},
        root};
    return move<scatter>(entry, movement, comm);
}

int MPI_Allgather(
    const Entry& entry, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm
) {
    const Movement movement{
        coll::Collective::allgather,
        Call::allgather,
        {sendbuf, sendcount, sendtype},
        {recvbuf, recvcount, recvtype}};
    return move<exchange_evenly>(entry, movement, comm);
}

int MPI_Alltoall(
    const Entry& entry, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm
) {
    const Movement movement{
        coll::Collective::alltoall,
        Call::alltoall,
        {sendbuf, sendcount, sendtype},
        {recvbuf, recvcount, recvtype}};
    return move<exchange_evenly>(entry, movement, comm);
}

int MPI_Gatherv(
    const Entry& entry, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, Numbers recvcounts, Numbers displs, MPI_Datatype recvtype, int root,
    MPI_Comm comm
) {
    CollectiveSite site(entry, comm);
    if (!site.ok()) return site.code();
    const ListArguments output{"recvbuf", recvbuf, &recvcounts, &displs, &recvtype};
    if (is_between(site)) {
        const Numbers one(&sendcount);
        const ListArguments input{"sendbuf", sendbuf, &one, nullptr, &sendtype};
        return move_between(site, {coll::Collective::gather, Call::gatherv, root}, input, output);
    }
    int wrong = site.check_root(root);
    const bool is_root = site.core().rank() == root;
    site.call().collective = coll::Collective::gather;
    site.call().root = root;
    site.call().has_uneven_others = true;
    site.call().is_in_place = is_root && sendbuf == MPI_IN_PLACE;
    if (wrong == MPI_SUCCESS && !site.call().is_in_place) {
        wrong = site.set_input({sendbuf, sendcount, sendtype});
    }
    if (wrong == MPI_SUCCESS && is_root) wrong = site.set_output_list(output, site.core().size());
    return site.conclude(wrong, Call::gatherv);
}

int MPI_Scatterv(
    const Entry& entry, const void* sendbuf, Numbers sendcounts, Numbers displs,
    MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
    MPI_Comm comm
) {
    CollectiveSite site(entry, comm);
    if (!site.ok()) return site.code();
    const ListArguments input{"sendbuf", sendbuf, &sendcounts, &displs, &sendtype};
    if (is_between(site)) {
        const Numbers one(&recvcount);
        const ListArguments output{"recvbuf", recvbuf, &one, nullptr, &recvtype};
        return move_between(site, {coll::Collective::scatter, Call::scatterv, root}, input, output);
    }
    int wrong = site.check_root(root);
    const bool is_root = site.core().rank() == root;
    site.call().collective = coll::Collective::scatter;
    site.call().root = root;
    site.call().has_uneven_others = true;
    site.call().is_in_place = is_root && recvbuf == MPI_IN_PLACE;
    if (wrong == MPI_SUCCESS && is_root) wrong = site.set_input_list(input, site.core().size());
    if (wrong == MPI_SUCCESS && !site.call().is_in_place) {
        wrong = site.set_output({recvbuf, recvcount, recvtype});
    }
    return site.conclude(wrong, Call::scatterv);
}

int MPI_Allgatherv(
    const Entry& entry, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, Numbers recvcounts, Numbers displs, MPI_Datatype recvtype, MPI_Comm comm
) {
    CollectiveSite site(entry, comm);
    if (!site.ok()) return site.code();
    const ListArguments output{"recvbuf", recvbuf, &recvcounts, &displs, &recvtype};
    if (is_between(site)) {
        const Numbers one(&sendcount);
        const ListArguments input{"sendbuf", sendbuf, &one, nullptr, &sendtype};
        return move_between(site, {coll::Collective::allgather, Call::allgatherv}, input, output);
    }
    int wrong = MPI_SUCCESS;
    site.call().collective = coll::Collective::allgather;
    site.call().has_uneven_others = true;
    site.call().is_in_place = sendbuf == MPI_IN_PLACE;
    if (!site.call().is_in_place) wrong = site.set_input({sendbuf, sendcount, sendtype});
    if (wrong == MPI_SUCCESS) wrong = site.set_output_list(output, site.core().size());
    return site.conclude(wrong, Call::allgatherv);
}

namespace {

int exchange(
    CollectiveSite& site, const ListArguments& input, const ListArguments& output, Call call
) {
    if (!site.ok()) return site.code();
    if (is_between(site)) {
        return move_between(site, {coll::Collective::alltoall, call}, input, output);
    }
    int wrong = MPI_SUCCESS;
    site.call().collective = coll::Collective::alltoall;
    site.call().is_in_place = input.base == MPI_IN_PLACE;
    if (!site.call().is_in_place) wrong = site.set_input_list(input, site.core().size());
    if (wrong == MPI_SUCCESS) wrong = site.set_output_list(output, site.core().size());
    return site.conclude(wrong, call);
}

}  // namespace

int MPI_Alltoallv(
    const Entry& entry, const void* sendbuf, Numbers sendcounts, Numbers sdispls,
    MPI_Datatype sendtype, void* recvbuf, Numbers recvcounts, Numbers rdispls,
    MPI_Datatype recvtype, MPI_Comm comm
) {
    CollectiveSite site(entry, comm);
    return exchange(
        site, {"sendbuf", sendbuf, &sendcounts, &sdispls, &sendtype},
        {"recvbuf", recvbuf, &recvcounts, &rdispls, &recvtype}, Call::alltoallv
    );
}

int MPI_Alltoallw(
    const Entry& entry, const void* sendbuf, Numbers sendcounts, Numbers sdispls,
    const MPI_Datatype sendtypes[], void* recvbuf, Numbers recvcounts, Numbers rdispls,
    const MPI_Datatype recvtypes[], MPI_Comm comm
) {
    CollectiveSite site(entry, comm);
    return exchange(
        site, {"sendbuf", sendbuf, &sendcounts, &sdispls, sendtypes, types_each},
        {"recvbuf", recvbuf, &recvcounts, &rdispls, recvtypes, types_each}, Call::alltoallw
    );
}

}  // namespace dlrt::mpi
