// SPDX-License-Identifier: Apache-2.0
/// Reductions of every operation and type against plain scalar definitions.
#include "runtime/half.hpp"
#include "runtime/reduce_op.hpp"

#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <vector>

#include <catch2/catch.hpp>

namespace dlrt {

namespace {

using enum ReduceOp;

constexpr ReduceOp all_ops[] = {
    null,        sum,     product, minimum, maximum,          logical_and,      logical_or,
    logical_xor, bit_and, bit_or,  bit_xor, minimum_location, maximum_location, average};

/// Without gaps, as pairs travel.
template<typename T>
struct [[gnu::packed]] Pair {
    T value;
    std::int32_t index;
};

/// Whether two rows of T are bytewise equal, but for the padding inside long doubles of 80 bits.
template<typename T>
bool has_same_bytes(const std::byte* a, const std::byte* b, std::size_t count) {
    constexpr bool is_padded = std::numeric_limits<long double>::digits == 64;
    constexpr bool is_pair = std::is_same_v<T, Pair<long double>>;
    constexpr bool has_padding = is_padded && (is_pair || std::is_same_v<T, long double>);
    constexpr std::size_t first_bytes = has_padding ? 10 : sizeof(T);
    constexpr std::size_t last_bytes = has_padding && is_pair ? sizeof(std::int32_t) : 0;
    for (std::size_t i = 1; i <= count; ++i, a += sizeof(T), b += sizeof(T)) {
        const std::size_t last = sizeof(T) - last_bytes;
        if (std::memcmp(a, b, first_bytes) != 0) return false;
        if (std::memcmp(a + last, b + last, last_bytes) != 0) return false;
    }
    return true;
}

/// reduce(left, right), also in place of either operand and from odd addresses; all must agree.
template<typename T>
std::vector<T> reduced(
    ReduceOp op, ElementType type, const std::vector<T>& left, const std::vector<T>& right
) {
    const std::size_t size = left.size() * sizeof(T);
    std::vector<std::byte> a(size + 1), b(size + 1), c(size + 1);
    const auto fill = [&] {
        if (size == 0) return;
        std::memcpy(a.data() + 1, left.data(), size);
        std::memcpy(b.data() + 1, right.data(), size);
    };
    fill();
    reduce_elements(op, type, a.data() + 1, b.data() + 1, c.data() + 1, left.size());
    reduce_elements(op, type, a.data() + 1, b.data() + 1, a.data() + 1, left.size());
    CHECK(has_same_bytes<T>(a.data() + 1, c.data() + 1, left.size()));
    fill();
    reduce_elements(op, type, a.data() + 1, b.data() + 1, b.data() + 1, left.size());
    CHECK(has_same_bytes<T>(b.data() + 1, c.data() + 1, left.size()));
    std::vector<T> result(left.size());
    if (size != 0) std::memcpy(result.data(), c.data() + 1, size);
    return result;
}

template<typename T>
std::vector<T> random_integers(std::size_t count, unsigned seed) {
    std::mt19937_64 random(seed);
    std::vector<T> values;
    for (std::size_t i = 0; i < count; ++i) {
        // Every fourth a small one, so that equal values, zeros and ones occur.
        const std::uint64_t bits = random();
        values.push_back(static_cast<T>(bits % 4 == 0 ? (bits >> 8) % 3 : bits >> 8));
    }
    return values;
}

/// In 128 bits, then cut: what wrapping means.
template<typename T>
T expected_integer(ReduceOp op, T left, T right) {
    __extension__ using Wide = __int128;
    __extension__ using Unsigned = unsigned __int128;
    const Wide a = left, b = right;
    switch (op) {
        case sum:
            return static_cast<T>(a + b);
        case product:
            return static_cast<T>(static_cast<Unsigned>(a) * static_cast<Unsigned>(b));
        case minimum:
            return std::min(left, right);
        case maximum:
            return std::max(left, right);
        case logical_and:
            return static_cast<T>(left != 0 && right != 0);
        case logical_or:
            return static_cast<T>(left != 0 || right != 0);
        case logical_xor:
            return static_cast<T>((left != 0) != (right != 0));
        case bit_and:
            return static_cast<T>(left & right);
        case bit_or:
            return static_cast<T>(left | right);
        case bit_xor:
            return static_cast<T>(left ^ right);
        case null:
        case minimum_location:
        case maximum_location:
        case average:
            break;
    }
    return 0;
}

template<typename T>
void check_integers(ElementType type) {
    // Lengths around the vector widths, so that the rest of a loop is exercised.
    for (std::size_t count : {0U, 1U, 3U, 15U, 16U, 17U, 64U, 1003U}) {
        std::vector<T> left = random_integers<T>(count, 1), right = random_integers<T>(count, 2);
        if (count > 20) {
            left[0] = right[0] = std::numeric_limits<T>::max();
            left[1] = right[1] = std::numeric_limits<T>::min();
        }
        for (ReduceOp op : all_ops) {
            if (!is_defined(op, type)) continue;
            std::vector<T> expected;
            for (std::size_t i = 0; i < count; ++i) {
                expected.push_back(expected_integer(op, left[i], right[i]));
            }
            CHECK(reduced(op, type, left, right) == expected);
        }
    }
}

template<typename T>
void check_floats(ElementType type) {
    const T nan = std::numeric_limits<T>::quiet_NaN(),
            infinity = std::numeric_limits<T>::infinity();
    const T minus_zero = -T{0};
    const std::vector<T> left{1.5, -2, 0, minus_zero, nan, 3, nan, infinity, -infinity, infinity};
    const std::vector<T> right{2.25, 7, minus_zero, 0, 1, nan, nan, -infinity, 5, infinity};
    const auto is_same = [](const std::vector<T>& got, const std::vector<T>& expected) {
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const bool is_equal = std::isnan(expected[i])
                                      ? std::isnan(got[i])
                                      : got[i] == expected[i] &&
                                            std::signbit(got[i]) == std::signbit(expected[i]);
            if (!is_equal) return false;
        }
        return got.size() == expected.size();
    };
    CHECK(is_same(
        reduced(sum, type, left, right), {3.75, 5, 0, 0, nan, nan, nan, nan, -infinity, infinity}
    ));
    CHECK(is_same(
        reduced(product, type, left, right),
        {3.375, -14, minus_zero, minus_zero, nan, nan, nan, -infinity, -infinity, infinity}
    ));
    CHECK(is_same(
        reduced(minimum, type, left, right),
        {1.5, -2, minus_zero, minus_zero, nan, nan, nan, -infinity, -infinity, infinity}
    ));
    CHECK(is_same(
        reduced(maximum, type, left, right), {2.25, 7, 0, 0, nan, nan, nan, infinity, 5, infinity}
    ));
}

template<typename T>
void check_complex(ElementType type) {
    using Complex = std::complex<T>;
    const std::vector<Complex> left{{1, 2}, {0, 1}, {-3, 0.5}, {4, 0}, {1, 1}};
    const std::vector<Complex> right{{3, -1}, {0, 1}, {2, 8}, {0, 0}, {1, -1}};
    CHECK(
        reduced(sum, type, left, right) ==
        std::vector<Complex>{{4, 1}, {0, 2}, {-1, 8.5}, {4, 0}, {2, 0}}
    );
    CHECK(
        reduced(product, type, left, right) ==
        std::vector<Complex>{{5, 5}, {-1, 0}, {-10, -23}, {0, 0}, {2, 0}}
    );
}

/// Every pattern against another, several times.
template<typename T, typename Op>
int wrong_narrow_results(ReduceOp op, ElementType type, const Op& operation) {
    std::vector<T> left, right;
    std::mt19937 random(5);
    for (int round = 0; round < 4; ++round) {
        for (int bits = 0; bits <= 0xffff; ++bits) {
            left.push_back({static_cast<std::uint16_t>(bits)});
            right.push_back({static_cast<std::uint16_t>(random())});
        }
    }
    std::vector<T> result(left.size());
    reduce_elements(op, type, left.data(), right.data(), result.data(), left.size());
    int wrong = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
        const float exact = operation(widen(left[i]), widen(right[i]));
        const bool is_right = std::isnan(exact) ? std::isnan(widen(result[i]))
                                                : result[i].bits == narrowed<T>(exact).bits;
        if (!is_right) ++wrong;
    }
    return wrong;
}

