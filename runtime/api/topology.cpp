// SPDX-License-Identifier: Apache-2.0
/// Communicators whose ranks have neighbours: their creation, and questions about them.
#include "runtime/api/call_group.hpp"
#include "runtime/api/communicator_site.hpp"
#include "runtime/topology_create.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

static_assert(dlrt::coll::no_neighbour == DLRT_PROC_NULL);

namespace dlrt::api {
namespace {

/// A list as its caller describes it.
struct RankList {
    const char* name;
    std::int32_t count;
    const std::int32_t* ranks;
    [[nodiscard]] std::span<const std::int32_t> span() const {
        return {ranks, static_cast<std::size_t>(count)};
    }
};

Status check_length(const Site& site, const RankList& list) {
    if (list.count < 0) {
        return site.fail(Errc::count, "the number of {} is {}, negative", list.name, list.count);
    }
    if (list.count > 0) return site.require(list.ranks, list.name);
    return {};
}

Status check_rank(const Site& site, const Communicator& comm, std::int32_t rank) {
    if (rank >= 0 && rank < comm.size()) return {};
    return site.fail(Errc::rank, "rank {} is not in 0..{}", rank, comm.size() - 1);
}

Status check_ranks(const Site& site, const Communicator& comm, const RankList& list) {
    if (const Status bad = check_length(site, list); !bad.ok()) return bad;
    for (const std::int32_t rank : list.span()) {
        if (const Status bad = check_rank(site, comm, rank); !bad.ok()) return bad;
    }
    return {};
}

/// A communicator with neighbours.
Status use_topology(const Site& site, dlrt_comm comm, Use<Communicator>& use) {
    if (const Status bad = site.use(comm, use); !bad.ok()) return bad;
    return check_topology(site, *use.pointer);
}

Status use_grid(const Site& site, dlrt_comm comm, Use<Communicator>& use) {
    if (const Status bad = use_topology(site, comm, use); !bad.ok()) return bad;
    if (use.pointer->topology()->grid() != nullptr) return {};
    return site.fail(
        Errc::communicator, "the communicator is a graph, not a grid by dlrt_comm_create_cart"
    );
}

/// Coordinates, where there are dimensions.
Status require_list(const Site& site, const coll::Grid& grid, const std::int32_t* coordinates) {
    return grid.dimensions().empty() ? Status{} : site.require(coordinates, "coordinates");
}

/// Empty where it has said what is wrong.
std::optional<coll::Grid> make_grid(
    const Site& site, const Communicator& comm, const RankList& sizes, const int* periodic
) {
    std::vector<coll::Grid::Dimension> dimensions;
    std::int64_t rank_count = 1;
    for (const std::int32_t size : sizes.span()) {
        if (size < 1) {
            static_cast<void>(site.fail(
                Errc::argument, "size {} of dimension {} is below 1", size, dimensions.size()
            ));
            return std::nullopt;
        }
        dimensions.push_back({size, periodic[dimensions.size()] != 0});
        rank_count *= size;
        if (rank_count <= comm.size()) continue;
        static_cast<void>(site.fail(
            Errc::argument, "the sizes make a grid of more ranks than the {} of the communicator",
            comm.size()
        ));
        return std::nullopt;
    }
    return coll::Grid(std::move(dimensions));
}

void write_ranks(
    const std::vector<coll::Link>& links, std::int32_t count_max, std::int32_t* ranks
) {
    const std::size_t count = std::min(links.size(), static_cast<std::size_t>(count_max));
    for (std::size_t i = 0; i < count; ++i) ranks[i] = links[i].rank;
}

}  // namespace
}  // namespace dlrt::api

using namespace dlrt;
using namespace dlrt::api;

dlrt_err dlrt_comm_create_graph(
    dlrt_comm comm, int32_t in_count, const int32_t* sources, int32_t out_count,
    const int32_t* targets, dlrt_comm* result
) {
    const Site site("dlrt_comm_create_graph");
    if (!site.is_ready()) return site.error();
    if (const Status bad = refuse_within_group(site); !bad.ok()) return to_c(bad);
    Use<Communicator> use;
    const RankList in{"sources", in_count, sources};
    const RankList out{"targets", out_count, targets};
    if (const Status bad = site.require(result, "result"); !bad.ok()) return to_c(bad);
    if (const Status bad = use_one_group(site, comm, use); !bad.ok()) return to_c(bad);
    if (const Status bad = check_ranks(site, *use.pointer, in); !bad.ok()) return to_c(bad);
    if (const Status bad = check_ranks(site, *use.pointer, out); !bad.ok()) return to_c(bad);
    const FlightMark mark(site, record_of(Call::comm_create, *use.pointer));
    const OwnEdges edges{in.span(), out.span()};
    return give_created(site, create_graph(*use.pointer, edges, new_context), result);
}

