// SPDX-License-Identifier: Apache-2.0
#include "runtime/mpi/type.hpp"

#include <algorithm>
#include <complex>
#include <cwchar>
#include <type_traits>

namespace dlrt::mpi {
namespace {

struct Predefined {
    MPI_Datatype handle;
    const char* name;
    ElementType element;  ///< none: see composed_layout().
    Category category;
    std::uint32_t alignment;
};

using E = ElementType;
using C = Category;

constexpr ElementType signed_of(std::size_t bytes) {
    return bytes == 8 ? E::int64 : bytes == 4 ? E::int32 : bytes == 2 ? E::int16 : E::int8;
}
constexpr ElementType unsigned_of(std::size_t bytes) {
    return bytes == 8 ? E::uint64 : bytes == 4 ? E::uint32 : bytes == 2 ? E::uint16 : E::uint8;
}

/// The standard has no arithmetic on characters; programs do it all the same, and other libraries
/// let them.
constexpr ElementType char_element = std::is_signed_v<char> ? E::int8 : E::uint8;

const Predefined predefined_list[] = {
    {MPI_AINT, "MPI_AINT", E::int64, C::multi_language, 8},
    {MPI_COUNT, "MPI_COUNT", E::int64, C::multi_language, 8},
    {MPI_OFFSET, "MPI_OFFSET", E::int64, C::multi_language, 8},
    {MPI_PACKED, "MPI_PACKED", E::byte, C::none, 1},
    {MPI_SHORT, "MPI_SHORT", signed_of(sizeof(short)), C::integer, alignof(short)},
    {MPI_INT, "MPI_INT", signed_of(sizeof(int)), C::integer, alignof(int)},
    {MPI_LONG, "MPI_LONG", signed_of(sizeof(long)), C::integer, alignof(long)},
    {MPI_LONG_LONG, "MPI_LONG_LONG_INT", E::int64, C::integer, alignof(long long)},
    {MPI_UNSIGNED_SHORT, "MPI_UNSIGNED_SHORT", unsigned_of(sizeof(short)), C::integer,
     alignof(short)},
    {MPI_UNSIGNED, "MPI_UNSIGNED", unsigned_of(sizeof(int)), C::integer, alignof(int)},
    {MPI_UNSIGNED_LONG, "MPI_UNSIGNED_LONG", unsigned_of(sizeof(long)), C::integer, alignof(long)},
    {MPI_UNSIGNED_LONG_LONG, "MPI_UNSIGNED_LONG_LONG", E::uint64, C::integer, alignof(long long)},
    {MPI_FLOAT, "MPI_FLOAT", E::float32, C::floating, alignof(float)},
    {MPI_C_FLOAT_COMPLEX, "MPI_C_FLOAT_COMPLEX", E::complex64, C::complex, alignof(float)},
    {MPI_CXX_FLOAT_COMPLEX, "MPI_CXX_FLOAT_COMPLEX", E::complex64, C::complex, alignof(float)},
    {MPI_DOUBLE, "MPI_DOUBLE", E::float64, C::floating, alignof(double)},
    {MPI_C_DOUBLE_COMPLEX, "MPI_C_DOUBLE_COMPLEX", E::complex128, C::complex, alignof(double)},
    {MPI_CXX_DOUBLE_COMPLEX, "MPI_CXX_DOUBLE_COMPLEX", E::complex128, C::complex, alignof(double)},
    {MPI_LOGICAL, "MPI_LOGICAL", E::int32, C::logical, 4},
    {MPI_INTEGER, "MPI_INTEGER", E::int32, C::fortran_integer, 4},
    {MPI_REAL, "MPI_REAL", E::float32, C::floating, 4},
    {MPI_COMPLEX, "MPI_COMPLEX", E::complex64, C::complex, 4},
    {MPI_DOUBLE_PRECISION, "MPI_DOUBLE_PRECISION", E::float64, C::floating, 8},
    {MPI_DOUBLE_COMPLEX, "MPI_DOUBLE_COMPLEX", E::complex128, C::complex, 8},
    {MPI_CHARACTER, "MPI_CHARACTER", char_element, C::integer, 1},
    {MPI_LONG_DOUBLE, "MPI_LONG_DOUBLE", E::long_double, C::floating, alignof(long double)},
    {MPI_C_LONG_DOUBLE_COMPLEX, "MPI_C_LONG_DOUBLE_COMPLEX", E::none, C::complex,
     alignof(long double)},
    {MPI_CXX_LONG_DOUBLE_COMPLEX, "MPI_CXX_LONG_DOUBLE_COMPLEX", E::none, C::complex,
     alignof(long double)},
    {MPI_FLOAT_INT, "MPI_FLOAT_INT", E::float32_int32, C::pair, 4},
    {MPI_DOUBLE_INT, "MPI_DOUBLE_INT", E::float64_int32, C::pair, alignof(double)},
    {MPI_LONG_INT, "MPI_LONG_INT", sizeof(long) == 8 ? E::int64_int32 : E::int32_int32, C::pair,
     alignof(long)},
    {MPI_2INT, "MPI_2INT", E::int32_int32, C::pair, 4},
    {MPI_SHORT_INT, "MPI_SHORT_INT", E::int16_int32, C::pair, 4},
    {MPI_LONG_DOUBLE_INT, "MPI_LONG_DOUBLE_INT", E::long_double_int32, C::pair,
     alignof(long double)},
    {MPI_2REAL, "MPI_2REAL", E::none, C::pair, 4},
    {MPI_2DOUBLE_PRECISION, "MPI_2DOUBLE_PRECISION", E::none, C::pair, 8},
    {MPI_2INTEGER, "MPI_2INTEGER", E::int32_int32, C::pair, 4},
    {MPI_C_BOOL, "MPI_C_BOOL", E::boolean, C::logical, 1},
    {MPI_CXX_BOOL, "MPI_CXX_BOOL", E::boolean, C::logical, 1},
    {MPI_WCHAR, "MPI_WCHAR", signed_of(sizeof(wchar_t)), C::none, alignof(wchar_t)},
    {MPI_INT8_T, "MPI_INT8_T", E::int8, C::integer, 1},
    {MPI_UINT8_T, "MPI_UINT8_T", E::uint8, C::integer, 1},
    {MPI_CHAR, "MPI_CHAR", char_element, C::integer, 1},
    {MPI_SIGNED_CHAR, "MPI_SIGNED_CHAR", E::int8, C::integer, 1},
    {MPI_UNSIGNED_CHAR, "MPI_UNSIGNED_CHAR", E::uint8, C::integer, 1},
    {MPI_BYTE, "MPI_BYTE", E::byte, C::byte, 1},
    {MPI_INT16_T, "MPI_INT16_T", E::int16, C::integer, 2},
    {MPI_UINT16_T, "MPI_UINT16_T", E::uint16, C::integer, 2},
    {MPI_INT32_T, "MPI_INT32_T", E::int32, C::integer, 4},
    {MPI_UINT32_T, "MPI_UINT32_T", E::uint32, C::integer, 4},
    {MPI_INT64_T, "MPI_INT64_T", E::int64, C::integer, 8},
    {MPI_UINT64_T, "MPI_UINT64_T", E::uint64, C::integer, 8},
    {MPI_LOGICAL1, "MPI_LOGICAL1", E::int8, C::logical, 1},
    {MPI_INTEGER1, "MPI_INTEGER1", E::int8, C::fortran_integer, 1},
    {MPI_LOGICAL2, "MPI_LOGICAL2", E::int16, C::logical, 2},
    {MPI_INTEGER2, "MPI_INTEGER2", E::int16, C::fortran_integer, 2},
    {MPI_REAL2, "MPI_REAL2", E::float16, C::floating, 2},
    {MPI_LOGICAL4, "MPI_LOGICAL4", E::int32, C::logical, 4},
    {MPI_INTEGER4, "MPI_INTEGER4", E::int32, C::fortran_integer, 4},
    {MPI_REAL4, "MPI_REAL4", E::float32, C::floating, 4},
    {MPI_LOGICAL8, "MPI_LOGICAL8", E::int64, C::logical, 8},
    {MPI_INTEGER8, "MPI_INTEGER8", E::int64, C::fortran_integer, 8},
    {MPI_REAL8, "MPI_REAL8", E::float64, C::floating, 8},
    {MPI_COMPLEX8, "MPI_COMPLEX8", E::complex64, C::complex, 4},
    {MPI_COMPLEX16, "MPI_COMPLEX16", E::complex128, C::complex, 8},
    // These are in the ABI, and this platform lacks them.
    {MPI_COMPLEX4, "MPI_COMPLEX4", E::none, C::none, 2},
    {MPI_LOGICAL16, "MPI_LOGICAL16", E::none, C::none, 16},
    {MPI_INTEGER16, "MPI_INTEGER16", E::none, C::none, 16},
    {MPI_REAL16, "MPI_REAL16", E::none, C::none, 16},
    {MPI_COMPLEX32, "MPI_COMPLEX32", E::none, C::none, 16},
};

/// Of what the core has no element for: two of one of its elements. Null: not there.
LayoutRef composed_layout(const Predefined& type) {
    ElementType half = E::none;
    if (type.handle == MPI_2REAL) half = E::float32;
    if (type.handle == MPI_2DOUBLE_PRECISION) half = E::float64;
    if (type.handle == MPI_C_LONG_DOUBLE_COMPLEX || type.handle == MPI_CXX_LONG_DOUBLE_COMPLEX) {
        half = E::long_double;
    }
    return half != E::none ? *Layout::contiguous(2, Layout::of(half)) : nullptr;
}

TypeRef make_predefined(const Predefined& row) {
    auto type = std::make_shared<Type>();
    type->layout = row.element != E::none ? Layout::of(row.element) : composed_layout(row);
    type->handle = row.handle;
    type->category = row.category;
    type->is_predefined = true;
    type->is_committed = true;
    type->alignment = row.alignment;
    type->name = row.name;
    type->element_count = 1;
    if (type->layout != nullptr) type->element_bytes = type->layout->size_bytes();
    // A value and an index are two elements of unlike sizes.
    if (row.category == C::pair) {
        type->element_count = 2;
        const bool is_even = row.element == E::none || row.element == E::int32_int32 ||
                             row.element == E::float32_int32;
        type->element_bytes = is_even ? type->layout->size_bytes() / 2 : 0;
    }
    return type;
}

std::uint64_t size_of(const Type& type) {
    return type.layout != nullptr ? type.layout->size_bytes() : 0;
}

/// Of a pair: the value before the index of four bytes.
std::uint64_t value_bytes(const Type& pair) {
    return size_of(pair) - 4;
}

}  // namespace

const std::vector<TypeRef>& predefined_types() {
    static const auto* const types = [] {
        auto* const list = new std::vector<TypeRef>(predefined_type_count);
        for (const Predefined& row : predefined_list) {
            const auto number = reinterpret_cast<std::uintptr_t>(row.handle);
            (*list)[number - first_type_number] = make_predefined(row);
        }
        return list;
    }();
    return *types;
}

ElementCount count_elements(const Type& type, std::uint64_t bytes) {
    const std::uint64_t size = size_of(type);
    if (size == 0) return {0, bytes};
    if (type.element_bytes != 0) {
        return {bytes / type.element_bytes, bytes % type.element_bytes};
    }
    ElementCount counted{bytes / size * type.element_count, bytes % size};
    if (counted.rest_bytes == 0) return counted;
    if (type.is_predefined) {
        if (counted.rest_bytes >= value_bytes(type)) {
            counted.elements += 1;
            counted.rest_bytes -= value_bytes(type);
        }
        return counted;
    }
    for (std::size_t i = 0; i < type.envelope.types.size() && counted.rest_bytes != 0; ++i) {
        const Type& part = *type.envelope.types[i];
        const std::uint64_t part_bytes = size_of(part) *
                                         static_cast<std::uint64_t>(type.envelope.repetitions[i]);
        if (part_bytes == 0) continue;
        const std::uint64_t within = std::min(counted.rest_bytes, part_bytes);
        const ElementCount inner = count_elements(part, within);
        counted.elements += inner.elements;
        counted.rest_bytes -= within - inner.rest_bytes;
        if (within < part_bytes || inner.rest_bytes != 0) break;
    }
    return counted;
}

std::uint64_t bytes_of_elements(const Type& type, std::uint64_t elements) {
    if (type.element_count == 0) return 0;
    if (type.element_bytes != 0) return elements * type.element_bytes;
    std::uint64_t bytes = elements / type.element_count * size_of(type);
    std::uint64_t rest = elements % type.element_count;
    if (rest == 0) return bytes;
    if (type.is_predefined) return bytes + value_bytes(type);
    for (std::size_t i = 0; i < type.envelope.types.size() && rest != 0; ++i) {
        const Type& part = *type.envelope.types[i];
        const std::uint64_t there = part.element_count *
                                    static_cast<std::uint64_t>(type.envelope.repetitions[i]);
        const std::uint64_t taken = std::min(rest, there);
        bytes += bytes_of_elements(part, taken);
        rest -= taken;
    }
    return bytes;
}

}  // namespace dlrt::mpi
