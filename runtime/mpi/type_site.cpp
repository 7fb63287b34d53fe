// SPDX-License-Identifier: Apache-2.0
#include "runtime/mpi/type_site.hpp"

#include <algorithm>
#include <numeric>

namespace dlrt::mpi {

void EnvelopeWriter::add_count(MPI_Count count) {
    if (width_ == Width::wide) {
        envelope_.large_counts.push_back(count);
    } else {
        envelope_.integers.push_back(static_cast<int>(count));
    }
}

void EnvelopeWriter::add_address(MPI_Count address) {
    auto& list = width_ == Width::wide ? envelope_.large_counts : envelope_.addresses;
    list.push_back(address);
}

void EnvelopeWriter::add_type(TypeRef type, std::int64_t repetitions) {
    envelope_.types.push_back(std::move(type));
    envelope_.repetitions.push_back(repetitions);
}

int use_old(const Site& site, MPI_Datatype handle, TypeRef& type) {
    Use<Type> use;
    if (const int wrong = site.use(handle, use, "oldtype")) return wrong;
    if (use->layout == nullptr) {
        return site.bad(MPI_ERR_TYPE, "{} isn't supported on this platform", use->name);
    }
    type = use.keeper != nullptr ? use.keeper : site.surface().share(handle);
    return MPI_SUCCESS;
}

int give_type(
    const Site& site, Result<LayoutRef> layout, EnvelopeWriter& envelope, MPI_Datatype* result
) {
    if (const int wrong = site.require(result, "newtype")) return site.raise(wrong);
    if (!layout) return site.raise(layout.error());
    auto type = std::make_shared<Type>();
    type->layout = *std::move(layout);
    type->envelope = envelope.take();
    const Envelope& made = type->envelope;
    bool is_first = true;
    for (std::size_t i = 0; i < made.types.size(); ++i) {
        const Type& part = *made.types[i];
        type->alignment = std::max(type->alignment, part.alignment);
        const auto elements = part.element_count * static_cast<std::uint64_t>(made.repetitions[i]);
        if (elements == 0) continue;
        const bool is_alike = is_first || type->element_bytes == part.element_bytes;
        type->element_bytes = is_alike ? part.element_bytes : 0;
        type->element_count += elements;
        is_first = false;
    }
    const int wrong = site.give(std::move(type), result);
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

int use_list(
    const Site& site, MPI_Count count, const Numbers& numbers, const char* name,
    std::vector<std::int64_t>& list
) {
    if (const int wrong = site.require_not_negative(count, "count", MPI_ERR_COUNT)) return wrong;
    if (count == 0) return MPI_SUCCESS;
    if (numbers.is_null()) return site.bad(MPI_ERR_ARG, "{} is null", name);
    list = numbers.copy(static_cast<std::size_t>(count));
    return MPI_SUCCESS;
}

int use_lengths(
    const Site& site, MPI_Count count, const Numbers& numbers, std::vector<std::int64_t>& lengths
) {
    const int wrong = use_list(site, count, numbers, "array_of_blocklengths", lengths);
    if (wrong != MPI_SUCCESS) return wrong;
    for (const std::int64_t length : lengths) {
        if (length < 0) return site.bad(MPI_ERR_ARG, "block length {} is negative", length);
    }
    return MPI_SUCCESS;
}

int scale(const Site& site, const Type& type, std::vector<std::int64_t>& displacements) {
    const std::int64_t extent = type.layout->extent_bytes();
    for (std::int64_t& displacement : displacements) {
        if (!__builtin_mul_overflow(displacement, extent, &displacement)) continue;
        return site.bad(MPI_ERR_TYPE, "a displacement is beyond 2^63 - 1 bytes");
    }
    return MPI_SUCCESS;
}

std::int64_t sum_of(std::span<const std::int64_t> numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0});
}

}  // namespace dlrt::mpi
