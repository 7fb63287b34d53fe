// SPDX-License-Identifier: Apache-2.0
/// pack and unpack against the type map written out byte by byte, and the cases of B08.
#include "runtime/base/error_text.hpp"
#include "runtime/layout.hpp"
#include "tests/runtime/type_map.hpp"

#include <array>
#include <numeric>

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

template<typename Address>
struct Elements {
    const Layout& layout;
    std::uint64_t count;
    Address address;
};
using From = Elements<const void*>;
using To = Elements<void*>;

/// Moves the stream in fragments from one buffer into another, as a transport does.
void transfer(const From& from, const To& to, std::uint64_t fragment_bytes) {
    const std::uint64_t total = from.layout.size_bytes() * from.count;
    REQUIRE(total == to.layout.size_bytes() * to.count);
    for (std::uint64_t offset = 0; offset < total; offset += fragment_bytes) {
        // Exactly sized, so that a sanitizer sees the first byte too far.
        std::vector<std::byte> fragment(std::min(fragment_bytes, total - offset));
        pack(from.layout, from.count, from.address, offset, fragment);
        unpack(to.layout, to.count, to.address, offset, fragment);
    }
}

const auto fragment_sizes = {
    std::uint64_t{1024}, std::uint64_t{1031}, std::uint64_t{7}, std::uint64_t{8192 + 7},
    std::uint64_t{1} << 30};

struct Record {
    int number;
    double value;
    char text[3];
};

LayoutRef record_layout() {
    const std::array<LayoutRef, 3> fields{int32(), float64(), character()};
    const Numbers places{offsetof(Record, number), offsetof(Record, value), offsetof(Record, text)};
    const LayoutRef bare = made(Layout::structure(Numbers{1, 1, 3}, places, fields));
    return made(Layout::resized(0, sizeof(Record), bare));
}

LayoutRef dense_record_layout() {
    const std::array<LayoutRef, 3> fields{int32(), float64(), character()};
    return made(Layout::structure(Numbers{1, 1, 3}, Numbers{0, 4, 12}, fields));
}

}  // namespace

TEST_CASE("pack: any range of random nested types is what the type map says", "[pack]") {
    test::RandomTypes random(42);
    for (int round = 0; round < 3000; ++round) {
        const test::Pair pair = random.type(round % 5);
        const std::int64_t count = random.number(1, 4);
        const auto places = pair.map.byte_places(count);
        if (places.empty() || places.size() > 20'000) continue;
        const auto [low, high] = std::minmax_element(places.begin(), places.end());
        std::vector<std::byte> memory(static_cast<std::size_t>(*high - *low + 1));
        for (std::byte& byte : memory) byte = static_cast<std::byte>(random.number(0, 255));
        const std::byte* base = memory.data() - *low;
        const auto at = [&](std::int64_t place) { return static_cast<std::size_t>(place - *low); };

        const auto size = static_cast<std::int64_t>(places.size());
        const std::int64_t start = random.number(0, size - 1);
        const std::int64_t length = random.number(0, size - start);
        std::vector<std::byte> packed(static_cast<std::size_t>(length));
        pack(
            *pair.layout, static_cast<std::uint64_t>(count), base,
            static_cast<std::uint64_t>(start), packed
        );
        std::vector<std::byte> expected = memory;
        for (std::int64_t i = 0; i < length; ++i) {
            const std::int64_t place = places[static_cast<std::size_t>(start + i)];
            REQUIRE(packed[static_cast<std::size_t>(i)] == memory[at(place)]);
        }

        for (std::byte& byte : packed) byte = static_cast<std::byte>(random.number(0, 255));
        for (std::int64_t i = 0; i < length; ++i) {
            const std::int64_t place = places[static_cast<std::size_t>(start + i)];
            expected[at(place)] = packed[static_cast<std::size_t>(i)];
        }
        unpack(
            *pair.layout, static_cast<std::uint64_t>(count), memory.data() - *low,
            static_cast<std::uint64_t>(start), packed
        );
        REQUIRE(memory == expected);
    }
}

TEST_CASE("pack: every offset and length of one irregular type", "[pack]") {
    const LayoutRef inner = made(Layout::indexed(Numbers{2, 1, 3}, Numbers{8, 0, 20}, int32()));
    const LayoutRef layout = made(Layout::vector(3, 2, 100, inner));
    std::vector<std::byte> memory(2 * static_cast<std::size_t>(layout->extent_bytes()));
    for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(i);
    std::vector<std::byte> whole(2 * layout->size_bytes());
    pack(*layout, 2, memory.data(), 0, whole);
    for (std::size_t start = 0; start < whole.size(); ++start) {
        for (std::size_t length = 0; length <= whole.size() - start; length += 1 + start % 3) {
            std::vector<std::byte> piece(length);
            pack(*layout, 2, memory.data(), start, piece);
            REQUIRE(std::equal(
                piece.begin(), piece.end(), whole.begin() + static_cast<std::ptrdiff_t>(start)
            ));
        }
    }
}

TEST_CASE("pack: B08 a, a sub-array starts at its offset", "[pack]") {
    double array[4][8];
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 8; ++j) array[i][j] = 100 * i + j;
    }
    const Numbers sizes{4, 8}, subsizes{2, 4}, starts{1, 4};
    const auto row_major = Layout::Order::row_major;
    const LayoutRef part = made(Layout::subarray(sizes, subsizes, starts, row_major, float64()));
    for (std::uint64_t fragment : fragment_sizes) {
        std::array<double, 8> received{};
        transfer({*part, 1, array}, {*float64(), 8, received.data()}, fragment);
        CHECK(received == std::array<double, 8>{104, 105, 106, 107, 204, 205, 206, 207});
    }
}

