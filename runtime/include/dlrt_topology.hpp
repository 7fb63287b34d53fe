// SPDX-License-Identifier: Apache-2.0
/// The part of dlrt.hpp that deals with ranks that have neighbours, and exchanges among these.
/// Include dlrt.hpp, not this.
// dlrt.hpp includes this file in its right place.
#ifndef DLRT_HPP
#include "dlrt.hpp"
#endif

#ifndef DLRT_TOPOLOGY_HPP
#define DLRT_TOPOLOGY_HPP

#include "dlrt_collective.hpp"

namespace dlrt {
inline namespace cpp {

struct GridDimension {
    std::int32_t size = 1;
    bool is_periodic = false;
};

/// The ranks for a shift along a dimension; no_process beyond a border.
struct GridShift {
    std::int32_t source = no_process;
    std::int32_t target = no_process;
};

/// In the order of their blocks; no_process beyond the border of a grid.
struct Neighbors {
    std::vector<std::int32_t> sources;
    std::vector<std::int32_t> targets;
};

/// What communicators by create_graph() and create_cart() can do besides; for others it throws.
/// Forms and checks are those of Collectives, with a block for each neighbour.
class NeighborExchanges : public Collectives {
  private:
    [[nodiscard]] std::int32_t in_count() const { return counts().first; }
    [[nodiscard]] std::int32_t out_count() const { return counts().second; }
    [[nodiscard]] std::pair<std::int32_t, std::int32_t> counts() const {
        std::pair<std::int32_t, std::int32_t> counts;
        check(dlrt_neighbor_count(comm_, &counts.first, &counts.second));
        return counts;
    }
    [[nodiscard]] Partners sources() const { return {in_count(), "sources"}; }
    [[nodiscard]] Partners targets() const { return {out_count(), "targets"}; }

    template<typename Function>
    auto do_spread(Function function, ConstElements input, Elements output) const {
        match(input, input.count * in_count(), output, output.count);
        return call(function, input.data, input.count, input.type, output.address(), comm_);
    }
    template<typename Function>
    auto do_spreadv(Function function, ConstElements input, Elements output, Blocks blocks) const {
        fit(input, output, blocks, sources());
        return call(
            function, input.data, input.count, input.type, output.address(), blocks.counts.data(),
            start_of(blocks), comm_
        );
    }
    template<typename Function>
    auto do_trade(Function function, ConstElements input, Elements output) const {
        const auto [in, out] = counts();
        const std::int64_t one = out > 0 ? input.count / out : in > 0 ? output.count / in : 0;
        match(input, one * out, input, input.count);
        match(input, one * in, output, output.count);
        return call(function, input.data, output.address(), one, input.type, comm_);
    }
    template<typename Function>
    auto do_tradev(
        Function function, ConstElements input, Blocks sent, Elements output, Blocks received
    ) const {
        fit(output, input, sent, targets());
        fit(input, output, received, sources());
        return call(
            function, input.data, sent.counts.data(), start_of(sent), output.address(),
            received.counts.data(), start_of(received), input.type, comm_
        );
    }
    template<typename Function>
    auto do_tradew(
        Function function, const void* input, const TypedBlocks& sent, void* output,
        const TypedBlocks& received
    ) const {
        one_each(sent, targets());
        one_each(received, sources());
        return call(
            function, input, sent.counts.data(), sent.displacements_bytes.data(), sent.types.data(),
            output, received.counts.data(), received.displacements_bytes.data(),
            received.types.data(), comm_
        );
    }

  public:
    [[nodiscard]] Neighbors neighbors() const {
        Neighbors found;
        found.sources.resize(static_cast<std::size_t>(in_count()));
        found.targets.resize(static_cast<std::size_t>(out_count()));
        check(dlrt_neighbors(
            comm_, in_count(), found.sources.data(), out_count(), found.targets.data()
        ));
        return found;
    }
    /// Of a grid.
    [[nodiscard]] std::vector<std::int32_t> cart_coordinates(int rank) const {
        // Two neighbours in each dimension.
        std::vector<std::int32_t> coordinates(static_cast<std::size_t>(in_count() / 2));
        std::int32_t none = 0;
        check(dlrt_cart_coordinates(comm_, rank, coordinates.empty() ? &none : coordinates.data()));
        return coordinates;
    }
    /// no_process outside of a dimension that isn't periodic.
    [[nodiscard]] int cart_rank(std::span<const std::int32_t> coordinates) const {
        one_each(coordinates.size(), {in_count() / 2, "dimensions"});
        std::int32_t rank = no_process;
        check(dlrt_cart_rank(comm_, coordinates.data(), &rank));
        return rank;
    }
    [[nodiscard]] GridShift cart_shift(int dimension, int displacement) const {
        GridShift shift;
        check(dlrt_cart_shift(comm_, dimension, displacement, &shift.source, &shift.target));
        return shift;
    }

    /// The input goes to all targets; the output has one block of its length for each source.
    void neighbor_allgather(ConstElements input, Elements output) const {
        do_spread(dlrt_neighbor_allgather, input, output);
    }
    template<Lasting I, Lasting O>
    Request ineighbor_allgather(I&& input, O&& output) const {
        return do_spread(dlrt_ineighbor_allgather, input, output);
    }
    template<Lasting I, Lasting O>
    Request neighbor_allgather_init(I&& input, O&& output) const {
        return do_spread(dlrt_neighbor_allgather_init, input, output);
    }
    void neighbor_allgatherv(ConstElements input, Elements output, Blocks blocks) const {
        do_spreadv(dlrt_neighbor_allgatherv, input, output, blocks);
    }
    template<Lasting I, Lasting O>
    Request ineighbor_allgatherv(I&& input, O&& output, Blocks blocks) const {
        return do_spreadv(dlrt_ineighbor_allgatherv, input, output, blocks);
    }
    template<Lasting I, Lasting O>
    Request neighbor_allgatherv_init(I&& input, O&& output, Blocks blocks) const {
        return do_spreadv(dlrt_neighbor_allgatherv_init, input, output, blocks);
    }

    /// The input has one block for each target, the output one for each source, all of one length.
    void neighbor_alltoall(ConstElements input, Elements output) const {
        do_trade(dlrt_neighbor_alltoall, input, output);
    }
    template<Lasting I, Lasting O>
    Request ineighbor_alltoall(I&& input, O&& output) const {
        return do_trade(dlrt_ineighbor_alltoall, input, output);
    }
    template<Lasting I, Lasting O>
    Request neighbor_alltoall_init(I&& input, O&& output) const {
        return do_trade(dlrt_neighbor_alltoall_init, input, output);
    }
    void neighbor_alltoallv(ConstElements input, Blocks sent, Elements output, Blocks received)
        const {
        do_tradev(dlrt_neighbor_alltoallv, input, sent, output, received);
    }
    template<Lasting I, Lasting O>
    Request ineighbor_alltoallv(I&& input, Blocks sent, O&& output, Blocks received) const {
        return do_tradev(dlrt_ineighbor_alltoallv, input, sent, output, received);
    }
    template<Lasting I, Lasting O>
    Request neighbor_alltoallv_init(I&& input, Blocks sent, O&& output, Blocks received) const {
        return do_tradev(dlrt_neighbor_alltoallv_init, input, sent, output, received);
    }
    void neighbor_alltoallw(
        const void* input, const TypedBlocks& sent, void* output, const TypedBlocks& received
    ) const {
        do_tradew(dlrt_neighbor_alltoallw, input, sent, output, received);
    }
    Request ineighbor_alltoallw(
        const void* input, const TypedBlocks& sent, void* output, const TypedBlocks& received
    ) const {
        return do_tradew(dlrt_ineighbor_alltoallw, input, sent, output, received);
    }
    Request neighbor_alltoallw_init(
        const void* input, const TypedBlocks& sent, void* output, const TypedBlocks& received
    ) const {
        return do_tradew(dlrt_neighbor_alltoallw_init, input, sent, output, received);
    }

  protected:
    using Collectives::Collectives;
    ~NeighborExchanges() = default;
};

}  // namespace cpp
}  // namespace dlrt

#endif  // DLRT_TOPOLOGY_HPP
