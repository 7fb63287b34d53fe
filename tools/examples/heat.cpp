// SPDX-License-Identifier: Apache-2.0
/// The 2-D heat equation on a grid of ranks.
///
/// Rank 0 reads a field of temperatures from a file and deals it out in rectangles. In every step
/// the ranks show their edges to their neighbours and then step their own cells; the border of the
/// field keeps its temperatures. In the end rank 0 collects the field, writes it, and with --verify
/// compares it with the serial program's, cell by cell and bit by bit.
///
/// usage: dlrun -np 32 heat [FIELD] [--steps N] [--output FILE] [--verify]
#include "tools/examples/heat_block.hpp"
#include "tools/examples/heat_field.hpp"
#include "tools/examples/options.hpp"

#include <cstring>
#include <iostream>
#include <optional>

namespace {

using namespace examples;

constexpr const char* usage =
    "usage: heat [FIELD] [--steps N] [--output FILE] [--verify]\n"
    "  FIELD          text: rows, columns, temperatures row by row (default: a hot plate)\n"
    "  --steps N      how many steps (default: 200)\n"
    "  --output FILE  where to write the result, in the same form\n"
    "  --verify       compare the result with the serial program's\n";

struct Arguments {
    std::string field;
    std::optional<std::string> output;
    long steps = 0;
    bool is_verified = false;
};

Arguments parse(int count, char** values) {
    Options options(count, values);
    Arguments arguments;
    arguments.steps = options.number("--steps", 200, 0, 1'000'000'000);
    arguments.output = options.text("--output");
    arguments.is_verified = options.flag("--verify");
    arguments.field = options.file(DEFAULT_FIELD);
    return arguments;
}

/// Rank 0 sends every rank, itself too, its part of the field, straight out of the whole array.
void deal_out(const dlrt::Communicator& world, const Grid& grid, const Field& field, Block& block) {
    std::vector<dlrt::Request> sending;
    if (world.rank() == 0) {
        for (int rank = 0; rank < world.size(); ++rank) {
            const dlrt::Type part = Box::of(grid, rank, field.rows, field.columns)
                                        .in_field(field.rows, field.columns);
            const dlrt::ConstElements cells(field.values.data(), 1, part);
            sending.push_back(world.isend(cells, {.to = rank}));
        }
    }
    world.recv(dlrt::Elements(block.data(), 1, block.without_frame()), {.from = 0});
    dlrt::wait_all(sending);
}

/// The reverse.
void collect(const dlrt::Communicator& world, const Grid& grid, Block& block, Field& field) {
    const dlrt::Type cells = block.without_frame();
    dlrt::Request sending = world.isend(dlrt::ConstElements(block.data(), 1, cells), {.to = 0});
    if (world.rank() == 0) {
        for (int rank = 0; rank < world.size(); ++rank) {
            const dlrt::Type part = Box::of(grid, rank, field.rows, field.columns)
                                        .in_field(field.rows, field.columns);
            world.recv(dlrt::Elements(field.values.data(), 1, part), {.from = rank});
        }
    }
    sending.wait();
}

/// Steps the cells of one block, all but those on the border of the field. Returns the largest
/// change.
double advance(const Block& old, Block& next, const Box& box, const Field& size) {
    const std::int64_t from_row = box.first_row == 0 ? 1 : 0;
    const std::int64_t from_column = box.first_column == 0 ? 1 : 0;
    const std::int64_t to_row = box.rows - (box.first_row + box.rows == size.rows ? 1 : 0);
    const std::int64_t to_column = box.columns -
                                   (box.first_column + box.columns == size.columns ? 1 : 0);
    double largest_change = 0;
    for (std::int64_t row = from_row; row < to_row; ++row) {
        for (std::int64_t column = from_column; column < to_column; ++column) {
            const double here = old.at(row, column);
            next.at(row, column) = next_temperature(
                here, old.at(row - 1, column), old.at(row + 1, column), old.at(row, column - 1),
                old.at(row, column + 1)
            );
            largest_change = std::max(largest_change, std::fabs(next.at(row, column) - here));
        }
    }
    return largest_change;
}

/// Steps the field of rank 0. Returns the largest change of a cell in the last step, on all ranks.
double solve(const dlrt::Communicator& world, const Grid& grid, Field& field, long steps) {
    const Box box = Box::of(grid, world.rank(), field.rows, field.columns);
    // Two blocks: one with the temperatures of this step, one for the next step's.
    Block block(box), other(box);
    deal_out(world, grid, field, block);
    other = block;
    HaloExchange halo(world, grid, block), other_halo(world, grid, other);

    double largest_change = 0;
    for (long step = 0; step < steps; ++step) {
        const bool is_even = step % 2 == 0;
        (is_even ? halo : other_halo).run();
        largest_change = is_even ? advance(block, other, box, field)
                                 : advance(other, block, box, field);
    }
    collect(world, grid, steps % 2 == 0 ? block : other, field);
    return world.max(largest_change);
}

/// Whether the parallel result is the serial program's.
bool is_same_as_serial(Field initial, long steps, const Field& result, double largest_change) {
    const double serial_change = solve_serially(initial, steps);
    const std::size_t size_bytes = initial.values.size() * sizeof(double);
    return serial_change == largest_change &&
           std::memcmp(initial.values.data(), result.values.data(), size_bytes) == 0;
}

/// Returns the exit status.
int run(const dlrt::Communicator& world, const Arguments& arguments) {
    const bool is_root = world.rank() == 0;
    Field field;
    if (is_root) field = read_field(arguments.field);
    world.bcast(field.rows, 0);
    world.bcast(field.columns, 0);
    const Field initial = field;

    const Grid grid = Grid::of(world.size());
    if (field.rows < grid.rows || field.columns < grid.columns) {
        throw UsageError(
            "a field of " + std::to_string(field.rows) + " x " + std::to_string(field.columns) +
            " cells is too small for " + std::to_string(grid.rows) + " x " +
            std::to_string(grid.columns) + " ranks"
        );
    }
    const double largest_change = solve(world, grid, field, arguments.steps);
    if (!is_root) return 0;

    std::cout << "heat: " << field.rows << " x " << field.columns << " cells on " << grid.rows
              << " x " << grid.columns << " ranks, " << arguments.steps
              << " steps; largest change in the last step " << largest_change << '\n';
    if (arguments.output) write_field(field, *arguments.output);
    if (!arguments.is_verified) return 0;
    if (!is_same_as_serial(initial, arguments.steps, field, largest_change)) {
        std::cout << "heat: the result is NOT the serial program's\n";
        return 1;
    }
    std::cout << "heat: the result is the serial program's, bit by bit\n";
    return 0;
}

}  // namespace

int main(int count, char** values) {
    dlrt::Session session;
    // What every rank finds out by itself, one of them says; what one finds out alone ends the job.
    const bool is_speaker = session.world.rank() == 0;
    try {
        if (Options(count, values).flag("--help")) {
            if (is_speaker) std::cout << usage;
            return 0;
        }
        return run(session.world, parse(count, values));
    } catch (const UsageError& error) {
        if (is_speaker) std::cerr << "heat: " << error.what() << '\n' << usage;
        return 2;
    } catch (const std::exception& error) {
        dlrt::abort(1, std::string("heat: ") + error.what());
    }
}
