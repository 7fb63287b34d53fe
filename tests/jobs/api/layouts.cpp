// SPDX-License-Identifier: Apache-2.0
/// Types with gaps from end to end: what arrives, and that gaps stay untouched; np 2.
#include "tests/jobs/api/job.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <numeric>

using namespace job;

namespace {

constexpr dlrt_comm comm = DLRT_COMM_WORLD;

dlrt_type box(
    const std::array<std::int64_t, 2>& sizes, const std::array<std::int64_t, 2>& subsizes,
    const std::array<std::int64_t, 2>& starts, dlrt_type old
) {
    dlrt_type made{};
    expect_ok(dlrt_type_subarray(
        2, sizes.data(), subsizes.data(), starts.data(), DLRT_ROW_MAJOR, old, &made
    ));
    return made;
}

void box_to_self() {
    std::array<std::array<double, 8>, 4> field{};
    for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t j = 0; j < 8; ++j) field[i][j] = static_cast<double>(100 * i + j);
    }
    dlrt_type part = box({4, 8}, {2, 4}, {1, 4}, DLRT_DOUBLE);
    std::array<double, 8> dense{};
    dlrt_status status{};
    expect_ok(dlrt_sendrecv(
        field.data(), 1, part, 0, 1, dense.data(), 8, DLRT_DOUBLE, 0, 1, DLRT_COMM_SELF, &status
    ));
    expect(dense == std::array<double, 8>{104, 105, 106, 107, 204, 205, 206, 207}, "box");
    expect_equal(status.size_bytes, std::uint64_t{64});
    expect_ok(dlrt_type_free(&part));
}

/// Elements that overlap: four ints each, one int apart.
void short_extent_to_self() {
    std::array<int, 8> source{0, 1, 2, 3, 4, 5, 6, 7};
    std::array<int, 8> target{};
    dlrt_type four{}, overlapping{};
    expect_ok(dlrt_type_contiguous(4, DLRT_INT, &four));
    expect_ok(dlrt_type_resized(four, 0, sizeof(int), &overlapping));
    expect_ok(dlrt_sendrecv(
        source.data(), 2, overlapping, 0, 1, target.data(), 8, DLRT_INT, 0, 1, DLRT_COMM_SELF,
        nullptr
    ));
    expect(target == std::array{0, 1, 2, 3, 1, 2, 3, 4}, "short extent");
    expect_ok(dlrt_type_free(&four));
    expect_ok(dlrt_type_free(&overlapping));
}

/// A box of 450 x 450 in the middle of 900 x 900, to a dense array, and back into a box.
void large_box(const World& world) {
    constexpr std::size_t edge = 900, half = 450;
    dlrt_type part = box({edge, edge}, {half, half}, {200, 300}, DLRT_INT);
    std::vector<int> whole(edge * edge), dense(half * half, -1);
    if (world.rank == 0) {
        std::iota(whole.begin(), whole.end(), 0);
        expect_ok(dlrt_send(whole.data(), 1, part, 1, 2, comm));
        std::vector<int> back(edge * edge, -1);
        expect_ok(dlrt_recv(back.data(), 1, part, 1, 3, comm, nullptr));
        for (std::size_t i = 0; i < edge * edge; ++i) {
            const std::size_t row = i / edge, column = i % edge;
            const bool is_inside = row >= 200 && row < 650 && column >= 300 && column < 750;
            expect_equal(back[i], is_inside ? static_cast<int>(i) : -1);
        }
    } else {
        expect_ok(dlrt_recv(dense.data(), half * half, DLRT_INT, 0, 2, comm, nullptr));
        for (std::size_t i = 0; i < half; ++i) {
            for (std::size_t j = 0; j < half; ++j) {
                const auto right = static_cast<int>(edge * (200 + i) + 300 + j);
                expect_equal(dense[half * i + j], right);
            }
        }
        expect_ok(dlrt_send(dense.data(), half * half, DLRT_INT, 0, 3, comm));
    }
    expect_ok(dlrt_type_free(&part));
}

struct Record {
    int number;
    double value;
    char name[3];
};

dlrt_type record_type() {
    const std::array<std::int64_t, 3> lengths{1, 1, 3};
    const std::array<std::int64_t, 3> offsets{
        offsetof(Record, number), offsetof(Record, value), offsetof(Record, name)};
    const std::array<dlrt_type, 3> types{DLRT_INT, DLRT_DOUBLE, DLRT_CHAR};
    dlrt_type fields{}, made{};
    expect_ok(dlrt_type_struct(3, lengths.data(), offsets.data(), types.data(), &fields));
    expect_ok(dlrt_type_resized(fields, 0, sizeof(Record), &made));
    expect_ok(dlrt_type_free(&fields));
    return made;
}

