// SPDX-License-Identifier: Apache-2.0
#include "collectives/schedule.hpp"

#include "collectives/schedule_builder.hpp"

#include <catch2/catch.hpp>

namespace dlrt::coll {
namespace {

const ScheduleBuilder::Header header{
    Collective::allreduce, "sample", ChunkRule::split, 4, OperandOrder::any};
const Shape shape{3, 0, 0, Placement::separate};

}  // namespace

TEST_CASE(
    "builder: a reader follows the last writer, a writer follows readers and writer",
    "[collectives]"
) {
    ScheduleBuilder builder(header, shape);
    builder.recv(1, scratch_slice(0));                                  // 0
    builder.send(2, scratch_slice(0));                                  // 1 reads what 0 wrote
    builder.reduce(input_slice(0), scratch_slice(0), output_slice(0));  // 2 reads what 0 wrote
    builder.recv(1, scratch_slice(0));  // 3 overwrites what 1 and 2 read
    builder.recv(2, output_slice(0));   // 4 overwrites what 2 wrote
    const Schedule schedule = std::move(builder).finish();
    CHECK(edges_of(schedule) == std::vector<Edge>{{0, 1}, {0, 2}, {1, 3}, {2, 3}, {2, 4}});
    CHECK(schedule.predecessor_counts == std::vector<std::uint32_t>{0, 1, 1, 2, 1});
}

TEST_CASE("builder: steps on different chunks are independent", "[collectives]") {
    ScheduleBuilder builder(header, shape);
    builder.recv(1, output_slice(0, 2));
    builder.recv(2, output_slice(2, 2));
    builder.send(1, output_slice(1));
    builder.send(2, output_slice(3));
    CHECK(edges_of(std::move(builder).finish()) == std::vector<Edge>{{0, 2}, {1, 3}});
}

TEST_CASE("builder: counts the scratch that is used", "[collectives]") {
    ScheduleBuilder builder(header, shape);
    builder.recv(1, scratch_slice(5, 0, 3));
    CHECK(std::move(builder).finish().scratch_chunks == 8);
}

TEST_CASE(
    "chunk sizes: a vector is cut between units, the last chunks may be short or empty",
    "[collectives]"
) {
    const ChunkSizes sizes = ChunkSizes::split(44, 8, 4);  // 5.5 units of 8: 2 2 1.5 0
    CHECK(sizes.full_bytes() == 16);
    CHECK(sizes.size_bytes(0, 1) == 16);
    CHECK(sizes.size_bytes(2, 1) == 12);
    CHECK(sizes.size_bytes(3, 1) == 0);
    CHECK(sizes.size_bytes(0, 4) == 44);
    CHECK(sizes.size_bytes(1, 2) == 28);
    CHECK(sizes.offset_bytes({BufferId::output, 2}) == 32);
}

TEST_CASE("chunk sizes: a vector of nothing has empty chunks", "[collectives]") {
    const ChunkSizes sizes = ChunkSizes::split(0, 4, 3);
    CHECK(sizes.full_bytes() == 0);
    CHECK(sizes.size_bytes(0, 3) == 0);
}

TEST_CASE("chunk sizes: blocks are all of one size, beyond 4 GiB too", "[collectives]") {
    const ChunkSizes sizes = ChunkSizes::block(std::uint64_t{3} << 30);
    CHECK(sizes.size_bytes(0, 5) == std::uint64_t{15} << 30);
    CHECK(sizes.offset_bytes({BufferId::output, 7}) == std::uint64_t{21} << 30);
}

}  // namespace dlrt::coll
