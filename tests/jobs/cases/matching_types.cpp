// SPDX-License-Identifier: Apache-2.0
/// Case C02: ranks describe the same elements by different counts and types, and every algorithm
/// splits them at the same places. Argument: the largest power of 7 of elements; with "all" behind
/// it, by every algorithm. Any number of ranks from 2 on.
#include "tests/jobs/api/job.hpp"

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace job;

namespace {

/// How a rank sees n groups of `width` 32-bit numbers.
struct View {
    std::int64_t count = 0;
    dlrt_type type{};
    std::int64_t stride = 1;  ///< From number to number in memory.
};

/// Types that live as long as this: all describe the same numbers.
class Views {
  public:
    Views() {
        expect_ok(dlrt_type_contiguous(width, DLRT_INT32, &ten_));
        expect_ok(dlrt_type_resized(DLRT_INT64, 0, 16, &spread_));
    }
    Views(const Views&) = delete;
    Views& operator=(const Views&) = delete;
    ~Views() {
        expect_ok(dlrt_type_free(&ten_));
        expect_ok(dlrt_type_free(&spread_));
    }

    /// Rank 0 counts numbers, the others tens.
    [[nodiscard]] View tens(std::int32_t rank, std::int64_t n) const {
        return rank == 0 ? View{width * n, DLRT_INT32} : View{n, ten_};
    }
    /// Of 64 bits: rank 0's lie close, the others' have gaps.
    [[nodiscard]] View spread(std::int32_t rank, std::int64_t n) const {
        return rank == 0 ? View{n, DLRT_INT64} : View{n, spread_, 2};
    }
    static constexpr std::int64_t width = 10;

  private:
    dlrt_type ten_{}, spread_{};
};

/// What number i of a rank is.
template<typename Number>
Number value_of(std::int32_t rank, std::size_t i) {
    return static_cast<Number>(rank + 1) * Number{1'000'003} + static_cast<Number>(i % 999'983);
}

enum class Form { blocking, nonblocking };
enum class Kind { bcast, allgather, allgatherv };

template<typename Number>
void fill(
    std::vector<Number>& memory, std::size_t begin, std::size_t count, const View& view,
    std::int32_t rank
) {
    const auto stride = static_cast<std::size_t>(view.stride);
    for (std::size_t i = 0; i < count; ++i) {
        memory[(begin + i) * stride] = value_of<Number>(rank, i);
    }
}

template<typename Number>
void expect_numbers(
    const std::vector<Number>& memory, std::size_t begin, std::size_t count, const View& view,
    std::int32_t rank
) {
    const auto stride = static_cast<std::size_t>(view.stride);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = (begin + i) * stride;
        if (memory[at] != value_of<Number>(rank, i)) expect(false, "the sender's number");
        for (std::size_t gap = 1; gap < stride; ++gap) {
            if (memory[at + gap] != Number{-1}) expect(false, "gaps are left alone");
        }
    }
}

void finish(dlrt_err begun, dlrt_request& request) {
    expect_ok(begun);
    expect_ok(dlrt_wait(&request, nullptr));
}

template<typename Number>
void broadcast(const World& world, const View& view, std::size_t numbers, Form form) {
    const std::int32_t root = 0;
    std::vector<Number> memory(numbers * static_cast<std::size_t>(view.stride), Number{-1});
    if (world.rank == root) fill(memory, 0, numbers, view, root);
    dlrt_request request{};
    if (form == Form::blocking) {
        expect_ok(dlrt_bcast(memory.data(), view.count, view.type, root, DLRT_COMM_WORLD));
    } else {
        finish(
            dlrt_ibcast(memory.data(), view.count, view.type, root, DLRT_COMM_WORLD, &request),
            request
        );
    }
    expect_numbers(memory, 0, numbers, view, root);
}

/// In place, so that one view serves both sides.
template<typename Number>
void gather_all(const World& world, const View& view, std::size_t numbers, Form form, Kind kind) {
    const auto size = static_cast<std::size_t>(world.size);
    const auto own = static_cast<std::size_t>(world.rank) * numbers;
    std::vector<Number> memory(size * numbers * static_cast<std::size_t>(view.stride), Number{-1});
    fill(memory, own, numbers, view, world.rank);
    const std::vector<std::int64_t> counts(size, view.count);
    dlrt_request request{};
    void* const out = memory.data();
    if (kind == Kind::allgather && form == Form::blocking) {
        expect_ok(dlrt_allgather(DLRT_IN_PLACE, view.count, view.type, out, DLRT_COMM_WORLD));
    } else if (kind == Kind::allgather) {
        finish(
            dlrt_iallgather(DLRT_IN_PLACE, view.count, view.type, out, DLRT_COMM_WORLD, &request),
            request
        );
    } else if (form == Form::blocking) {
        expect_ok(dlrt_allgatherv(
            DLRT_IN_PLACE, view.count, view.type, out, counts.data(), nullptr, DLRT_COMM_WORLD
        ));
    } else {
        finish(
            dlrt_iallgatherv(
                DLRT_IN_PLACE, view.count, view.type, out, counts.data(), nullptr, DLRT_COMM_WORLD,
                &request
            ),
            request
        );
    }
    for (std::int32_t rank = 0; rank < world.size; ++rank) {
        expect_numbers(memory, static_cast<std::size_t>(rank) * numbers, numbers, view, rank);
    }
}

void try_sizes(std::int64_t groups_max) {
    const World world;
    const Views views;
    for (std::int64_t n = 1; n <= groups_max; n *= 7) {
        const View tens = views.tens(world.rank, n), spread = views.spread(world.rank, n);
        const auto ten_n = static_cast<std::size_t>(Views::width * n);
        for (const Form form : {Form::blocking, Form::nonblocking}) {
            broadcast<std::int32_t>(world, tens, ten_n, form);
            broadcast<std::int64_t>(world, spread, static_cast<std::size_t>(n), form);
            for (const Kind kind : {Kind::allgather, Kind::allgatherv}) {
                gather_all<std::int32_t>(world, tens, ten_n, form, kind);
                gather_all<std::int64_t>(world, spread, static_cast<std::size_t>(n), form, kind);
            }
        }
    }
}

constexpr std::array bcast_algorithms{
    "binomial", "chain", "circulant", "knomial", "scatter_allgather"};
constexpr std::array allgather_algorithms{
    "ring", "bruck", "recursive_doubling", "circulant", "neighbour_exchange", "linear"};

}  // namespace

int main(int argc, char** argv) {
    const std::int64_t groups_max = argc > 1 ? std::atoll(argv[1]) : 1;
    if (argc < 3 || std::string_view(argv[2]) != "all") {
        try_sizes(groups_max);
        return 0;
    }
    for (std::size_t i = 0; i < allgather_algorithms.size(); ++i) {
        const std::string bcast = bcast_algorithms[i % bcast_algorithms.size()];
        const std::string rules = "bcast:" + bcast + ";allgather:" + allgather_algorithms[i];
        // Read by the init that follows.
        ::setenv("DLRT_ALGO", rules.c_str(), 1);
        try_sizes(groups_max);
    }
}