template<typename T>
void check_narrow_floats(ElementType type) {
    CHECK(wrong_narrow_results<T>(sum, type, [](float a, float b) { return a + b; }) == 0);
    CHECK(wrong_narrow_results<T>(product, type, [](float a, float b) { return a * b; }) == 0);
    const auto nan_wins = [](float a, float b, float other) {
        return std::isnan(a) || std::isnan(b) ? std::numeric_limits<float>::quiet_NaN() : other;
    };
    const auto least = [&](float a, float b) {
        return nan_wins(a, b, a < b || (a == b && std::signbit(a)) ? a : b);
    };
    const auto greatest = [&](float a, float b) {
        return nan_wins(a, b, a > b || (a == b && !std::signbit(a)) ? a : b);
    };
    CHECK(wrong_narrow_results<T>(minimum, type, least) == 0);
    CHECK(wrong_narrow_results<T>(maximum, type, greatest) == 0);
}

template<typename T>
using Pairs = std::vector<Pair<T>>;

template<typename T>
bool is_same(const Pairs<T>& got, const Pairs<T>& expected) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const T a = got[i].value, b = expected[i].value;
        bool is_equal = a == b;
        if constexpr (std::is_floating_point_v<T>) {
            is_equal = std::isnan(b) ? std::isnan(a) : a == b && std::signbit(a) == std::signbit(b);
        }
        if (!is_equal || got[i].index != expected[i].index) return false;
    }
    return got.size() == expected.size();
}

