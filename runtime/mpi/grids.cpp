// SPDX-License-Identifier: Apache-2.0
/// Chapter: Cartesian topologies.
#include "runtime/mpi/topology_site.hpp"
#include "runtime/topology_create.hpp"

#include <algorithm>
#include <mpi_functions.hpp>
#include <ranges>
#include <span>

namespace dlrt::mpi {
namespace {

static_assert(coll::no_neighbour == -1);

/// From the core's word for nobody.
int to_rank(std::int32_t rank) {
    return rank == coll::no_neighbour ? MPI_PROC_NULL : rank;
}

int make_dimensions(
    const Site& site, int ndims, const int* dims, const int* periods,
    std::vector<coll::Grid::Dimension>& dimensions
) {
    if (ndims < 0) return site.bad(MPI_ERR_DIMS, "ndims {} is negative", ndims);
    if (ndims > 0 && (dims == nullptr || periods == nullptr)) {
        return site.bad(MPI_ERR_ARG, "dims or periods is null");
    }
    std::int64_t rank_count = 1;
    for (int i = 0; i < ndims; ++i) {
        if (dims[i] < 1) return site.bad(MPI_ERR_DIMS, "dims[{}] is {}, below 1", i, dims[i]);
        dimensions.push_back({dims[i], periods[i] != 0});
        rank_count *= dims[i];
        if (rank_count <= site.core().size()) continue;
        return site.bad(
            MPI_ERR_DIMS, "the grid has more ranks than the {} of the communicator",
            site.core().size()
        );
    }
    return MPI_SUCCESS;
}

TopologyFacts grid_facts() {
    TopologyFacts facts;
    facts.kind = MPI_CART;
    return facts;
}

int open_grid(const Site& site) {
    if (!site.ok()) return site.error();
    const int wrong = require_kind(site, MPI_CART);
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

}  // namespace

int MPI_Cart_create(
    MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int, MPI_Comm* comm_cart
) {
    const Site site("MPI_Cart_create", comm_old);
    if (!site.ok()) return site.error();
    std::vector<coll::Grid::Dimension> dimensions;
    int wrong = require_intra(site);
    if (wrong == MPI_SUCCESS) wrong = site.require(comm_cart, "comm_cart");
    if (wrong == MPI_SUCCESS) wrong = make_dimensions(site, ndims, dims, periods, dimensions);
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    const FlightMark mark(site.surface(), record_of(Call::comm_create, site.core()));
    const auto made = create_cart(site.core(), coll::Grid(std::move(dimensions)), new_context);
    wrong = give_topology(site, made, grid_facts(), comm_cart);
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

int MPI_Cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int* newrank) {
    const Site site("MPI_Cart_map", comm);
    if (!site.ok()) return site.error();
    std::vector<coll::Grid::Dimension> dimensions;
    int wrong = require_intra(site);
    if (wrong == MPI_SUCCESS) wrong = site.require(newrank, "newrank");
    if (wrong == MPI_SUCCESS) wrong = make_dimensions(site, ndims, dims, periods, dimensions);
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    const coll::Grid grid(std::move(dimensions));
    const int rank = site.core().rank();
    *newrank = rank < grid.rank_count() ? rank : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

int MPI_Cartdim_get(MPI_Comm comm, int* ndims) {
    const Site site("MPI_Cartdim_get", comm);
    if (const int code = open_grid(site)) return code;
    if (const int wrong = site.require(ndims, "ndims")) return site.raise(wrong);
    *ndims = static_cast<int>(grid_of(site).dimensions().size());
    return MPI_SUCCESS;
}

int MPI_Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]) {
    const Site site("MPI_Cart_get", comm);
    if (const int code = open_grid(site)) return code;
    const coll::Grid& grid = grid_of(site);
    const auto dimensions = grid.dimensions();
    if (maxdims < static_cast<int>(dimensions.size())) {
        return site.raise(MPI_ERR_ARG, "maxdims {} is below {}", maxdims, dimensions.size());
    }
    if (!dimensions.empty() && (dims == nullptr || periods == nullptr || coords == nullptr)) {
        return site.raise(MPI_ERR_ARG, "an array is null");
    }
    const std::vector<std::int32_t> own = grid.coordinates_of(site.core().rank());
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
        dims[i] = dimensions[i].size;
        periods[i] = dimensions[i].is_periodic ? 1 : 0;
        coords[i] = own[i];
    }
    return MPI_SUCCESS;
}

