// SPDX-License-Identifier: Apache-2.0
/// What is behind a datatype of MPI: the core's layout, and what only MPI asks for: how it was
/// made, which basic elements it has, its name and attributes. Shared by handles and by types made
/// of it.
#pragma once

#include "runtime/layout.hpp"
#include "runtime/mpi/attribute.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dlrt::mpi {

struct Type;
using TypeRef = std::shared_ptr<Type>;

/// The rows of the standard's table of reductions and what they work on.
enum class Category : std::uint8_t {
    none,  ///< No reduction: derived types, wide characters.
    integer,
    fortran_integer,
    floating,
    logical,
    complex,
    byte,
    multi_language,  ///< MPI_AINT and its like.
    pair,
};

/// How a type was made, as MPI_Type_get_contents tells it.
struct Envelope {
    int combiner = MPI_COMBINER_NAMED;
    std::vector<int> integers;
    std::vector<MPI_Aint> addresses;
    std::vector<MPI_Count> large_counts;
    std::vector<TypeRef> types;
    /// Repetitions of types[i], in the order of the type map; where there is one type, of that.
    std::vector<std::int64_t> repetitions;
};

struct Type {
    LayoutRef layout;                         ///< Null: a type that this platform lacks.
    MPI_Datatype handle = MPI_DATATYPE_NULL;  ///< Of a predefined one.
    Category category = Category::none;       ///< Of a predefined one.
    bool is_predefined = false;
    bool is_committed = false;
    std::uint32_t alignment = 1;
    std::uint64_t element_count = 0;  ///< Basic elements of one instance.
    std::uint64_t element_bytes = 0;  ///< Of each of them where all are alike, else 0.
    Envelope envelope;
    std::string name;
    Attributes attributes;
};

/// The first so many bytes of a type's stream, in basic elements; rest_bytes: what is left of an
/// element that is not whole.
struct ElementCount {
    std::uint64_t elements = 0;
    std::uint64_t rest_bytes = 0;
};
[[nodiscard]] ElementCount count_elements(const Type& type, std::uint64_t bytes);
/// The other way round: the bytes of the first so many elements of a stream of instances.
[[nodiscard]] std::uint64_t bytes_of_elements(const Type& type, std::uint64_t elements);

/// By the number of their handle less 0x200; an empty entry where there is none.
inline constexpr std::uint64_t first_type_number = 0x200;
inline constexpr std::uint64_t predefined_type_count = 0x100;
[[nodiscard]] const std::vector<TypeRef>& predefined_types();

}  // namespace dlrt::mpi