template<typename T>
void check_located_numbers(ElementType type) {
    const Pairs<T> left{{3, 1}, {-7, 4}, {5, 9}, {5, -9}, {0, 0}};
    const Pairs<T> right{{4, 0}, {-8, 6}, {5, 2}, {5, 2}, {0, 0}};
    CHECK(is_same<T>(
        reduced(minimum_location, type, left, right), {{3, 1}, {-8, 6}, {5, 2}, {5, -9}, {0, 0}}
    ));
    CHECK(is_same<T>(
        reduced(maximum_location, type, left, right), {{4, 0}, {-7, 4}, {5, 2}, {5, -9}, {0, 0}}
    ));
}

template<typename T>
void check_located_floats(ElementType type) {
    check_located_numbers<T>(type);
    const T nan = std::numeric_limits<T>::quiet_NaN(), far = std::numeric_limits<T>::infinity();
    const T minus_zero = -T{0};
    const Pairs<T> left{{nan, 5}, {1, 1}, {nan, 5}, {nan, 1}, {0, 2}, {minus_zero, 3}, {far, 4}};
    const Pairs<T> right{{1, 1}, {nan, 5}, {nan, 1}, {nan, 5}, {minus_zero, 1}, {0, 4}, {-far, 5}};
    const Pairs<T> both{{nan, 5}, {nan, 5}, {nan, 1}, {nan, 1}, {minus_zero, 1}, {minus_zero, 3}};
    Pairs<T> least = both, greatest = both;
    least.push_back({-far, 5});
    greatest.push_back({far, 4});
    CHECK(is_same<T>(reduced(minimum_location, type, left, right), least));
    CHECK(is_same<T>(reduced(maximum_location, type, left, right), greatest));
}

}  // namespace

TEST_CASE("reduce: which operations a type has is the table of dlrt.h", "[reduce]") {
    using enum ElementType;
    const std::set<ReduceOp> none_at_all{};
    const std::set<ReduceOp> bits{bit_and, bit_or, bit_xor};
    const std::set<ReduceOp> truth{logical_and, logical_or, logical_xor, bit_and, bit_or, bit_xor};
    const std::set<ReduceOp> all(std::begin(all_ops) + 1, std::end(all_ops) - 3);
    const std::set<ReduceOp> ordered{sum, product, minimum, maximum, average};
    const std::set<ReduceOp> unordered{sum, product, average};
    const std::set<ReduceOp> located{minimum_location, maximum_location};
    const std::map<ElementType, std::set<ReduceOp>> table{
        {none, none_at_all},
        {byte, bits},
        {boolean, truth},
        {character, none_at_all},
        {int8, all},
        {uint8, all},
        {int16, all},
        {uint16, all},
        {int32, all},
        {uint32, all},
        {int64, all},
        {uint64, all},
        {float16, ordered},
        {bfloat16, ordered},
        {float32, ordered},
        {float64, ordered},
        {long_double, ordered},
        {complex64, unordered},
        {complex128, unordered},
        {float32_int32, located},
        {float64_int32, located},
        {int32_int32, located},
        {int64_int32, located},
        {int16_int32, located},
        {long_double_int32, located},
    };
    CHECK(table.size() == element_type_count);
    for (const auto& [type, ops] : table) {
        for (ReduceOp op : all_ops) {
            INFO(element_name(type) << " op " << static_cast<int>(op));
            CHECK(is_defined(op, type) == ops.contains(op));
        }
        CHECK_FALSE(is_defined(static_cast<ReduceOp>(14), type));
    }
}

