// SPDX-License-Identifier: Apache-2.0
/// A field of temperatures in a file and in memory, and the serial program that heat.cpp is
/// compared with.
///
/// The file is text: the number of rows, the number of columns, then the temperatures row by row,
/// separated by white space. Lines that begin with '#' are comments.
#pragma once

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace examples {

struct Field {
    long rows = 0;
    long columns = 0;
    std::vector<double> values;  ///< Row by row.

    double& at(long row, long column) { return values[index(row, column)]; }
    double at(long row, long column) const { return values[index(row, column)]; }

  private:
    std::size_t index(long row, long column) const {
        return static_cast<std::size_t>(row * columns + column);
    }
};

inline Field read_field(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read the field '" + path + "'");
    std::stringstream text;
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("#")) text << line << '\n';
    }
    Field field;
    text >> field.rows >> field.columns;
    if (!text || field.rows < 1 || field.columns < 1 || field.rows > 100'000 ||
        field.columns > 100'000) {
        throw std::runtime_error(
            "'" + path + "' must begin with two numbers from 1 to 100000: rows and columns"
        );
    }
    const std::size_t cells = static_cast<std::size_t>(field.rows * field.columns);
    for (double value = 0; field.values.size() <= cells && text >> value;) {
        if (!std::isfinite(value)) throw std::runtime_error("'" + path + "' holds infinity");
        field.values.push_back(value);
    }
    if (field.values.size() != cells || !text.eof()) {
        throw std::runtime_error(
            "'" + path + "' must hold " + std::to_string(field.rows) + " x " +
            std::to_string(field.columns) + " temperatures and nothing else"
        );
    }
    return field;
}

/// All digits that it takes to read the same field again.
inline void write_field(const Field& field, const std::string& path) {
    std::ofstream file(path);
    file.precision(std::numeric_limits<double>::max_digits10);
    file << field.rows << ' ' << field.columns << '\n';
    for (long row = 0; row < field.rows; ++row) {
        for (long column = 0; column < field.columns; ++column) {
            file << field.at(row, column) << (column + 1 < field.columns ? ' ' : '\n');
        }
    }
    file.flush();
    if (!file) throw std::runtime_error("cannot write the result to '" + path + "'");
}

/// One step of the explicit scheme for one cell; the plate conducts equally in all directions.
inline double next_temperature(double here, double up, double down, double left, double right) {
    constexpr double conductivity = 0.2;  // Stable up to 0.25.
    return here + conductivity * (up + down + left + right - 4 * here);
}

/// Steps the whole field; its border keeps its temperatures. Returns the largest change of a cell
/// in the last step.
inline double solve_serially(Field& field, long steps) {
    double largest_change = 0;
    for (long step = 0; step < steps; ++step) {
        const Field old = field;
        largest_change = 0;
        for (long row = 1; row < field.rows - 1; ++row) {
            for (long column = 1; column < field.columns - 1; ++column) {
                const double here = old.at(row, column);
                const double next = next_temperature(
                    here, old.at(row - 1, column), old.at(row + 1, column), old.at(row, column - 1),
                    old.at(row, column + 1)
                );
                largest_change = std::max(largest_change, std::fabs(next - here));
                field.at(row, column) = next;
            }
        }
    }
    return largest_change;
}

}  // namespace examples
