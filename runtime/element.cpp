// SPDX-License-Identifier: Apache-2.0
/// Sizes and names of the element types. Any thread.
#include "runtime/base/check.hpp"
#include "runtime/layout.hpp"

#include <complex>

namespace dlrt {

namespace {

struct Element {
    std::uint32_t size_bytes;
    const char* name;
};

constexpr Element elements[] = {
    {0, "none"},
    {1, "byte"},
    {sizeof(bool), "bool"},
    {1, "char"},
    {1, "int8"},
    {1, "uint8"},
    {2, "int16"},
    {2, "uint16"},
    {4, "int32"},
    {4, "uint32"},
    {8, "int64"},
    {8, "uint64"},
    {2, "float16"},
    {2, "bfloat16"},
    {4, "float"},
    {8, "double"},
    {sizeof(long double), "long double"},
    {sizeof(std::complex<float>), "complex float"},
    {sizeof(std::complex<double>), "complex double"},
    {4 + 4, "float with int32 index"},
    {8 + 4, "double with int32 index"},
    {4 + 4, "int32 with int32 index"},
    {8 + 4, "int64 with int32 index"},
    {2 + 4, "int16 with int32 index"},
    {sizeof(long double) + 4, "long double with int32 index"},
};
static_assert(std::size(elements) == element_type_count);
static_assert(static_cast<std::size_t>(ElementType::long_double_int32) == element_type_count - 1);
static_assert(static_cast<std::size_t>(ElementType::float32_int32) == dense_element_type_count);

const Element& element_of(ElementType type) {
    const auto number = static_cast<std::size_t>(type);
    DLRT_ASSERT(number < std::size(elements));
    return elements[number];
}

}  // namespace

std::uint32_t element_size_bytes(ElementType type) {
    return element_of(type).size_bytes;
}

const char* element_name(ElementType type) {
    return element_of(type).name;
}

}  // namespace dlrt
