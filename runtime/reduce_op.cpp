// SPDX-License-Identifier: Apache-2.0
/// One loop per reduction and element type, chosen by a table of switches. The loops are marked as
/// free of dependencies between rounds, which holds for equal as for disjoint operands, so that
/// compilers make vector code of them. Any thread.
#include "runtime/reduce_op.hpp"

#include "runtime/base/check.hpp"
#include "runtime/half.hpp"
#include "runtime/half_convert.hpp"

#include <bit>
#include <cmath>
#include <concepts>
#include <cstring>
#include <type_traits>

namespace dlrt {

namespace {

template<typename T>
struct Complex {
    T real, imaginary;
};

/// As packed: no gap before the index or behind it.
template<typename T>
struct [[gnu::packed]] Pair {
    T value;
    std::int32_t index;
};

template<typename T>
concept NarrowFloat = std::same_as<T, Float16> || std::same_as<T, BFloat16>;

template<typename T>
T load(const std::byte* elements, std::uint64_t index) {
    T value;
    std::memcpy(&value, elements + index * sizeof(T), sizeof(T));
    return value;
}

template<typename T>
void store(std::byte* elements, std::uint64_t index, T value) {
    std::memcpy(elements + index * sizeof(T), &value, sizeof(T));
}

/// Unsigned and at least as wide as unsigned int: wraps, and no promotion makes it signed.
template<std::integral T>
using Wrapping = std::common_type_t<unsigned, std::make_unsigned_t<T>>;

struct Sum {
    template<typename T>
    static T apply(T left, T right) {
        if constexpr (std::integral<T>) {
            return static_cast<T>(static_cast<Wrapping<T>>(left) + static_cast<Wrapping<T>>(right));
        } else {
            return left + right;
        }
    }
    template<typename T>
    static Complex<T> apply(Complex<T> left, Complex<T> right) {
        return {left.real + right.real, left.imaginary + right.imaginary};
    }
};

struct Product {
    template<typename T>
    static T apply(T left, T right) {
        if constexpr (std::integral<T>) {
            return static_cast<T>(static_cast<Wrapping<T>>(left) * static_cast<Wrapping<T>>(right));
        } else {
            return left * right;
        }
    }
    template<typename T>
    static Complex<T> apply(Complex<T> left, Complex<T> right) {
        return {
            left.real * right.real - left.imaginary * right.imaginary,
            left.real * right.imaginary + left.imaginary * right.real};
    }
};

enum class Extreme : std::uint8_t { least, greatest };

/// Of two equal floats, which can only differ in the sign of zero.
template<Extreme extreme, std::floating_point T>
T extreme_of_equal(T left, T right) {
    if constexpr (std::same_as<T, long double>) {
        return std::signbit(left) == (extreme == Extreme::least) ? left : right;
    } else {
        using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
        const auto a = std::bit_cast<Bits>(left), b = std::bit_cast<Bits>(right);
        return std::bit_cast<T>(extreme == Extreme::least ? a | b : a & b);
    }
}

template<Extreme extreme>
struct Extremum {
    template<typename T>
    static T apply(T left, T right) {
        const bool is_less = left<right, is_greater = left> right;
        const bool takes_left = extreme == Extreme::least ? is_less : is_greater;
        const bool takes_right = extreme == Extreme::least ? is_greater : is_less;
        if constexpr (std::integral<T>) {
            return takes_left ? left : right;
        } else {
            const bool left_is_nan = left != left, right_is_nan = right != right;
            const T equal = extreme_of_equal<extreme>(left, right);
            const T ordered = takes_left ? left : (takes_right ? right : equal);
            return left_is_nan ? left : (right_is_nan ? right : ordered);
        }
    }
};

template<typename T>
bool is_nan(T value) {
    if constexpr (std::integral<T>) return false;
    return value != value;
}

/// Of two pairs the one whose value is extreme; where neither is, the one with the smaller index.
template<Extreme extreme>
struct Located {
    template<typename T>
    static Pair<T> apply(Pair<T> left, Pair<T> right) {
        const T a = left.value, b = right.value;
        const bool a_is_nan = is_nan(a), b_is_nan = is_nan(b);
        const bool a_wins = (extreme == Extreme::least ? a < b : a > b) | (a_is_nan & !b_is_nan);
        const bool b_wins = (extreme == Extreme::least ? b < a : b > a) | (b_is_nan & !a_is_nan);
        return a_wins | (!b_wins & (left.index <= right.index)) ? left : right;
    }
};

struct LogicalAnd {
    template<typename T>
    static T apply(T left, T right) {
        return static_cast<T>((left != 0) & (right != 0));
    }
};
struct LogicalOr {
    template<typename T>
    static T apply(T left, T right) {
        return static_cast<T>((left != 0) | (right != 0));
    }
};
struct LogicalXor {
    template<typename T>
    static T apply(T left, T right) {
        return static_cast<T>((left != 0) != (right != 0));
    }
};
struct BitAnd {
    template<typename T>
    static T apply(T left, T right) {
        return static_cast<T>(left & right);
    }
};
struct BitOr {
    template<typename T>
    static T apply(T left, T right) {
        return static_cast<T>(left | right);
    }
};
struct BitXor {
    template<typename T>
    static T apply(T left, T right) {
        return static_cast<T>(left ^ right);
    }
};

template<typename Op, typename T>
T combined(T left, T right) {
    if constexpr (NarrowFloat<T>) {
        return narrowed<T>(Op::apply(widen(left), widen(right)));
    } else {
        return Op::apply(left, right);
    }
}

using Kernel = void (*)(const std::byte*, const std::byte*, std::byte*, std::uint64_t);

template<typename T, typename Op>
void reduce_loop(
    const std::byte* left, const std::byte* right, std::byte* target, std::uint64_t count
) {
#pragma omp simd
    for (std::uint64_t i = 0; i < count; ++i) {
        store<T>(target, i, combined<Op>(load<T>(left, i), load<T>(right, i)));
    }
}

template<typename T>
Kernel sum_or_product(ReduceOp op) {
    if (op == ReduceOp::sum) return reduce_loop<T, Sum>;
    if (op == ReduceOp::product) return reduce_loop<T, Product>;
    return nullptr;
}

template<typename T>
Kernel arithmetic(ReduceOp op) {
    if (op == ReduceOp::minimum) return reduce_loop<T, Extremum<Extreme::least>>;
    if (op == ReduceOp::maximum) return reduce_loop<T, Extremum<Extreme::greatest>>;
    return sum_or_product<T>(op);
}

template<typename T>
Kernel logical(ReduceOp op) {
    if (op == ReduceOp::logical_and) return reduce_loop<T, LogicalAnd>;
    if (op == ReduceOp::logical_or) return reduce_loop<T, LogicalOr>;
    if (op == ReduceOp::logical_xor) return reduce_loop<T, LogicalXor>;
    return nullptr;
}

template<typename T>
Kernel bitwise(ReduceOp op) {
    if (op == ReduceOp::bit_and) return reduce_loop<T, BitAnd>;
    if (op == ReduceOp::bit_or) return reduce_loop<T, BitOr>;
    if (op == ReduceOp::bit_xor) return reduce_loop<T, BitXor>;
    return nullptr;
}

template<typename T>
Kernel located(ReduceOp op) {
    if (op == ReduceOp::minimum_location) return reduce_loop<Pair<T>, Located<Extreme::least>>;
    if (op == ReduceOp::maximum_location) return reduce_loop<Pair<T>, Located<Extreme::greatest>>;
    return nullptr;
}

template<std::integral T>
Kernel integer(ReduceOp op) {
    // Of these, the sign changes nothing: one loop for both.
    using Unsigned = std::make_unsigned_t<T>;
    if (const Kernel kernel = sum_or_product<Unsigned>(op)) return kernel;
    if (const Kernel kernel = logical<Unsigned>(op)) return kernel;
    if (const Kernel kernel = bitwise<Unsigned>(op)) return kernel;
    return arithmetic<T>(op);
}

/// On truth values the bitwise operations are the logical ones, whatever non-zero byte is true.
Kernel truth(ReduceOp op) {
    static_assert(sizeof(bool) == 1);
    if (op == ReduceOp::bit_and) return logical<std::uint8_t>(ReduceOp::logical_and);
    if (op == ReduceOp::bit_or) return logical<std::uint8_t>(ReduceOp::logical_or);
    if (op == ReduceOp::bit_xor) return logical<std::uint8_t>(ReduceOp::logical_xor);
    return logical<std::uint8_t>(op);
}

bool has_division(ElementType type) {
    return type >= ElementType::float16 && type <= ElementType::complex128;
}

/// Null where the reduction isn't defined.
Kernel kernel_for(ReduceOp op, ElementType type) {
    if (op == ReduceOp::average) {
        return has_division(type) ? kernel_for(ReduceOp::sum, type) : nullptr;
    }
    switch (type) {
        case ElementType::none:
        case ElementType::character:
            return nullptr;
        case ElementType::byte:
            return bitwise<std::uint8_t>(op);
        case ElementType::boolean:
            return truth(op);
        case ElementType::int8:
            return integer<std::int8_t>(op);
        case ElementType::uint8:
            return integer<std::uint8_t>(op);
        case ElementType::int16:
            return integer<std::int16_t>(op);
        case ElementType::uint16:
            return integer<std::uint16_t>(op);
        case ElementType::int32:
            return integer<std::int32_t>(op);
        case ElementType::uint32:
            return integer<std::uint32_t>(op);
        case ElementType::int64:
            return integer<std::int64_t>(op);
        case ElementType::uint64:
            return integer<std::uint64_t>(op);
        case ElementType::float16:
            return arithmetic<Float16>(op);
        case ElementType::bfloat16:
            return arithmetic<BFloat16>(op);
        case ElementType::float32:
            return arithmetic<float>(op);
        case ElementType::float64:
            return arithmetic<double>(op);
        case ElementType::long_double:
            return arithmetic<long double>(op);
        case ElementType::complex64:
            return sum_or_product<Complex<float>>(op);
        case ElementType::complex128:
            return sum_or_product<Complex<double>>(op);
        case ElementType::float32_int32:
            return located<float>(op);
        case ElementType::float64_int32:
            return located<double>(op);
        case ElementType::int32_int32:
            return located<std::int32_t>(op);
        case ElementType::int64_int32:
            return located<std::int64_t>(op);
        case ElementType::int16_int32:
            return located<std::int16_t>(op);
        case ElementType::long_double_int32:
            return located<long double>(op);
    }
    return nullptr;
}

template<typename T>
void divide_loop(std::byte* elements, std::uint64_t count, std::uint32_t divisor) {
#pragma omp simd
    for (std::uint64_t i = 0; i < count; ++i) {
        if constexpr (NarrowFloat<T>) {
            const float quotient = widen(load<T>(elements, i)) / static_cast<float>(divisor);
            store<T>(elements, i, narrowed<T>(quotient));
        } else {
            store<T>(elements, i, load<T>(elements, i) / static_cast<T>(divisor));
        }
    }
}

void widen_bfloats(const std::byte* source, std::byte* target, std::uint64_t count) {
#pragma omp simd
    for (std::uint64_t i = 0; i < count; ++i) {
        store<float>(target, i, widen(load<BFloat16>(source, i)));
    }
}

void narrow_bfloats(const std::byte* source, std::byte* target, std::uint64_t count) {
#pragma omp simd
    for (std::uint64_t i = 0; i < count; ++i) {
        store<BFloat16>(target, i, narrowed<BFloat16>(load<float>(source, i)));
    }
}

}  // namespace

ReduceKernel reduce_kernel(ReduceOp op, ElementType type) {
    return kernel_for(op, type);
}

bool is_defined(ReduceOp op, ElementType type) {
    return kernel_for(op, type) != nullptr;
}

void reduce_elements(
    ReduceOp op, ElementType type, const void* left, const void* right, void* target,
    std::uint64_t count
) {
    const Kernel kernel = kernel_for(op, type);
    DLRT_ASSERT(kernel != nullptr);
    kernel(
        static_cast<const std::byte*>(left), static_cast<const std::byte*>(right),
        static_cast<std::byte*>(target), count
    );
}

bool is_defined_for_prefix(ReduceOp op) {
    return op != ReduceOp::average;
}

const char* reduce_op_name(ReduceOp op) {
    static constexpr const char* names[] = {
        "null",
        "sum",
        "product",
        "minimum",
        "maximum",
        "logical and",
        "logical or",
        "logical xor",
        "bitwise and",
        "bitwise or",
        "bitwise xor",
        "minimum with location",
        "maximum with location",
        "average",
    };
    static_assert(std::size(names) == static_cast<std::size_t>(ReduceOp::average) + 1);
    return names[static_cast<std::size_t>(op)];
}

void divide_elements(ElementType type, void* elements, std::uint64_t count, std::uint32_t divisor) {
    auto* const bytes = static_cast<std::byte*>(elements);
    DLRT_ASSERT(has_division(type));
    using enum ElementType;
    if (type == float16) return divide_loop<Float16>(bytes, count, divisor);
    if (type == bfloat16) return divide_loop<BFloat16>(bytes, count, divisor);
    if (type == float32) return divide_loop<float>(bytes, count, divisor);
    if (type == float64) return divide_loop<double>(bytes, count, divisor);
    if (type == long_double) return divide_loop<long double>(bytes, count, divisor);
    // Both parts of a complex number are divided alike.
    if (type == complex64) return divide_loop<float>(bytes, 2 * count, divisor);
    if (type == complex128) return divide_loop<double>(bytes, 2 * count, divisor);
}

ElementType accumulation_type(ElementType type) {
    const bool is_narrow = type == ElementType::float16 || type == ElementType::bfloat16;
    return is_narrow ? ElementType::float32 : type;
}

ElementType carried_type(ReduceOp op, ElementType type) {
    // Only these round: the others yield one of their operands, or no number at all.
    const bool rounds = op == ReduceOp::sum || op == ReduceOp::product || op == ReduceOp::average;
    return rounds ? accumulation_type(type) : type;
}

void widen_elements(ElementType narrow, const void* source, void* target, std::uint64_t count) {
    const auto* from = static_cast<const std::byte*>(source);
    auto* to = static_cast<std::byte*>(target);
    if (narrow == ElementType::float16) return widen_halves(from, to, count);
    if (narrow == ElementType::bfloat16) return widen_bfloats(from, to, count);
    if (count != 0) std::memmove(to, from, count * element_size_bytes(narrow));
}

void narrow_elements(ElementType narrow, const void* source, void* target, std::uint64_t count) {
    const auto* from = static_cast<const std::byte*>(source);
    auto* to = static_cast<std::byte*>(target);
    if (narrow == ElementType::float16) return narrow_halves(from, to, count);
    if (narrow == ElementType::bfloat16) return narrow_bfloats(from, to, count);
    if (count != 0) std::memmove(to, from, count * element_size_bytes(narrow));
}

}  // namespace dlrt
