// SPDX-License-Identifier: Apache-2.0
#include "runtime/collective_buffer.hpp"

#include <array>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

constexpr std::uint16_t one = 0x3c00, two = 0x4000, three = 0x4200, gap = 0x7777;

/// 1.0, 2.0, 3.0 as half, two unused ones between them.
std::vector<std::uint16_t> gapped_halves() {
    return {one, gap, gap, two, gap, gap, three, gap, gap};
}
const LayoutRef& gapped_half() {
    static const LayoutRef layout = *Layout::resized(0, 6, Layout::of(ElementType::float16));
    return layout;
}

}  // namespace

TEST_CASE("carriage: only sums and products of narrow floats are widened", "[runtime]") {
    CHECK(carriage_of({ReduceOp::sum, ElementType::float16}).carried == ElementType::float32);
    CHECK(carriage_of({ReduceOp::product, ElementType::bfloat16}).carried == ElementType::float32);
    CHECK_FALSE(carriage_of({ReduceOp::maximum, ElementType::float16}).is_widening());
    CHECK_FALSE(carriage_of({ReduceOp::sum, ElementType::float64}).is_widening());
}

TEST_CASE("carriage: data with gaps or to be widened can't travel as it lies", "[runtime]") {
    const LayoutRef& half = Layout::of(ElementType::float16);
    CHECK_FALSE(needs_staging(half, carriage_of({ReduceOp::maximum, ElementType::float16})));
    CHECK(needs_staging(half, carriage_of({ReduceOp::sum, ElementType::float16})));
    CHECK(needs_staging(gapped_half(), carriage_of({ReduceOp::maximum, ElementType::float16})));
}

TEST_CASE("carriage: a window is packed and widened, and comes back the same way", "[runtime]") {
    std::vector<std::uint16_t> data = gapped_halves();
    const Carriage carriage = carriage_of({ReduceOp::sum, ElementType::float16});
    std::array<float, 2> carried{};
    std::array<std::byte, 4> packing{};
    auto* target = reinterpret_cast<std::byte*>(carried.data());
    load({data.data(), 3, &gapped_half()}, carriage, {1, 2}, packing.data(), target);
    CHECK(carried == std::array{2.0f, 3.0f});

    carried = {3.0f, 1.0f};
    store({data.data(), 3, &gapped_half()}, carriage, {1, 2}, packing.data(), target);
    CHECK(data == std::vector<std::uint16_t>{one, gap, gap, three, gap, gap, one, gap, gap});
}

TEST_CASE("carriage: dense data is widened without packing", "[runtime]") {
    std::vector<std::uint16_t> data{one, two, three};
    const LayoutRef& half = Layout::of(ElementType::float16);
    const Carriage carriage = carriage_of({ReduceOp::sum, ElementType::float16});
    std::array<float, 2> carried{};
    auto* target = reinterpret_cast<std::byte*>(carried.data());
    load({data.data(), 3, &half}, carriage, {1, 2}, nullptr, target);
    CHECK(carried == std::array{2.0f, 3.0f});
    store({data.data(), 3, &half}, carriage, {0, 2}, nullptr, target);
    CHECK(data == std::vector<std::uint16_t>{two, three, three});
}

TEST_CASE("carriage: gaps alone are packed into the target", "[runtime]") {
    std::vector<std::uint16_t> data = gapped_halves();
    const Carriage carriage = carriage_of({ReduceOp::maximum, ElementType::float16});
    std::array<std::uint16_t, 3> carried{};
    auto* target = reinterpret_cast<std::byte*>(carried.data());
    load({data.data(), 3, &gapped_half()}, carriage, {0, 3}, nullptr, target);
    CHECK(carried == std::array{one, two, three});
}

TEST_CASE("carriage: dense elements are found by their number", "[runtime]") {
    std::vector<std::uint16_t> data{one, two, three};
    const Buffer buffer{data.data(), 3, &Layout::of(ElementType::float16)};
    const Carriage carriage = carriage_of({ReduceOp::maximum, ElementType::float16});
    CHECK(address_of(buffer, carriage, 2) == reinterpret_cast<std::byte*>(&data[2]));
    CHECK(address_of(Buffer{nullptr, 0, buffer.layout}, carriage, 0) == nullptr);
}

}  // namespace dlrt