int MPI_Cart_rank(MPI_Comm comm, const int coords[], int* rank) {
    const Site site("MPI_Cart_rank", comm);
    if (const int code = open_grid(site)) return code;
    const coll::Grid& grid = grid_of(site);
    const std::size_t count = grid.dimensions().size();
    if (const int wrong = site.require(rank, "rank")) return site.raise(wrong);
    if (count > 0) {
        if (const int wrong = site.require(coords, "coords")) return site.raise(wrong);
    }
    const std::int32_t found = grid.rank_at({coords, count});
    if (found == coll::no_neighbour) {
        return site.raise(
            MPI_ERR_ARG, "the coordinates are outside of a dimension that isn't periodic"
        );
    }
    *rank = found;
    return MPI_SUCCESS;
}

int MPI_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[]) {
    const Site site("MPI_Cart_coords", comm);
    if (const int code = open_grid(site)) return code;
    const coll::Grid& grid = grid_of(site);
    const auto count = static_cast<int>(grid.dimensions().size());
    if (const int wrong = check_rank(site, rank)) return site.raise(wrong);
    if (maxdims < count) return site.raise(MPI_ERR_ARG, "maxdims {} is below {}", maxdims, count);
    if (count > 0) {
        if (const int wrong = site.require(coords, "coords")) return site.raise(wrong);
    }
    std::ranges::copy(grid.coordinates_of(rank), coords);
    return MPI_SUCCESS;
}

int MPI_Cart_shift(MPI_Comm comm, int direction, int disp, int* rank_source, int* rank_dest) {
    const Site site("MPI_Cart_shift", comm);
    if (const int code = open_grid(site)) return code;
    const coll::Grid& grid = grid_of(site);
    const auto count = static_cast<int>(grid.dimensions().size());
    if (direction < 0 || direction >= count) {
        return site.raise(MPI_ERR_ARG, "direction {} is not in 0..{}", direction, count - 1);
    }
    if (const int wrong = site.require(rank_source, "rank_source")) return site.raise(wrong);
    if (const int wrong = site.require(rank_dest, "rank_dest")) return site.raise(wrong);
    const std::int32_t own = site.core().rank();
    const auto dimension = static_cast<std::size_t>(direction);
    *rank_source = to_rank(grid.rank_from(own, dimension, -std::int64_t{disp}));
    *rank_dest = to_rank(grid.rank_from(own, dimension, disp));
    return MPI_SUCCESS;
}

int MPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm* newcomm) {
    const Site site("MPI_Cart_sub", comm);
    if (const int code = open_grid(site)) return code;
    const coll::Grid& grid = grid_of(site);
    const auto dimensions = grid.dimensions();
    if (const int wrong = site.require(newcomm, "newcomm")) return site.raise(wrong);
    if (!dimensions.empty()) {
        if (const int wrong = site.require(remain_dims, "remain_dims")) return site.raise(wrong);
    }
    // Ranks of one subgrid have the same coordinates in the dimensions that go.
    std::vector<coll::Grid::Dimension> kept;
    std::int32_t color = 0;
    std::int32_t key = 0;
    const std::vector<std::int32_t> own = grid.coordinates_of(site.core().rank());
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
        const bool remains = remain_dims[i] != 0;
        std::int32_t& number = remains ? key : color;
        number = number * dimensions[i].size + own[i];
        if (remains) kept.push_back(dimensions[i]);
    }
    const FlightMark mark(site.surface(), record_of(Call::comm_split, site.core()));
    Result<CommunicatorRef> made = split(site.core(), {color, key}, new_context);
    if (made) {
        const CommunicatorRef members = *made;
        made = create_cart(*members, coll::Grid(std::move(kept)), new_context);
        retire(*members);
    }
    const int wrong = give_topology(site, made, grid_facts(), newcomm);
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

