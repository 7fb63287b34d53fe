// SPDX-License-Identifier: Apache-2.0
/// Chapter: collectives among neighbours.
#include "runtime/mpi/collective_site.hpp"

#include <algorithm>
#include <mpi_functions.hpp>

namespace dlrt::mpi {
namespace {

constexpr auto types_each = ListArguments::Types::each;

/// The neighbours of the rank.
struct Neighbourhood {
    std::int64_t source_count = 0;
    std::int64_t target_count = 0;
};

int open(
    CollectiveSite& site, coll::Collective collective, const void* input, Neighbourhood& found
) {
    if (site.core().topology() == nullptr) {
        return site.site().bad(
            MPI_ERR_TOPOLOGY, "{}",
            site.site().comm().topology.kind != MPI_UNDEFINED
                ? "the graph has edges that only one of their ranks names"
                : "the communicator's ranks have no neighbours"
        );
    }
    const coll::Neighbours& neighbours = site.core().topology()->neighbours();
    found.source_count = static_cast<std::int64_t>(neighbours.sources.size());
    found.target_count = static_cast<std::int64_t>(neighbours.targets.size());
    site.call().collective = collective;
    return site.refuse_in_place(input);
}

/// Blocks that are alike, as a list.
struct EqualBlocks {
    EqualBlocks(const BufferArguments& arguments, std::int64_t block_count)
        : buffer(arguments),
          counts(static_cast<std::size_t>(block_count), arguments.count),
          numbers(counts.data()) {}
    [[nodiscard]] ListArguments list(const char* name) const {
        return {name, buffer.address, &numbers, nullptr, &buffer.type};
    }
    BufferArguments buffer;
    std::vector<std::int64_t> counts;
    Numbers numbers;
};

int gather(
    CollectiveSite& site, const BufferArguments& input, const ListArguments& output,
    const Neighbourhood& around
) {
    int wrong = site.set_input(input);
    if (wrong == MPI_SUCCESS) wrong = site.set_output_list(output, around.source_count);
    return site.conclude(wrong, Call::neighbor_allgather);
}

int exchange(CollectiveSite& site, const ListArguments& input, const ListArguments& output) {
    if (!site.ok()) return site.code();
    Neighbourhood around;
    int wrong = open(site, coll::Collective::neighbor_alltoall, input.base, around);
    if (wrong == MPI_SUCCESS) wrong = site.set_input_list(input, around.target_count);
    if (wrong == MPI_SUCCESS) wrong = site.set_output_list(output, around.source_count);
    return site.conclude(wrong, Call::neighbor_alltoall);
}

}  // namespace

int MPI_Neighbor_allgather(
    const Entry& entry, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm
) {
    CollectiveSite site(entry, comm);
    if (!site.ok()) return site.code();
    Neighbourhood around;
    const int wrong = open(site, coll::Collective::neighbor_allgather, sendbuf, around);
    if (wrong != MPI_SUCCESS) return site.site().raise(wrong);
    const EqualBlocks output({recvbuf, recvcount, recvtype}, around.source_count);
    return gather(site, {sendbuf, sendcount, sendtype}, output.list("recvbuf"), around);
}

int MPI_Neighbor_allgatherv(
    const Entry& entry, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, Numbers recvcounts, Numbers displs, MPI_Datatype recvtype, MPI_Comm comm
) {
    CollectiveSite site(entry, comm);
    if (!site.ok()) return site.code();
    Neighbourhood around;
    const int wrong = open(site, coll::Collective::neighbor_allgather, sendbuf, around);
    if (wrong != MPI_SUCCESS) return site.site().raise(wrong);
    return gather(
        site, {sendbuf, sendcount, sendtype}, {"recvbuf", recvbuf, &recvcounts, &displs, &recvtype},
        around
    );
}

int MPI_Neighbor_alltoall(
    const Entry& entry, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm
) {
    CollectiveSite site(entry, comm);
    if (!site.ok()) return site.code();
    Neighbourhood around;
    const int wrong = open(site, coll::Collective::neighbor_alltoall, sendbuf, around);
    if (wrong != MPI_SUCCESS) return site.site().raise(wrong);
    const EqualBlocks input({sendbuf, sendcount, sendtype}, around.target_count);
    const EqualBlocks output({recvbuf, recvcount, recvtype}, around.source_count);
    return exchange(site, input.list("sendbuf"), output.list("recvbuf"));
}

int MPI_Neighbor_alltoallv(
    const Entry& entry, const void* sendbuf, Numbers sendcounts, Numbers sdispls,
    MPI_Datatype sendtype, void* recvbuf, Numbers recvcounts, Numbers rdispls,
    MPI_Datatype recvtype, MPI_Comm comm
) {
    CollectiveSite site(entry, comm);
    return exchange(
        site, {"sendbuf", sendbuf, &sendcounts, &sdispls, &sendtype},
        {"recvbuf", recvbuf, &recvcounts, &rdispls, &recvtype}
    );
}

int MPI_Neighbor_alltoallw(
    const Entry& entry, const void* sendbuf, Numbers sendcounts, const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void* recvbuf, Numbers recvcounts, const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm
) {
    CollectiveSite site(entry, comm);
    const Numbers sent_to(sdispls);
    const Numbers received_at(rdispls);
    return exchange(
        site, {"sendbuf", sendbuf, &sendcounts, &sent_to, sendtypes, types_each},
        {"recvbuf", recvbuf, &recvcounts, &received_at, recvtypes, types_each}
    );
}

}  // namespace dlrt::mpi
