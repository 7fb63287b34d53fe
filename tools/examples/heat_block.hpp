// SPDX-License-Identifier: Apache-2.0
/// How heat.cpp deals a field out to the ranks: who has which part, where a rank keeps its part,
/// and how neighbours show each other their edges.
#pragma once

#include <dlrt.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace examples {

/// The ranks as a grid, as near to a square as their number allows; ranks count row by row.
struct Grid {
    int rows = 1;
    int columns = 1;

    static Grid of(int ranks) {
        int rows = static_cast<int>(std::sqrt(ranks));
        while (ranks % rows != 0) --rows;
        return {rows, ranks / rows};
    }
    /// The rank at a place; outside of the grid is nobody, and messages with nobody are no-ops.
    [[nodiscard]] int rank_at(int row, int column) const {
        const bool is_inside = row >= 0 && row < rows && column >= 0 && column < columns;
        return is_inside ? row * columns + column : dlrt::no_process;
    }
};

/// A rectangle of a field's cells.
struct Box {
    std::int64_t first_row, first_column, rows, columns;

    /// The box of one rank. Sizes differ by one row and column at most.
    static Box of(const Grid& grid, int rank, std::int64_t rows, std::int64_t columns) {
        const int row = rank / grid.columns, column = rank % grid.columns;
        const auto start = [](std::int64_t cells, int part, int parts) {
            return cells * part / parts;
        };
        const std::int64_t first_row = start(rows, row, grid.rows);
        const std::int64_t first_column = start(columns, column, grid.columns);
        return {
            first_row, first_column, start(rows, row + 1, grid.rows) - first_row,
            start(columns, column + 1, grid.columns) - first_column};
    }

    /// Where these cells are in an array of the whole field.
    [[nodiscard]] dlrt::Type in_field(std::int64_t field_rows, std::int64_t field_columns) const {
        return dlrt::Type::subarray(
            std::array{field_rows, field_columns}, std::array{rows, columns},
            std::array{first_row, first_column}, dlrt::Type::of<double>()
        );
    }
};

/// One rank's cells, framed by a row or column of the neighbours' cells on each side.
class Block {
  public:
    explicit Block(const Box& box)
        : rows_(box.rows),
          columns_(box.columns),
          values_(static_cast<std::size_t>((rows_ + 2) * (columns_ + 2))) {}

    [[nodiscard]] std::int64_t rows() const { return rows_; }
    [[nodiscard]] std::int64_t columns() const { return columns_; }
    /// The frame is at -1 and at rows() or columns().
    double& at(std::int64_t row, std::int64_t column) { return values_[index(row, column)]; }
    double at(std::int64_t row, std::int64_t column) const { return values_[index(row, column)]; }

    double* data() { return values_.data(); }
    /// Where the cells within the frame are, from data() on.
    [[nodiscard]] dlrt::Type without_frame() const {
        return Box{1, 1, rows_, columns_}.in_field(rows_ + 2, columns_ + 2);
    }
    /// A row is contiguous; in a column the cells are a row apart.
    [[nodiscard]] dlrt::Type row_type() const {
        return dlrt::Type::contiguous(columns_, dlrt::Type::of<double>());
    }
    [[nodiscard]] dlrt::Type column_type() const {
        return dlrt::Type::vector(rows_, 1, columns_ + 2, dlrt::Type::of<double>());
    }

  private:
    [[nodiscard]] std::size_t index(std::int64_t row, std::int64_t column) const {
        return static_cast<std::size_t>((row + 1) * (columns_ + 2) + column + 1);
    }

    std::int64_t rows_;
    std::int64_t columns_;
    std::vector<double> values_;
};

/// The exchange of edges, prepared once and started in every step.
class HaloExchange {
  public:
    HaloExchange(const dlrt::Communicator& world, const Grid& grid, Block& block) {
        const int row = world.rank() / grid.columns, column = world.rank() % grid.columns;
        const std::int64_t last_row = block.rows() - 1, last_column = block.columns() - 1;
        const dlrt::Type row_type = block.row_type(), column_type = block.column_type();

        // Each side: the neighbour there, my edge to send, the part of my frame to fill.
        const auto side = [&](int neighbour, double& edge, double& frame, const dlrt::Type& type) {
            requests_.push_back(
                world.prepare_recv(dlrt::Elements(&frame, 1, type), {.from = neighbour})
            );
            requests_.push_back(
                world.prepare_send(dlrt::ConstElements(&edge, 1, type), {.to = neighbour})
            );
        };
        side(grid.rank_at(row - 1, column), block.at(0, 0), block.at(-1, 0), row_type);
        side(
            grid.rank_at(row + 1, column), block.at(last_row, 0), block.at(last_row + 1, 0),
            row_type
        );
        side(grid.rank_at(row, column - 1), block.at(0, 0), block.at(0, -1), column_type);
        side(
            grid.rank_at(row, column + 1), block.at(0, last_column), block.at(0, last_column + 1),
            column_type
        );
    }

    void run() {
        for (dlrt::Request& request : requests_) request.start();
        dlrt::wait_all(requests_);
    }

  private:
    std::vector<dlrt::Request> requests_;
};

}  // namespace examples