TEST_CASE("reduce: integers of all widths, wrapping", "[reduce]") {
    check_integers<std::int8_t>(ElementType::int8);
    check_integers<std::uint8_t>(ElementType::uint8);
    check_integers<std::int16_t>(ElementType::int16);
    check_integers<std::uint16_t>(ElementType::uint16);
    check_integers<std::int32_t>(ElementType::int32);
    check_integers<std::uint32_t>(ElementType::uint32);
    check_integers<std::int64_t>(ElementType::int64);
    check_integers<std::uint64_t>(ElementType::uint64);
}

TEST_CASE("reduce: floats, where NaN wins and -0 is less than +0", "[reduce]") {
    check_floats<float>(ElementType::float32);
    check_floats<double>(ElementType::float64);
    check_floats<long double>(ElementType::long_double);
}

TEST_CASE("reduce: long rows of floats are the scalar results", "[reduce]") {
    std::mt19937 random(3);
    std::vector<float> left, right, expected;
    for (int i = 0; i < 10'007; ++i) {
        left.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
        right.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
        expected.push_back(left.back() + right.back());
    }
    const std::vector<float> result = reduced(sum, ElementType::float32, left, right);
    int wrong = 0;
    for (std::size_t i = 0; i < result.size(); ++i) {
        const bool is_nan = std::isnan(expected[i]);
        if (is_nan ? !std::isnan(result[i]) : result[i] != expected[i]) ++wrong;
    }
    CHECK(wrong == 0);
}

TEST_CASE("reduce: the left NaN is kept when both are", "[reduce]") {
    const std::vector<std::uint32_t> left{0x7fc00001, 0x7fc00002}, right{0x7fc00003, 0x3f800000};
    const std::vector<std::uint32_t> expected{0x7fc00001, 0x7fc00002};
    CHECK(reduced(minimum, ElementType::float32, left, right) == expected);
    CHECK(reduced(maximum, ElementType::float32, left, right) == expected);
}

TEST_CASE("reduce: complex numbers", "[reduce]") {
    check_complex<float>(ElementType::complex64);
    check_complex<double>(ElementType::complex128);
}

TEST_CASE("reduce: locations, where ties go to the smaller index and NaN wins", "[reduce]") {
    check_located_floats<float>(ElementType::float32_int32);
    check_located_floats<double>(ElementType::float64_int32);
    check_located_floats<long double>(ElementType::long_double_int32);
    check_located_numbers<std::int16_t>(ElementType::int16_int32);
    check_located_numbers<std::int32_t>(ElementType::int32_int32);
    check_located_numbers<std::int64_t>(ElementType::int64_int32);
}

TEST_CASE("reduce: an average is a sum, and then a quotient", "[reduce]") {
    CHECK(
        reduced(average, ElementType::float64, std::vector{1.5, -2.0}, std::vector{2.25, 7.0}) ==
        std::vector{3.75, 5.0}
    );
    std::vector<double> doubles{7, -1, 0};
    divide_elements(ElementType::float64, doubles.data(), 3, 4);
    CHECK(doubles == std::vector<double>{1.75, -0.25, 0});
    std::vector<std::complex<float>> complex{{6, -3}, {1, 0}};
    divide_elements(ElementType::complex64, complex.data(), 2, 3);
    CHECK(complex == std::vector<std::complex<float>>{{2, -1}, {1.0F / 3.0F, 0}});
    std::vector<std::uint16_t> halves{0x4700, 0x7bff};  // 7, 65504
    divide_elements(ElementType::float16, halves.data(), 2, 3);
    CHECK(halves == std::vector<std::uint16_t>{0x40ab, 0x7555});  // 2.333984375, 21840
    CHECK(is_defined_for_prefix(sum));
    CHECK_FALSE(is_defined_for_prefix(average));
}

