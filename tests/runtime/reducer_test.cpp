// SPDX-License-Identifier: Apache-2.0
#include "runtime/reducer.hpp"

#include "runtime/collective_state.hpp"

#include <cstring>
#include <vector>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

constexpr Handle handle{77, 5};

/// Appends a digit: (12, 3) is 123 in this order only. Notes what it is called with.
struct Digits {
    LayoutRef layout;
    std::uint64_t calls = 0, elements = 0;
    bool is_right = true;

    [[nodiscard]] Reducer reducer() {
        const auto append = [this](const void* left, void* right, std::int64_t count, Handle type) {
            ++calls;
            elements += static_cast<std::uint64_t>(count);
            is_right = is_right && count > 0 && type == handle;
            for (std::int64_t i = 0; i < count; ++i) {
                const std::int64_t at = i * layout->extent_bytes() +
                                        layout->true_lower_bound_bytes();
                std::int64_t a = 0, b = 0;
                std::memcpy(&a, static_cast<const std::byte*>(left) + at, sizeof a);
                std::memcpy(&b, static_cast<std::byte*>(right) + at, sizeof b);
                b += 10 * a;
                std::memcpy(static_cast<std::byte*>(right) + at, &b, sizeof b);
            }
        };
        return {std::make_shared<const UserOp>(UserOp{append, false}), layout, handle};
    }
};

LayoutRef int64_at(std::int64_t lower_bound_bytes, std::int64_t extent_bytes) {
    return *Layout::resized(lower_bound_bytes, extent_bytes, Layout::of(ElementType::int64));
}

using Numbers = std::vector<std::int64_t>;

enum class Target : std::uint8_t { left, right, other };

Numbers appended(Digits& digits, Numbers left, Numbers right, Target target) {
    const Reducer reducer = digits.reducer();
    Arena memory;
    Numbers other(left.size());
    const Numbers left_before = left, right_before = right;
    Numbers& result = target == Target::left ? left : target == Target::right ? right : other;
    const auto bytes_of = [](Numbers& numbers) {
        return reinterpret_cast<std::byte*>(numbers.data());
    };
    reducer.apply(
        bytes_of(left), bytes_of(right), bytes_of(result), left.size() * sizeof(std::int64_t),
        memory.at_least(reducer.memory_bytes())
    );
    CHECK((target == Target::left || left == left_before));
    CHECK((target == Target::right || right == right_before));
    return result;
}

}  // namespace

TEST_CASE("reducer: a user's operands keep their order, wherever the result goes", "[runtime]") {
    const LayoutRef layouts[] = {
        int64_at(0, 8),      // dense
        int64_at(0, 24),     // gaps behind
        int64_at(-9380, 8),  // dense, and bounds elsewhere
        int64_at(-9380, 9388), int64_at(16, 40), int64_at(0, -16), int64_at(0, 1 << 20),
    };
    for (const LayoutRef& layout : layouts) {
        for (const Target target : {Target::left, Target::right, Target::other}) {
            INFO(layout->lower_bound_bytes() << " " << layout->extent_bytes());
            Digits digits{layout};
            CHECK(
                appended(digits, {1, 23, -4}, {5, 6, 7}, target) ==
                std::vector<std::int64_t>{15, 236, -33}
            );
            CHECK(digits.is_right);
            CHECK(digits.elements == 3);
        }
    }
}