dlrt_err dlrt_comm_create_cart(
    dlrt_comm comm, int32_t dimensions, const int32_t* sizes, const int* periodic, dlrt_comm* result
) {
    const Site site("dlrt_comm_create_cart");
    if (!site.is_ready()) return site.error();
    if (const Status bad = refuse_within_group(site); !bad.ok()) return to_c(bad);
    Use<Communicator> use;
    if (const Status bad = site.require(result, "result"); !bad.ok()) return to_c(bad);
    if (const Status bad = use_one_group(site, comm, use); !bad.ok()) return to_c(bad);
    const RankList list{"sizes", dimensions, sizes};
    if (dimensions < 0) {
        return to_c(site.fail(Errc::argument, "{} dimensions: the number is negative", dimensions));
    }
    if (const Status bad = check_length(site, list); !bad.ok()) return to_c(bad);
    if (dimensions > 0) {
        if (const Status bad = site.require(periodic, "periodic"); !bad.ok()) return to_c(bad);
    }
    const std::optional<coll::Grid> grid = make_grid(site, *use.pointer, list, periodic);
    if (!grid) return DLRT_ERR_ARG;
    const FlightMark mark(site, record_of(Call::comm_create, *use.pointer));
    return give_created(site, create_cart(*use.pointer, *grid, new_context), result);
}

dlrt_err dlrt_cart_coordinates(dlrt_comm comm, int32_t rank, int32_t* coordinates) {
    const Site site("dlrt_cart_coordinates");
    if (!site.is_ready()) return site.error();
    Use<Communicator> use;
    if (const Status bad = use_grid(site, comm, use); !bad.ok()) return to_c(bad);
    const coll::Grid& grid = *use.pointer->topology()->grid();
    if (const Status bad = require_list(site, grid, coordinates); !bad.ok()) return to_c(bad);
    if (const Status bad = check_rank(site, *use.pointer, rank); !bad.ok()) return to_c(bad);
    std::ranges::copy(grid.coordinates_of(rank), coordinates);
    return DLRT_OK;
}

dlrt_err dlrt_cart_rank(dlrt_comm comm, const int32_t* coordinates, int32_t* rank) {
    const Site site("dlrt_cart_rank");
    if (!site.is_ready()) return site.error();
    Use<Communicator> use;
    if (const Status bad = site.require(rank, "rank"); !bad.ok()) return to_c(bad);
    if (const Status bad = use_grid(site, comm, use); !bad.ok()) return to_c(bad);
    const coll::Grid& grid = *use.pointer->topology()->grid();
    if (const Status bad = require_list(site, grid, coordinates); !bad.ok()) return to_c(bad);
    *rank = grid.rank_at({coordinates, grid.dimensions().size()});
    return DLRT_OK;
}

dlrt_err dlrt_cart_shift(
    dlrt_comm comm, int32_t dimension, int32_t displacement, int32_t* source, int32_t* target
) {
    const Site site("dlrt_cart_shift");
    if (!site.is_ready()) return site.error();
    Use<Communicator> use;
    if (const Status bad = site.require(source, "source"); !bad.ok()) return to_c(bad);
    if (const Status bad = site.require(target, "target"); !bad.ok()) return to_c(bad);
    if (const Status bad = use_grid(site, comm, use); !bad.ok()) return to_c(bad);
    const coll::Grid& grid = *use.pointer->topology()->grid();
    const auto index = static_cast<std::size_t>(dimension);
    if (dimension < 0 || index >= grid.dimensions().size()) {
        return to_c(site.fail(
            Errc::argument, "dimension {} of a grid of {} dimensions", dimension,
            grid.dimensions().size()
        ));
    }
    const std::int32_t rank = use.pointer->rank();
    *source = grid.rank_from(rank, index, -std::int64_t{displacement});
    *target = grid.rank_from(rank, index, displacement);
    return DLRT_OK;
}

dlrt_err dlrt_neighbor_count(dlrt_comm comm, int32_t* in_count, int32_t* out_count) {
    const Site site("dlrt_neighbor_count");
    if (!site.is_ready()) return site.error();
    Use<Communicator> use;
    if (const Status bad = site.require(in_count, "in_count"); !bad.ok()) return to_c(bad);
    if (const Status bad = site.require(out_count, "out_count"); !bad.ok()) return to_c(bad);
    if (const Status bad = use_topology(site, comm, use); !bad.ok()) return to_c(bad);
    const coll::Neighbours& neighbours = use.pointer->topology()->neighbours();
    *in_count = static_cast<std::int32_t>(neighbours.sources.size());
    *out_count = static_cast<std::int32_t>(neighbours.targets.size());
    return DLRT_OK;
}

dlrt_err dlrt_neighbors(
    dlrt_comm comm, int32_t in_max, int32_t* sources, int32_t out_max, int32_t* targets
) {
    const Site site("dlrt_neighbors");
    if (!site.is_ready()) return site.error();
    Use<Communicator> use;
    if (const Status bad = use_topology(site, comm, use); !bad.ok()) return to_c(bad);
    const Status bad_in = check_length(site, {"sources", in_max, sources});
    if (!bad_in.ok()) return to_c(bad_in);
    const Status bad_out = check_length(site, {"targets", out_max, targets});
    if (!bad_out.ok()) return to_c(bad_out);
    const coll::Neighbours& neighbours = use.pointer->topology()->neighbours();
    write_ranks(neighbours.sources, in_max, sources);
    write_ranks(neighbours.targets, out_max, targets);
    return DLRT_OK;
}
