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

int MPI_Barrier(const Entry& entry, MPI_Comm comm) {
    CollectiveSite site(entry, comm);
    if (!site.ok()) return site.code();
    if (!is_between(site)) return site.conclude(MPI_SUCCESS, Call::barrier);
    const BufferArguments nothing{nullptr, 0, MPI_BYTE};
    return move_between(site, {coll::Collective::barrier, Call::barrier}, nothing, nothing);
}

int MPI_Bcast(
    const Entry& entry, void* buffer, MPI_Count count, MPI_Datatype datatype, int root,
    MPI_Comm comm
) {
    CollectiveSite site(entry, comm);
    if (!site.ok()) return site.code();
    const BufferArguments data{buffer, count, datatype};
    if (is_between(site)) {
        return move_between(site, {coll::Collective::bcast, Call::bcast, root}, data, data);
    }
    int wrong = site.set_output(data);
    if (wrong == MPI_SUCCESS) wrong = site.check_root(root);
    site.call().collective = coll::Collective::bcast;
    site.call().root = root;
    return site.conclude(wrong, Call::bcast);
}

int MPI_Gather(
    const Entry& entry, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm
) {
    CollectiveSite site(entry, comm);
    if (!site.ok()) return site.code();
    const BufferArguments input{sendbuf, sendcount, sendtype};
    const BufferArguments output{recvbuf, recvcount, recvtype};
    if (is_between(site)) {
        return move_between(site, {coll::Collective::gather, Call::gather, root}, input, output);
    }
    int wrong = site.check_root(root);
    const bool is_root = site.core().rank() == root;
    site.call().collective = coll::Collective::gather;
    site.call().root = root;
    site.call().is_in_place = is_root && sendbuf == MPI_IN_PLACE;
    if (wrong == MPI_SUCCESS && !site.call().is_in_place) wrong = site.set_input(input);
    if (wrong == MPI_SUCCESS && is_root) wrong = site.set_output(output);
    return site.conclude(wrong, Call::gather);
}

int MPI_Scatter(
    const Entry& entry, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm
) {
    CollectiveSite site(entry, comm);
    if (!site.ok()) return site.code();
    const BufferArguments input{sendbuf, sendcount, sendtype};
    const BufferArguments output{recvbuf, recvcount, recvtype};
    if (is_between(site)) {
        return move_between(site, {coll::Collective::scatter, Call::scatter, root}, input, output);
    }
    int wrong = site.check_root(root);
    const bool is_root = site.core().rank() == root;
    site.call().collective = coll::Collective::scatter;
    site.call().root = root;
    site.call().is_in_place = is_root && recvbuf == MPI_IN_PLACE;
    if (wrong == MPI_SUCCESS && is_root) wrong = site.set_input(input);
    if (wrong == MPI_SUCCESS && !site.call().is_in_place) wrong = site.set_output(output);
    return site.conclude(wrong, Call::scatter);
}

namespace {

/// What every rank gets a block of from everybody.
int exchange_evenly(
    CollectiveSite& site, coll::Collective collective, Call call, const BufferArguments& input,
    const BufferArguments& output
) {
    if (!site.ok()) return site.code();
    if (is_between(site)) return move_between(site, {collective, call}, input, output);
    int wrong = MPI_SUCCESS;
    site.call().collective = collective;
    site.call().is_in_place = input.address == MPI_IN_PLACE;
    if (!site.call().is_in_place) wrong = site.set_input(input);
    if (wrong == MPI_SUCCESS) wrong = site.set_output(output);
    return site.conclude(wrong, call);
}

}  // namespace

int MPI_Allgather(
    const Entry& entry, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm
) {
    CollectiveSite site(entry, comm);
    return exchange_evenly(
        site, coll::Collective::allgather, Call::allgather, {sendbuf, sendcount, sendtype},
        {recvbuf, recvcount, recvtype}
    );
}

int MPI_Alltoall(
    const Entry& entry, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm
) {
    CollectiveSite site(entry, comm);
    return exchange_evenly(
        site, coll::Collective::alltoall, Call::alltoall, {sendbuf, sendcount, sendtype},
        {recvbuf, recvcount, recvtype}
    );
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