TEST_CASE("pack: B08 b, an extent shorter than the data makes elements overlap", "[pack]") {
    const LayoutRef four = made(Layout::contiguous(4, int32()));
    const LayoutRef overlapping = made(Layout::resized(0, 4, four));
    const std::array<std::int32_t, 8> numbers{0, 1, 2, 3, 4, 5, 6, 7};
    for (std::uint64_t fragment : fragment_sizes) {
        std::array<std::int32_t, 8> received{};
        transfer({*overlapping, 2, numbers.data()}, {*int32(), 8, received.data()}, fragment);
        CHECK(received == std::array<std::int32_t, 8>{0, 1, 2, 3, 1, 2, 3, 4});
    }
}

TEST_CASE("pack: B08 c, a large strided part to a dense buffer and back", "[pack]") {
    std::vector<std::int32_t> array(900 * 900);
    std::iota(array.begin(), array.end(), 0);
    const Numbers sizes{900, 900}, subsizes{450, 450}, starts{0, 0};
    const auto row_major = Layout::Order::row_major;
    const LayoutRef part = made(Layout::subarray(sizes, subsizes, starts, row_major, int32()));
    const LayoutRef vector = made(Layout::vector(450, 450, 3600, int32()));
    for (std::uint64_t fragment : {1024, 1031, 65536, 65543}) {
        std::vector<std::int32_t> received(450 * 450, -1), back(900 * 900, -1);
        transfer({*part, 1, array.data()}, {*int32(), received.size(), received.data()}, fragment);
        transfer({*int32(), received.size(), received.data()}, {*vector, 1, back.data()}, fragment);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < 900; ++i) {
            for (std::size_t j = 0; j < 900; ++j) {
                const auto value = static_cast<std::int32_t>(900 * i + j);
                const bool is_part = i < 450 && j < 450;
                if (is_part && received[450 * i + j] != value) ++wrong;
                if (back[900 * i + j] != (is_part ? value : -1)) ++wrong;
            }
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("pack: B08 d, fields arrive and the receiver's padding stays", "[pack]") {
    const LayoutRef padded = record_layout(), dense = dense_record_layout();
    CHECK(padded->size_bytes() == dense->size_bytes());
    CHECK(padded->signature_hash() == dense->signature_hash());
    for (std::size_t count : {1U, 2U, 69U, 1000U, 100'000U}) {
        std::vector<Record> records(count);
        std::memset(static_cast<void*>(records.data()), 0x11, count * sizeof(Record));
        for (std::size_t i = 0; i < count; ++i) {
            records[i].number = static_cast<int>(i);
            records[i].value = 0.5 * static_cast<double>(i);
            std::memcpy(records[i].text, i % 2 == 0 ? "ab" : "xy", 3);
        }
        for (std::uint64_t fragment : {std::uint64_t{1024}, std::uint64_t{64 * 1024 + 7}}) {
            std::vector<std::byte> stream(15 * count);
            transfer({*padded, count, records.data()}, {*dense, count, stream.data()}, fragment);
            std::vector<Record> received(count);
            std::memset(static_cast<void*>(received.data()), 0x77, count * sizeof(Record));
            transfer({*dense, count, stream.data()}, {*padded, count, received.data()}, fragment);

            // The expected bytes: 0x77 wherever there is no field.
            std::vector<Record> expected(count);
            std::memset(static_cast<void*>(expected.data()), 0x77, count * sizeof(Record));
            for (std::size_t i = 0; i < count; ++i) {
                expected[i].number = records[i].number;
                expected[i].value = records[i].value;
                std::memcpy(expected[i].text, records[i].text, 3);
            }
            CHECK(std::memcmp(received.data(), expected.data(), count * sizeof(Record)) == 0);
        }
    }
}

TEST_CASE("pack: B08 e, a negative lower bound and a negative stride", "[pack]") {
    const LayoutRef backward = made(Layout::vector(5, 1, -8, int32()));
    CHECK(backward->lower_bound_bytes() == -32);
    std::array<std::int32_t, 18> numbers;
    std::iota(numbers.begin(), numbers.end(), 0);
    for (std::uint64_t fragment : fragment_sizes) {
        std::array<std::int32_t, 10> received{};
        // Extent 36 bytes: the second element begins 9 ints further.
        transfer({*backward, 2, &numbers[8]}, {*int32(), 10, received.data()}, fragment);
        CHECK(received == std::array<std::int32_t, 10>{8, 6, 4, 2, 0, 17, 15, 13, 11, 9});
        std::array<std::int32_t, 18> back;
        back.fill(-1);
        transfer({*int32(), 10, received.data()}, {*backward, 2, &back[8]}, fragment);
        CHECK(
            back ==
            std::array<std::int32_t, 18>{
                0, -1, 2, -1, 4, -1, 6, -1, 8, 9, -1, 11, -1, 13, -1, 15, -1, 17}
        );
    }
}

TEST_CASE("pack: displacements may be absolute addresses from a null base", "[pack]") {
    std::array<std::int32_t, 3> first{1, 2, 3};
    std::array<double, 2> second{0.5, 0.25};
    const std::array<LayoutRef, 2> olds{int32(), float64()};
    const Numbers places{
        static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(first.data())),
        static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(second.data()))};
    const LayoutRef absolute = made(Layout::structure(Numbers{3, 2}, places, olds));
    std::array<std::byte, 28> packed;
    pack(*absolute, 1, nullptr, 0, packed);
    CHECK(std::memcmp(packed.data(), first.data(), 12) == 0);
    CHECK(std::memcmp(packed.data() + 12, second.data(), 16) == 0);
    first.fill(0);
    second.fill(0);
    unpack(*absolute, 1, nullptr, 0, packed);
    CHECK(first == std::array<std::int32_t, 3>{1, 2, 3});
    CHECK(second == std::array<double, 2>{0.5, 0.25});
}

TEST_CASE("pack: nothing is touched for zero bytes or an empty type", "[pack]") {
    pack(*int32(), 0, nullptr, 0, {});
    unpack(*int32(), 0, nullptr, 0, {});
    const LayoutRef empty = made(Layout::contiguous(0, int32()));
    pack(*empty, 1000, nullptr, 0, {});
    unpack(*empty, 1000, nullptr, 0, {});
}

TEST_CASE("pack: offsets beyond 32 bits land on the right element", "[pack]") {
    // 2^33 elements of one byte, a page apart: only the touched bytes need to exist.
    const LayoutRef sparse = made(Layout::resized(0, 4096, Layout::of(ElementType::byte)));
    const std::uint64_t start = (std::uint64_t{1} << 33) - 5;
    std::vector<std::byte> memory(5 * 4096);
    for (std::size_t i = 0; i < 5; ++i) memory[i * 4096] = static_cast<std::byte>(i + 1);
    const auto base = reinterpret_cast<std::uintptr_t>(memory.data()) - start * 4096;
    std::array<std::byte, 5> packed{};
    pack(*sparse, std::uint64_t{1} << 33, reinterpret_cast<const void*>(base), start, packed);
    for (std::size_t i = 0; i < 5; ++i) CHECK(packed[i] == static_cast<std::byte>(i + 1));
}

}  // namespace dlrt
