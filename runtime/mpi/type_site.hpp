// SPDX-License-Identifier: Apache-2.0
/// What the constructors of datatypes share.
#pragma once

#include "runtime/mpi/entry.hpp"
#include "runtime/mpi/numbers.hpp"
#include "runtime/mpi/surface.hpp"

#include <cstdint>
#include <span>

namespace dlrt::mpi {

/// Gathers the numbers of an envelope: counts are integers of a constructor and large counts of its
/// twin, addresses are addresses of the one and large counts of the other.
class EnvelopeWriter {
  public:
    EnvelopeWriter(int combiner, Width width) : width_(width) { envelope_.combiner = combiner; }
    void add_integer(int number) { envelope_.integers.push_back(number); }
    void add_count(MPI_Count count);
    void add_counts(std::span<const std::int64_t> counts) {
        for (const std::int64_t count : counts) add_count(count);
    }
    void add_address(MPI_Count address);
    void add_addresses(std::span<const std::int64_t> addresses) {
        for (const std::int64_t address : addresses) add_address(address);
    }
    void add_type(TypeRef type, std::int64_t repetitions);
    [[nodiscard]] Envelope take() { return std::move(envelope_); }

  private:
    Width width_;
    Envelope envelope_;
};

/// A type that others can be made of. Errors: MPI_ERR_TYPE, also for one that the platform lacks.
int use_old(const Site& site, MPI_Datatype handle, TypeRef& type);

/// What all constructors end with.
int give_type(
    const Site& site, Result<LayoutRef> layout, EnvelopeWriter& envelope, MPI_Datatype* result
);

/// A list of lengths, none negative.
int use_lengths(
    const Site& site, MPI_Count count, const Numbers& numbers, std::vector<std::int64_t>& lengths
);
int use_list(
    const Site& site, MPI_Count count, const Numbers& numbers, const char* name,
    std::vector<std::int64_t>& list
);
/// From extents of a type to bytes. Errors: MPI_ERR_TYPE beyond 63 bits.
int scale(const Site& site, const Type& type, std::vector<std::int64_t>& displacements);
[[nodiscard]] std::int64_t sum_of(std::span<const std::int64_t> numbers);

}  // namespace dlrt::mpi