TEST_CASE("reduce: truth values, whatever byte is true", "[reduce]") {
    const std::vector<std::uint8_t> left{0, 0, 1, 1, 2, 4}, right{0, 1, 0, 1, 4, 0};
    using Truths = std::vector<std::uint8_t>;
    for (ReduceOp op : {logical_and, bit_and}) {
        CHECK(reduced(op, ElementType::boolean, left, right) == Truths{0, 0, 0, 1, 1, 0});
    }
    for (ReduceOp op : {logical_or, bit_or}) {
        CHECK(reduced(op, ElementType::boolean, left, right) == Truths{0, 1, 1, 1, 1, 1});
    }
    for (ReduceOp op : {logical_xor, bit_xor}) {
        CHECK(reduced(op, ElementType::boolean, left, right) == Truths{0, 1, 1, 0, 0, 1});
    }
    CHECK(reduced(bit_and, ElementType::byte, left, right) == Truths{0, 0, 0, 1, 0, 0});
    CHECK(reduced(bit_xor, ElementType::byte, left, right) == Truths{0, 1, 1, 0, 6, 4});
}

TEST_CASE("reduce: C07 a, narrow floats are float results rounded once", "[reduce]") {
    check_narrow_floats<Float16>(ElementType::float16);
    check_narrow_floats<BFloat16>(ElementType::bfloat16);
}

TEST_CASE("reduce: C07 a, 200,000 float16 sums, infinite only from 65520", "[reduce]") {
    std::mt19937 random(9);
    std::uniform_real_distribution<float> uniform(-65504, 65504);
    std::vector<Float16> left, right;
    for (int i = 0; i < 200'000; ++i) {
        left.push_back(narrowed<Float16>(uniform(random)));
        right.push_back(narrowed<Float16>(uniform(random)));
    }
    std::vector<Float16> result(left.size());
    reduce_elements(
        sum, ElementType::float16, left.data(), right.data(), result.data(), result.size()
    );
    int wrong = 0;
    for (std::size_t i = 0; i < result.size(); ++i) {
        // The sum of two float16 is exact in double; the nearest float16 is at most half a unit
        // off.
        const double exact = static_cast<double>(widen(left[i])) + widen(right[i]);
        const double got = widen(result[i]);
        if (std::fabs(exact) >= 65520) {
            if (!std::isinf(got) || std::signbit(got) != std::signbit(exact)) ++wrong;
            continue;
        }
        int exponent = 0;
        std::frexp(exact, &exponent);
        const double half_unit = std::ldexp(0.5, std::max(exponent - 11, -24));
        if (!(std::fabs(got - exact) <= half_unit)) ++wrong;
    }
    CHECK(wrong == 0);
}

TEST_CASE("reduce: chains of narrow floats are carried wide", "[reduce]") {
    CHECK(accumulation_type(ElementType::float16) == ElementType::float32);
    CHECK(accumulation_type(ElementType::bfloat16) == ElementType::float32);
    CHECK(accumulation_type(ElementType::float64) == ElementType::float64);

    // C07 b: 2048 + seven times 1, and 256 + seven times 1 in bfloat16.
    const auto chain = [](ElementType type, std::uint16_t first, std::uint16_t one) {
        float total = 0, next = 0;
        widen_elements(type, &first, &total, 1);
        widen_elements(type, &one, &next, 1);
        for (int i = 0; i < 7; ++i) {
            reduce_elements(sum, accumulation_type(type), &total, &next, &total, 1);
        }
        std::uint16_t result = 0;
        narrow_elements(type, &total, &result, 1);
        return result;
    };
    CHECK(chain(ElementType::float16, 0x6800, 0x3c00) == 0x6804);   // 2056
    CHECK(chain(ElementType::bfloat16, 0x4380, 0x3f80) == 0x4384);  // 264

    // C07 d: 32 times the float16 next to 0.1 is 3.19921875.
    const std::vector<std::uint16_t> tenths(32, 0x2e66);
    std::vector<float> wide(32);
    widen_elements(ElementType::float16, tenths.data(), wide.data(), 32);
    for (std::size_t i = 1; i < 32; ++i) {
        reduce_elements(sum, ElementType::float32, &wide[0], &wide[i], &wide[0], 1);
    }
    CHECK(wide[0] == 3.19921875F);
    const std::vector<double> same{1, 2, 3};
    std::vector<double> copy(3);
    widen_elements(ElementType::float64, same.data(), copy.data(), 3);
    CHECK(copy == same);
}

}  // namespace dlrt