int MPI_Topo_test(MPI_Comm comm, int* status) {
    const Site site("MPI_Topo_test", comm);
    if (!site.ok()) return site.error();
    if (const int wrong = site.require(status, "status")) return site.raise(wrong);
    *status = site.comm().topology.kind;
    return MPI_SUCCESS;
}

namespace {

std::int64_t power(int base, std::size_t exponent) {
    std::int64_t result = 1;
    for (std::size_t i = 0; i < exponent && result < (std::int64_t{1} << 32); ++i) result *= base;
    return result;
}

/// Rising.
std::vector<int> divisors_of(int number) {
    std::vector<int> low, high;
    for (int i = 1; i <= number / i; ++i) {
        if (number % i != 0) continue;
        low.push_back(i);
        if (i != number / i) high.push_back(number / i);
    }
    low.insert(low.end(), high.rbegin(), high.rend());
    return low;
}

/// The box of so many ranks, the longest side first, whose sides are divisors within limits. Of
/// several the one whose shortest side is longest, then the side before that, and so on.
bool find_sides(
    int rank_count, std::span<int> sides, std::span<const int> divisors, int shortest, int longest
) {
    if (sides.size() == 1) {
        sides[0] = rank_count;
        return rank_count >= shortest && rank_count <= longest;
    }
    const auto end = std::ranges::upper_bound(divisors, longest);
    const auto begin = std::ranges::lower_bound(divisors.begin(), end, shortest);
    for (const int side : std::ranges::subrange(begin, end) | std::views::reverse) {
        // No other side is shorter than this one, and none longer than the limit.
        if (rank_count % side != 0 || power(side, sides.size()) > rank_count) continue;
        if (power(longest, sides.size() - 1) < rank_count / side) return false;
        sides.back() = side;
        const std::span<int> others = sides.first(sides.size() - 1);
        if (find_sides(rank_count / side, others, divisors, side, longest)) return true;
    }
    return false;
}

/// The box whose longest and shortest sides differ least; of several as find_sides() says.
std::vector<int> balanced_sides(int rank_count, std::size_t count) {
    std::vector<int> best(count, 1);
    if (count == 0) return best;
    const std::vector<int> divisors = divisors_of(rank_count);
    std::vector<int> sides(count, 1);
    // More than any two sides differ.
    std::int64_t difference = rank_count;
    for (const int shortest : divisors | std::views::reverse) {
        if (power(shortest, count) > rank_count) continue;
        for (;;) {
            const auto longest = static_cast<int>(
                std::min<std::int64_t>(rank_count, shortest + difference - 1)
            );
            if (power(longest, count) < rank_count) return best;
            if (!find_sides(rank_count, sides, divisors, shortest, longest)) break;
            best = sides;
            difference = sides.front() - sides.back();
        }
    }
    return best;
}

}  // namespace

int MPI_Dims_create(int nnodes, int ndims, int dims[]) {
    const Site site("MPI_Dims_create");
    if (!site.ok()) return site.error();
    if (nnodes < 1) return site.raise(MPI_ERR_ARG, "nnodes {} is below 1", nnodes);
    if (ndims < 0) return site.raise(MPI_ERR_DIMS, "ndims {} is negative", ndims);
    if (ndims > 0) {
        if (const int wrong = site.require(dims, "dims")) return site.raise(wrong);
    }
    std::int64_t given = 1;
    std::size_t open = 0;
    for (int i = 0; i < ndims; ++i) {
        if (dims[i] < 0) return site.raise(MPI_ERR_DIMS, "dims[{}] is {}", i, dims[i]);
        open += dims[i] == 0 ? 1 : 0;
        if (dims[i] != 0) given *= dims[i];
    }
    if (open == 0 && given == nnodes) return MPI_SUCCESS;
    if (nnodes % given != 0 || open == 0) {
        return site.raise(
            MPI_ERR_DIMS, "{} ranks are not a multiple of the {} of the dimensions given", nnodes,
            given
        );
    }
    const auto rest = static_cast<int>(nnodes / given);
    const std::vector<int> sides = balanced_sides(rest, open);
    std::size_t next = 0;
    for (int i = 0; i < ndims; ++i) {
        if (dims[i] == 0) dims[i] = sides[next++];
    }
    return MPI_SUCCESS;
}

}  // namespace dlrt::mpi
