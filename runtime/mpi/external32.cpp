// SPDX-License-Identifier: Apache-2.0
#include "runtime/mpi/external32.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <vector>

namespace dlrt::mpi {
namespace {

static_assert(std::endian::native == std::endian::little);

/// What an element is made of.
struct Component {
    enum class Kind : std::uint8_t { signed_number, unsigned_number, same, long_double };
    Kind kind = Kind::same;
    std::uint32_t native_bytes = 1;
    std::uint32_t external_bytes = 1;
};

constexpr std::uint32_t external_long_bytes = 4;
constexpr std::uint32_t external_wide_character_bytes = 2;
constexpr std::uint32_t external_long_double_bytes = 16;

/// Numbers of the same size in both are only turned round.
Component same(std::uint64_t bytes) {
    const auto size = static_cast<std::uint32_t>(bytes);
    return {Component::Kind::same, size, size};
}

constexpr Component long_double_component{
    Component::Kind::long_double, sizeof(long double), external_long_double_bytes};

std::vector<Component> components_of(const Type& type) {
    const MPI_Datatype handle = type.handle;
    const std::uint64_t bytes = type.layout->size_bytes();
    const Component index = same(4);
    if (handle == MPI_LONG) {
        return {{Component::Kind::signed_number, sizeof(long), external_long_bytes}};
    }
    if (handle == MPI_UNSIGNED_LONG) {
        return {{Component::Kind::unsigned_number, sizeof(long), external_long_bytes}};
    }
    if (handle == MPI_WCHAR) {
        return {{Component::Kind::unsigned_number, sizeof(wchar_t), external_wide_character_bytes}};
    }
    if (handle == MPI_LONG_INT) {
        return {{Component::Kind::signed_number, sizeof(long), external_long_bytes}, index};
    }
    if (handle == MPI_LONG_DOUBLE) return {long_double_component};
    if (handle == MPI_LONG_DOUBLE_INT) return {long_double_component, index};
    if (handle == MPI_C_LONG_DOUBLE_COMPLEX || handle == MPI_CXX_LONG_DOUBLE_COMPLEX) {
        return {long_double_component, long_double_component};
    }
    if (type.category == Category::complex || type.element_bytes * 2 == bytes) {
        return {same(bytes / 2), same(bytes / 2)};
    }
    if (type.category == Category::pair) return {same(bytes - 4), index};
    return {same(bytes)};
}

void reverse_copy(const std::byte* source, std::uint32_t bytes, std::byte* target) {
    std::reverse_copy(source, source + bytes, target);
}

void write_number(const Component& component, const std::byte* native, std::byte* external) {
    std::byte number[16] = {};
    std::memcpy(number, native, component.native_bytes);
    reverse_copy(number, component.external_bytes, external);
}

void read_number(const Component& component, const std::byte* external, std::byte* native) {
    std::byte number[16] = {};
    reverse_copy(external, component.external_bytes, number);
    const bool is_negative = component.kind == Component::Kind::signed_number &&
                             (number[component.external_bytes - 1] & std::byte{0x80}) !=
                                 std::byte{0};
    const std::byte fill = is_negative ? std::byte{0xff} : std::byte{0};
    std::fill(number + component.external_bytes, std::end(number), fill);
    std::memcpy(native, number, component.native_bytes);
}

// The external form is IEEE 754's binary128, which long double is or converts to.
#if defined(__x86_64__)
__extension__ using Quad = __float128;
#else
using Quad = long double;
#endif
static_assert(sizeof(Quad) == external_long_double_bytes);

void write_long_double(const std::byte* native, std::byte* external) {
    long double value = 0;
    std::memcpy(&value, native, sizeof(value));
    const Quad wide = value;
    std::byte bytes[sizeof(Quad)];
    std::memcpy(bytes, &wide, sizeof(Quad));
    reverse_copy(bytes, sizeof(Quad), external);
}

void read_long_double(const std::byte* external, std::byte* native) {
    std::byte bytes[sizeof(Quad)];
    reverse_copy(external, sizeof(Quad), bytes);
    Quad wide = 0;
    std::memcpy(&wide, bytes, sizeof(Quad));
    const auto value = static_cast<long double>(wide);
    std::memcpy(native, &value, sizeof(value));
}

/// Where in both streams the walk is.
struct Place {
    std::byte* native;
    std::byte* external;
};
enum class Direction : std::uint8_t { write, read };

void convert(const Component& component, Direction direction, Place& place) {
    const bool is_writing = direction == Direction::write;
    if (component.kind == Component::Kind::long_double) {
        if (is_writing) write_long_double(place.native, place.external);
        if (!is_writing) read_long_double(place.external, place.native);
    } else {
        if (is_writing) write_number(component, place.native, place.external);
        if (!is_writing) read_number(component, place.external, place.native);
    }
    place.native += component.native_bytes;
    place.external += component.external_bytes;
}

void walk(const Type& type, std::uint64_t count, Direction direction, Place& place) {
    if (type.envelope.types.empty()) {
        const std::vector<Component> components = components_of(type);
        for (std::uint64_t i = 0; i < count; ++i) {
            for (const Component& component : components) convert(component, direction, place);
        }
        return;
    }
    const Envelope& envelope = type.envelope;
    for (std::uint64_t i = 0; i < count; ++i) {
        for (std::size_t part = 0; part < envelope.types.size(); ++part) {
            const auto repetitions = static_cast<std::uint64_t>(envelope.repetitions[part]);
            walk(*envelope.types[part], repetitions, direction, place);
        }
    }
}

}  // namespace

std::uint64_t external32_bytes(const Type& type) {
    std::uint64_t bytes = 0;
    if (type.envelope.types.empty()) {
        for (const Component& component : components_of(type)) bytes += component.external_bytes;
        return bytes;
    }
    for (std::size_t part = 0; part < type.envelope.types.size(); ++part) {
        bytes += external32_bytes(*type.envelope.types[part]) *
                 static_cast<std::uint64_t>(type.envelope.repetitions[part]);
    }
    return bytes;
}

void write_external32(
    const Type& type, std::uint64_t count, const std::byte* native, std::byte* external
) {
    // The walk only reads from this side.
    Place place{const_cast<std::byte*>(native), external};
    walk(type, count, Direction::write, place);
}

void read_external32(
    const Type& type, std::uint64_t count, const std::byte* external, std::byte* native
) {
    Place place{native, const_cast<std::byte*>(external)};
    walk(type, count, Direction::read, place);
}

}  // namespace dlrt::mpi