void expect_record(const Record& record, std::size_t i) {
    expect_equal(record.number, static_cast<int>(i));
    expect(record.value == 0.25 * static_cast<double>(i), "value of a record");
    expect_equal<int>(record.name[2], 'a' + static_cast<int>(i % 26));
}

/// Structs with padding, to the same and to a dense form; padding of the receiver stays.
void records(const World& world) {
    dlrt_type type = record_type();
    for (const std::size_t count : {1u, 2u, 65u, 1000u, 100000u}) {
        std::vector<unsigned char> memory(count * sizeof(Record), 0x5a);
        auto* const elements = reinterpret_cast<Record*>(memory.data());
        const auto element_count = static_cast<std::int64_t>(count);
        if (world.rank == 0) {
            for (std::size_t i = 0; i < count; ++i) {
                elements[i].number = static_cast<int>(i);
                elements[i].value = 0.25 * static_cast<double>(i);
                std::memset(elements[i].name, 'a' + static_cast<int>(i % 26), 3);
            }
            expect_ok(dlrt_send(elements, element_count, type, 1, 4, comm));
            expect_ok(dlrt_send(elements, element_count, type, 1, 5, comm));
            continue;
        }
        expect_ok(dlrt_recv(elements, element_count, type, 0, 4, comm, nullptr));
        for (std::size_t i = 0; i < count; ++i) {
            expect_record(elements[i], i);
            const unsigned char* const bytes = memory.data() + i * sizeof(Record);
            for (const std::size_t gap : {4u, 7u, 19u, 23u}) expect_equal<int>(bytes[gap], 0x5a);
        }
        std::vector<unsigned char> dense(count * 15 + 1, 0x5a);
        const auto dense_size = static_cast<std::int64_t>(count * 15);
        expect_ok(dlrt_recv(dense.data(), dense_size, DLRT_BYTE, 0, 5, comm, nullptr));
        for (std::size_t i = 0; i < count; ++i) {
            Record record{};
            std::memcpy(&record.number, dense.data() + 15 * i, 4);
            std::memcpy(&record.value, dense.data() + 15 * i + 4, 8);
            std::memcpy(record.name, dense.data() + 15 * i + 12, 3);
            expect_record(record, i);
        }
        expect_equal<int>(dense.back(), 0x5a);
    }
    expect_ok(dlrt_type_free(&type));
}

/// Data in front of the address.
void negative_bound(const World& world) {
    std::array<int, 9> values{};
    const std::array<std::int64_t, 3> lengths{2, 1, 1};
    const std::array<std::int64_t, 3> places{-4, 0, 3};
    dlrt_type type{};
    expect_ok(dlrt_type_indexed(3, lengths.data(), places.data(), DLRT_INT, &type));
    std::int64_t lower_bound = 0, extent = 0;
    expect_ok(dlrt_type_extent(type, &lower_bound, &extent));
    expect_equal(lower_bound, std::int64_t{-16});
    expect_equal(extent, std::int64_t{32});
    if (world.rank == 0) {
        std::iota(values.begin(), values.end(), 10);
        expect_ok(dlrt_send(values.data() + 4, 1, type, 1, 6, comm));
    } else {
        expect_ok(dlrt_recv(values.data() + 4, 1, type, 0, 6, comm, nullptr));
        expect(values == std::array{10, 11, 0, 0, 14, 0, 0, 17, 0}, "negative bound");
    }
    expect_ok(dlrt_type_free(&type));
}

/// The type is freed while the operation runs.
void freed_early(const World& world) {
    std::vector<double> columns(400000, world.rank);
    dlrt_type type{};
    dlrt_request request{};
    expect_ok(dlrt_type_vector(200000, 1, 2, DLRT_DOUBLE, &type));
    if (world.rank == 0) {
        expect_ok(dlrt_isend(columns.data(), 1, type, 1, 7, comm, &request));
    } else {
        expect_ok(dlrt_irecv(columns.data(), 1, type, 0, 7, comm, &request));
    }
    expect_ok(dlrt_type_free(&type));
    expect_ok(dlrt_wait(&request, nullptr));
    for (std::size_t i = 0; i < columns.size(); ++i) {
        expect(columns[i] == (i % 2 == 0 ? 0.0 : world.rank), "every second column");
    }
}

}  // namespace

int main() {
    const World world;
    box_to_self();
    short_extent_to_self();
    large_box(world);
    records(world);
    negative_bound(world);
    freed_early(world);
}