TEST_CASE("reducer: more elements than a batch holds are all combined once", "[runtime]") {
    for (const LayoutRef& layout : {int64_at(0, 8), int64_at(0, 24), int64_at(-9380, 9388)}) {
        for (const Target target : {Target::left, Target::right, Target::other}) {
            Numbers left, right, expected;
            for (std::int64_t i = 0; i < 20'001; ++i) {
                left.push_back(i);
                right.push_back(i % 10);
                expected.push_back(10 * i + i % 10);
            }
            Digits digits{layout};
            CHECK(appended(digits, left, right, target) == expected);
            CHECK(digits.is_right);
            CHECK(digits.elements == 20'001);
        }
    }
}

TEST_CASE("reducer: a user's function is never called for nothing", "[runtime]") {
    for (const LayoutRef& layout : {int64_at(0, 8), int64_at(0, 24)}) {
        Digits digits{layout};
        CHECK(appended(digits, {}, {}, Target::right).empty());
        CHECK(digits.calls == 0);
    }
    Digits digits{*Layout::contiguous(0, Layout::of(ElementType::int64))};
    CHECK(digits.reducer().unit_bytes() == 1);
    digits.reducer().apply(nullptr, nullptr, nullptr, 0, nullptr);
    CHECK(digits.calls == 0);
}

TEST_CASE("reducer: memory is that of a batch, and none for dlrt's own", "[runtime]") {
    CHECK(Reducer(ReduceOp::sum, ElementType::float64).memory_bytes() == 0);
    for (const LayoutRef& layout : {int64_at(0, 8), int64_at(0, 24), int64_at(-9380, 9388)}) {
        Digits digits{layout};
        CHECK(digits.reducer().memory_bytes() <= 2 * (64 << 10) + 512);
    }
    // Two elements with a huge gap behind each.
    Digits digits{int64_at(0, std::int64_t{1} << 62)};
    CHECK(digits.reducer().memory_bytes() >= std::uint64_t{1} << 60);
}

TEST_CASE("reducer: a structure lies where the user's type says", "[runtime]") {
    struct Particle {
        double mass;
        std::int32_t name;
    };
    const std::int64_t lengths[] = {1, 1}, places[] = {0, 8};
    const LayoutRef parts[] = {Layout::of(ElementType::float64), Layout::of(ElementType::int32)};
    const LayoutRef packed = *Layout::structure(lengths, places, parts);
    const LayoutRef layout = *Layout::resized(0, sizeof(Particle), packed);
    const auto heavier = [](const void* left, void* right, std::int64_t count, Handle) {
        for (std::int64_t i = 0; i < count; ++i) {
            const Particle& a = static_cast<const Particle*>(left)[i];
            Particle& b = static_cast<Particle*>(right)[i];
            if (a.mass > b.mass) b = a;
        }
    };
    const Reducer reducer(std::make_shared<const UserOp>(UserOp{heavier, true}), layout, handle);
    CHECK(reducer.unit_bytes() == 12);
    CHECK(reducer.operand_order() == coll::OperandOrder::any);
    const auto pack_all = [&](const std::vector<Particle>& particles) {
        std::vector<std::byte> stream(particles.size() * 12);
        pack(*layout, particles.size(), particles.data(), 0, stream);
        return stream;
    };
    std::vector<std::byte> left = pack_all({{1, 10}, {5, 11}, {-1, 12}});
    const std::vector<std::byte> right = pack_all({{2, 20}, {4, 21}, {-2, 22}});
    Arena memory;
    reducer.apply(
        left.data(), right.data(), left.data(), left.size(), memory.at_least(reducer.memory_bytes())
    );
    CHECK(left == pack_all({{2, 20}, {5, 11}, {-1, 12}}));
}

TEST_CASE("reducer: only users' operations that do not commute need the order", "[runtime]") {
    CHECK(Reducer(ReduceOp::sum, ElementType::int32).operand_order() == coll::OperandOrder::any);
    Digits digits{int64_at(0, 8)};
    CHECK(digits.reducer().operand_order() == coll::OperandOrder::by_rank);
}

TEST_CASE("reducer: what is not there or not defined is not", "[runtime]") {
    CHECK_FALSE(Reducer().is_defined());
    CHECK_FALSE(Reducer(ReduceOp::bit_and, ElementType::float64).is_defined());
    CHECK(Reducer(ReduceOp::bit_and, ElementType::int8).is_defined());
    CHECK(
        Reducer(ReduceOp::minimum_location, ElementType::int8).description() ==
        "minimum with location of int8"
    );
}

TEST_CASE("reducer: an average is divided once, at the end", "[runtime]") {
    const Reducer average(ReduceOp::average, ElementType::float16);
    CHECK(average.carried() == ElementType::float32);
    float sums[] = {7, -3, 0}, values[] = {2, 1, 1};
    auto* const bytes = reinterpret_cast<std::byte*>(sums);
    average.apply(bytes, reinterpret_cast<const std::byte*>(values), bytes, sizeof sums, nullptr);
    CHECK(std::vector<float>(sums, sums + 3) == std::vector<float>{9, -2, 1});
    average.finish(bytes, sizeof sums, 4);
    CHECK(std::vector<float>(sums, sums + 3) == std::vector<float>{2.25, -0.5, 0.25});
    const Reducer sum(ReduceOp::sum, ElementType::float32);
    sum.finish(bytes, sizeof sums, 4);
    CHECK(sums[0] == 2.25);
}

}  // namespace dlrt
