// SPDX-License-Identifier: Apache-2.0
/// Bounds, sizes, signatures and limits of layouts; how data is copied is in pack_test.
#include "runtime/layout.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/layout_node.hpp"
#include "tests/runtime/type_map.hpp"

#include <array>
#include <complex>
#include <cstring>
#include <limits>
#include <string>

#include <catch2/catch.hpp>

namespace dlrt {

namespace {

using Numbers = std::vector<std::int64_t>;

const LayoutRef& int32() {
    return Layout::of(ElementType::int32);
}
const LayoutRef& float64() {
    return Layout::of(ElementType::float64);
}
const LayoutRef& character() {
    return Layout::of(ElementType::character);
}

LayoutRef made(Result<LayoutRef> result) {
    INFO(last_error_text());
    REQUIRE(result.has_value());
    return *std::move(result);
}

constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();

}  // namespace

TEST_CASE("element: sizes are those of the C types and names are as in dlrt.h", "[layout]") {
    CHECK(element_size_bytes(ElementType::none) == 0);
    CHECK(element_size_bytes(ElementType::byte) == 1);
    CHECK(element_size_bytes(ElementType::boolean) == sizeof(bool));
    CHECK(element_size_bytes(ElementType::uint16) == 2);
    CHECK(element_size_bytes(ElementType::bfloat16) == 2);
    CHECK(element_size_bytes(ElementType::float64) == 8);
    CHECK(element_size_bytes(ElementType::long_double) == sizeof(long double));
    CHECK(element_size_bytes(ElementType::complex64) == 8);
    CHECK(element_size_bytes(ElementType::complex128) == 16);
    CHECK(std::string(element_name(ElementType::complex128)) == "complex double");
    CHECK(std::string(element_name(ElementType::float16)) == "float16");
}

TEST_CASE("layout: a predefined one is the same object each time", "[layout]") {
    CHECK(Layout::of(ElementType::int32).get() == Layout::of(ElementType::int32).get());
    CHECK(int32()->extent_bytes() == 4);
    CHECK(int32()->is_contiguous());
    CHECK(int32()->element() == ElementType::int32);
}

TEST_CASE("layout: bounds of random nested types are those of their type maps", "[layout]") {
    test::RandomTypes random(20261129);
    for (int i = 0; i < 4000; ++i) {
        const test::Pair pair = random.type(i % 5);
        INFO("type " << i);
        REQUIRE(pair.layout->lower_bound_bytes() == pair.map.lower());
        REQUIRE(pair.layout->extent_bytes() == pair.map.extent());
        REQUIRE(pair.layout->true_lower_bound_bytes() == pair.map.true_lower());
        REQUIRE(pair.layout->true_extent_bytes() == pair.map.true_upper() - pair.map.true_lower());
        REQUIRE(pair.layout->size_bytes() == pair.map.byte_places(1).size());
        if (!pair.layout->is_contiguous()) continue;
        const auto places = pair.map.byte_places(3);
        for (std::size_t k = 0; k < places.size(); ++k) {
            REQUIRE(places[k] == pair.map.true_lower() + static_cast<std::int64_t>(k));
        }
    }
}

TEST_CASE("layout: a structure gets no padding, resized sets it", "[layout]") {
    const std::array<LayoutRef, 3> fields{int32(), float64(), character()};
    const LayoutRef bare = made(Layout::structure(Numbers{1, 1, 3}, Numbers{0, 8, 16}, fields));
    CHECK(bare->size_bytes() == 15);
    CHECK(bare->extent_bytes() == 19);
    const LayoutRef padded = made(Layout::resized(0, 24, bare));
    CHECK(padded->extent_bytes() == 24);
    CHECK(padded->true_extent_bytes() == 19);
    CHECK(padded->element() == ElementType::none);
}

TEST_CASE("layout: bounds that were set bind the types built from it alone", "[layout]") {
    // MPI-4.1 5.1.6: once a type map holds markers, only markers count.
    const LayoutRef small = made(Layout::resized(0, 2, int32()));
    const std::array<LayoutRef, 2> parts{small, float64()};
    const LayoutRef both = made(Layout::structure(Numbers{1, 1}, Numbers{0, 8}, parts));
    CHECK(both->extent_bytes() == 2);
    CHECK(both->true_extent_bytes() == 16);
}

TEST_CASE("layout: a negative extent runs backwards", "[layout]") {
    const LayoutRef backward = made(Layout::resized(6, -9, int32()));
    const LayoutRef three = made(Layout::contiguous(3, backward));
    CHECK(three->size_bytes() == 12);
    CHECK(three->lower_bound_bytes() == -12);
    CHECK(three->extent_bytes() == 9);
    CHECK(three->true_lower_bound_bytes() == -18);
    CHECK(three->true_extent_bytes() == 22);
}

TEST_CASE("layout: without data all bounds are zero", "[layout]") {
    for (const LayoutRef& empty :
         {made(Layout::contiguous(0, int32())), made(Layout::vector(3, 0, 100, int32())),
          made(Layout::indexed({}, {}, int32())), made(Layout::structure({}, {}, {}))}) {
        CHECK(empty->size_bytes() == 0);
        CHECK(empty->lower_bound_bytes() == 0);
        CHECK(empty->extent_bytes() == 0);
        CHECK(empty->is_contiguous());
    }
    CHECK(made(Layout::contiguous(0, int32()))->element() == ElementType::int32);
}

TEST_CASE("layout: regular patterns are one loop or one run, however described", "[layout]") {
    CHECK(made(Layout::vector(1000, 3, 12, int32()))->is_contiguous());
    CHECK(made(Layout::contiguous(7, made(Layout::contiguous(9, int32()))))->is_contiguous());
    CHECK(made(Layout::indexed(Numbers{1, 2, 3}, Numbers{0, 4, 12}, int32()))->is_contiguous());
    const std::array<LayoutRef, 2> touching{int32(), character()};
    CHECK(made(Layout::structure(Numbers{2, 4}, Numbers{0, 8}, touching))->is_contiguous());
    const Numbers sizes{6, 5, 4}, whole{6, 5, 4}, zero{0, 0, 0};
    CHECK(made(Layout::subarray(sizes, whole, zero, Layout::Order::row_major, int32()))
              ->is_contiguous());
    CHECK_FALSE(made(Layout::vector(2, 1, 8, int32()))->is_contiguous());
    CHECK_FALSE(made(Layout::resized(0, 8, int32()))->is_contiguous());
}

TEST_CASE("layout: beyond 63 bits is refused, up to it is not", "[layout]") {
    CHECK(
        made(Layout::contiguous(huge, Layout::of(ElementType::byte)))->size_bytes() ==
        static_cast<std::uint64_t>(huge)
    );
    CHECK(Layout::contiguous(huge, int32()).error().code == Errc::type);
    CHECK(Layout::contiguous(huge / 4 + 1, int32()).error().code == Errc::type);
    CHECK(Layout::vector(huge, huge, huge, int32()).error().code == Errc::type);
    CHECK(Layout::vector(3, 1, huge, int32()).error().code == Errc::type);
    CHECK(Layout::vector(3, 1, -huge, int32()).error().code == Errc::type);
    CHECK(Layout::indexed(Numbers{1, 1}, Numbers{-huge, huge}, int32()).error().code == Errc::type);
    CHECK(Layout::indexed(Numbers{1}, Numbers{huge - 3}, int32()).error().code == Errc::type);
    CHECK(Layout::resized(huge, 1, int32()).error().code == Errc::type);
    CHECK(made(Layout::resized(-huge, huge, int32()))->lower_bound_bytes() == -huge);
    const Numbers big{1LL << 40, 1LL << 40}, one{1, 1}, zero{0, 0};
    CHECK(
        Layout::subarray(big, one, zero, Layout::Order::row_major, int32()).error().code ==
        Errc::type
    );
    // Many parts whose sizes sum up to more than 128 bits could hold.
    const LayoutRef half = made(Layout::contiguous(huge / 2 + 1, Layout::of(ElementType::byte)));
    const Numbers counts(64, huge), places(64, 0);
    CHECK(Layout::indexed(counts, places, half).error().code == Errc::type);
}

TEST_CASE("layout: bad arguments are named with their value", "[layout]") {
    CHECK(Layout::contiguous(-1, int32()).error().code == Errc::count);
    CHECK(last_error_text() == "block_length is -1; it must be 0 or more");
    CHECK(Layout::vector(-2, 1, 1, int32()).error().code == Errc::count);
    CHECK(last_error_text() == "count is -2; it must be 0 or more");
    CHECK(Layout::indexed(Numbers{1, -5}, Numbers{0, 0}, int32()).error().code == Errc::count);
    CHECK(last_error_text() == "block_lengths[1] is -5; it must be 0 or more");
    CHECK(Layout::indexed(Numbers{1}, Numbers{0, 0}, int32()).error().code == Errc::argument);
    const auto row_major = Layout::Order::row_major;
    CHECK(Layout::subarray({}, {}, {}, row_major, int32()).error().code == Errc::argument);
    const Numbers sizes{4, 8};
    const auto subarray = [&](const Numbers& subsizes, const Numbers& starts) {
        return Layout::subarray(sizes, subsizes, starts, row_major, int32()).error().code;
    };
    CHECK(subarray({2, 4}, {1, 5}) == Errc::argument);
    CHECK(last_error_text() == "dimension 1: 4 elements from 5 are not within 0..8");
    CHECK(subarray({5, 4}, {0, 0}) == Errc::argument);
    CHECK(subarray({2, 4}, {-1, 0}) == Errc::argument);
    CHECK(subarray({2, -4}, {0, 0}) == Errc::count);
    CHECK(subarray({4, 8}, {0, 0}) == Errc::ok);
}

TEST_CASE("layout: endless nesting is refused before the walkers' stack is at risk", "[layout]") {
    LayoutRef nested = int32();
    Status status;
    for (int i = 0; i < 100 && status.ok(); ++i) {
        const std::array<LayoutRef, 2> parts{nested, character()};
        auto next = Layout::structure(
            Numbers{1, 1}, Numbers{0, nested->extent_bytes() + 1 + i % 3}, parts
        );
        status = next.error();
        if (status.ok()) nested = *std::move(next);
    }
    CHECK(status.code == Errc::limit);
    CHECK(nested->size_bytes() > 60);
}

TEST_CASE("signature: equal sequences built in different ways have equal hashes", "[layout]") {
    const LayoutRef ten = made(Layout::contiguous(10, int32()));
    const LayoutRef holes = made(Layout::vector(5, 2, 12, int32()));
    const LayoutRef listed = made(Layout::indexed(Numbers{3, 7}, Numbers{400, 0}, int32()));
    const LayoutRef resized = made(Layout::resized(0, 96, ten));
    CHECK(holes->signature_hash() == ten->signature_hash());
    CHECK(listed->signature_hash() == ten->signature_hash());
    CHECK(resized->signature_hash() == ten->signature_hash());
    CHECK(int32()->signature_hash(10) == ten->signature_hash());
    CHECK(int32()->signature_hash(10'000'000'000) == ten->signature_hash(1'000'000'000));
    CHECK(made(Layout::vector(2, 5, 1, int32()))->signature_hash(7) == int32()->signature_hash(70));
    CHECK(ten->signature_hash(0) == float64()->signature_hash(0));
    CHECK(made(Layout::contiguous(0, int32()))->signature_hash(5) == int32()->signature_hash(0));

    const std::array<LayoutRef, 2> pair{int32(), float64()};
    const LayoutRef once = made(Layout::structure(Numbers{1, 1}, Numbers{0, 8}, pair));
    const std::array<LayoutRef, 4> twice_parts{int32(), float64(), int32(), float64()};
    const LayoutRef twice = made(
        Layout::structure(Numbers{1, 1, 1, 1}, Numbers{64, 0, 32, 99}, twice_parts)
    );
    CHECK(once->signature_hash(2) == twice->signature_hash());
    CHECK(once->signature_hash(1000) == twice->signature_hash(500));
}

TEST_CASE("signature: different sequences have different hashes", "[layout]") {
    std::vector<std::uint32_t> hashes;
    for (int type = 1; type <= static_cast<int>(ElementType::complex128); ++type) {
        for (std::uint64_t count : {1U, 2U, 3U, 7U, 8U, 1000U, 1001U}) {
            hashes.push_back(Layout::of(static_cast<ElementType>(type))->signature_hash(count));
        }
    }
    const std::array<LayoutRef, 2> forward{int32(), float64()}, backward{float64(), int32()};
    for (std::uint64_t count : {1U, 2U, 3U}) {
        const Numbers ones{1, 1}, places{0, 8};
        hashes.push_back(made(Layout::structure(ones, places, forward))->signature_hash(count));
        hashes.push_back(made(Layout::structure(ones, places, backward))->signature_hash(count));
    }
    hashes.push_back(int32()->signature_hash(0));
    std::sort(hashes.begin(), hashes.end());
    CHECK(std::adjacent_find(hashes.begin(), hashes.end()) == hashes.end());
}

TEST_CASE("signature: random types agree exactly when their sequences do", "[layout]") {
    test::RandomTypes random(7);
    std::vector<test::Pair> pairs;
    for (int i = 0; i < 300; ++i) pairs.push_back(random.type(1 + i % 3));
    const auto sequence = [](const test::TypeMap& map) {
        std::vector<ElementType> types;
        for (const auto& entry : map.entries) types.push_back(entry.type);
        return types;
    };
    for (const test::Pair& a : pairs) {
        for (const test::Pair& b : pairs) {
            const bool is_same = sequence(a.map) == sequence(b.map);
            REQUIRE((a.layout->signature_hash() == b.layout->signature_hash()) == is_same);
        }
    }
}

TEST_CASE("layout: a pair lies as C lays out the struct, and travels without gaps", "[layout]") {
    struct DoublePair {
        double value;
        std::int32_t index;
    };
    const LayoutRef& pair = Layout::of(ElementType::float64_int32);
    CHECK(pair->size_bytes() == 12);
    CHECK(pair->extent_bytes() == sizeof(DoublePair));
    CHECK(pair->true_extent_bytes() == 12);
    CHECK(pair->lower_bound_bytes() == 0);
    CHECK_FALSE(pair->is_contiguous());
    CHECK(pair->element() == ElementType::float64_int32);
    CHECK(made(Layout::contiguous(3, pair))->element() == ElementType::float64_int32);
    CHECK(Layout::of(ElementType::float32_int32)->is_contiguous());
    CHECK(Layout::of(ElementType::int32_int32)->is_contiguous());
    CHECK(Layout::of(ElementType::int16_int32)->size_bytes() == 6);
    CHECK(Layout::of(ElementType::int16_int32)->extent_bytes() == 8);

    const DoublePair pairs[] = {{1.5, 7}, {-2.5, 9}};
    std::vector<std::byte> packed(24);
    pack(*pair, 2, pairs, 0, packed);
    double value = 0;
    std::int32_t index = 0;
    std::memcpy(&value, packed.data() + 12, 8);
    std::memcpy(&index, packed.data() + 20, 4);
    CHECK(value == -2.5);
    CHECK(index == 9);

    // The same sequence of elements as a struct that the user describes.
    const std::int64_t lengths[] = {1, 1}, places[] = {0, 8};
    const LayoutRef parts[] = {Layout::of(ElementType::float64), Layout::of(ElementType::int32)};
    const LayoutRef described = made(Layout::structure(lengths, places, parts));
    CHECK(described->signature_hash() == pair->signature_hash());
}

}  // namespace dlrt
