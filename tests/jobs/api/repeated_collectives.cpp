// SPDX-License-Identifier: Apache-2.0
/// The same small collective again and again: what is remembered of one call is right for the next
/// only as far as both are alike. Each call of a kind is made three times with other values, then
/// with one thing changed; bad buffers are refused the second time too; what was freed is gone.
#include "tests/jobs/api/job.hpp"

#include <array>
#include <string>

using namespace job;

namespace {

constexpr std::int64_t count = 3;

struct Buffers {
    std::vector<std::int32_t> input, output;
    explicit Buffers(std::int32_t size)
        : input(static_cast<std::size_t>(size * count)), output(input.size(), -1) {}
    void fill(std::int32_t rank, std::int32_t round) {
        for (std::size_t i = 0; i < input.size(); ++i) {
            input[i] = round * 1000 + rank * 100 + static_cast<std::int32_t>(i);
        }
    }
};

void expect_refusal(
    dlrt_err outcome, dlrt_err right, const char* text,
    const std::source_location& where = std::source_location::current()
) {
    expect_error(outcome, right, where);
    expect(std::string(dlrt_last_error()).find(text) != std::string::npos, text, where);
}

/// The sum over ranks of element i of round `round`.
std::int32_t sum_of(std::int32_t size, std::int32_t round, std::int32_t i) {
    return size * (round * 1000 + i) + 100 * size * (size - 1) / 2;
}

void other_buffers_and_values(const World& world) {
    for (std::int32_t round = 1; round <= 3; ++round) {
        Buffers buffers(world.size);
        buffers.fill(world.rank, round);
        expect_ok(dlrt_allreduce(
            buffers.input.data(), buffers.output.data(), count, DLRT_INT32, DLRT_SUM,
            DLRT_COMM_WORLD
        ));
        for (std::int32_t i = 0; i < count; ++i) {
            expect_equal(buffers.output[static_cast<std::size_t>(i)], sum_of(world.size, round, i));
        }
        expect_equal(buffers.output.back(), -1);
    }
}

void in_place_between_others(const World& world) {
    for (std::int32_t round = 1; round <= 3; ++round) {
        Buffers buffers(world.size);
        buffers.fill(world.rank, round);
        expect_ok(dlrt_allreduce(
            DLRT_IN_PLACE, buffers.input.data(), count, DLRT_INT32, DLRT_SUM, DLRT_COMM_WORLD
        ));
        expect_equal(buffers.input[1], sum_of(world.size, round, 1));
        buffers.fill(world.rank, round);
        expect_ok(dlrt_allreduce(
            buffers.input.data(), buffers.output.data(), count, DLRT_INT32, DLRT_SUM,
            DLRT_COMM_WORLD
        ));
        expect_equal(buffers.output[2], sum_of(world.size, round, 2));
        expect_equal(buffers.input[2], round * 1000 + world.rank * 100 + 2);
    }
}

void another_reduction_type_and_count(const World& world) {
    const std::array<std::int32_t, 2> mine{world.rank + 1, world.rank + 2};
    std::array<std::int32_t, 2> result{};
    for (int again = 0; again < 3; ++again) {
        expect_ok(
            dlrt_allreduce(mine.data(), result.data(), 2, DLRT_INT32, DLRT_MAX, DLRT_COMM_WORLD)
        );
        expect_equal(result[0], world.size);
        expect_equal(result[1], world.size + 1);
        expect_ok(
            dlrt_allreduce(mine.data(), result.data(), 2, DLRT_INT32, DLRT_MIN, DLRT_COMM_WORLD)
        );
        expect_equal(result[0], 1);
        result[1] = -7;
        expect_ok(
            dlrt_allreduce(mine.data(), result.data(), 1, DLRT_INT32, DLRT_MAX, DLRT_COMM_WORLD)
        );
        expect_equal(result[0], world.size);
        expect_equal(result[1], -7);
        const std::array<float, 1> real{static_cast<float>(world.rank) + 0.5f};
        std::array<float, 1> highest{};
        expect_ok(
            dlrt_allreduce(real.data(), highest.data(), 1, DLRT_FLOAT, DLRT_MAX, DLRT_COMM_WORLD)
        );
        expect_equal(highest[0], static_cast<float>(world.size) - 0.5f);
    }
}

void another_root(const World& world) {
    for (std::int32_t round = 0; round < 6; ++round) {
        const std::int32_t root = round / 2 % world.size;
        std::int32_t value = world.rank == root ? 70 + round : -1;
        expect_ok(dlrt_bcast(&value, 1, DLRT_INT32, root, DLRT_COMM_WORLD));
        expect_equal(value, 70 + round);
        std::int32_t total = -1;
        expect_ok(dlrt_reduce(&value, &total, 1, DLRT_INT32, DLRT_SUM, root, DLRT_COMM_WORLD));
        expect_equal(total, world.rank == root ? world.size * value : -1);
    }
}

void blocks(const World& world) {
    for (std::int32_t round = 1; round <= 3; ++round) {
        Buffers buffers(world.size);
        buffers.fill(world.rank, round);
        expect_ok(dlrt_alltoall(
            buffers.input.data(), buffers.output.data(), count, DLRT_INT32, DLRT_COMM_WORLD
        ));
        for (std::int32_t from = 0; from < world.size; ++from) {
            const auto place = static_cast<std::size_t>(from * count);
            const auto first = static_cast<std::int32_t>(world.rank * count);
            expect_equal(buffers.output[place], round * 1000 + from * 100 + first);
        }
        expect_ok(dlrt_reduce_scatter(
            buffers.input.data(), buffers.output.data(), count, DLRT_INT32, DLRT_SUM,
            DLRT_COMM_WORLD
        ));
        const auto own = static_cast<std::int32_t>(world.rank * count);
        expect_equal(buffers.output[0], sum_of(world.size, round, own));
        std::int32_t before = -1;
        const std::int32_t mine = world.rank + round;
        expect_ok(dlrt_exscan(&mine, &before, 1, DLRT_INT32, DLRT_SUM, DLRT_COMM_WORLD));
        const std::int32_t expected = world.rank * round + world.rank * (world.rank - 1) / 2;
        expect_equal(before, world.rank == 0 ? -1 : expected);
    }
}

/// Both ranks' calls fail by themselves: nothing of them reaches the others.
void bad_buffers() {
    std::array<std::int32_t, 4> room{1, 2, 3, 4};
    const auto sum = [](const void* input, void* output) {
        return dlrt_allreduce(input, output, 3, DLRT_INT32, DLRT_SUM, DLRT_COMM_WORLD);
    };
    std::array<std::int32_t, 4> result{};
    expect_ok(sum(room.data(), result.data()));
    expect_refusal(sum(nullptr, result.data()), DLRT_ERR_BUFFER, "dlrt_allreduce: ");
    expect_refusal(sum(room.data(), nullptr), DLRT_ERR_BUFFER, "dlrt_allreduce: ");
    expect_refusal(sum(room.data(), DLRT_IN_PLACE), DLRT_ERR_BUFFER, "dlrt_allreduce: ");
    expect_refusal(sum(room.data(), room.data()), DLRT_ERR_BUFFER, "are the same");
    expect_refusal(sum(room.data(), room.data() + 1), DLRT_ERR_BUFFER, "overlap");
    expect_refusal(sum(room.data() + 1, room.data()), DLRT_ERR_BUFFER, "overlap");
    expect_ok(sum(room.data(), result.data()));
}

void what_was_freed(const World& world) {
    dlrt_type three{};
    expect_ok(dlrt_type_contiguous(3, DLRT_INT32, &three));
    dlrt_comm duplicate{};
    expect_ok(dlrt_comm_dup(DLRT_COMM_WORLD, &duplicate));
    std::array<std::int32_t, 3> data{};
    for (int again = 0; again < 3; ++again) {
        data.fill(world.rank == 0 ? 5 + again : 0);
        expect_ok(dlrt_bcast(data.data(), 1, three, 0, duplicate));
        expect_equal(data[2], 5 + again);
        expect_ok(dlrt_barrier(duplicate));
    }
    const dlrt_type freed_type = three;
    expect_ok(dlrt_type_free(&three));
    expect_refusal(
        dlrt_bcast(data.data(), 1, freed_type, 0, duplicate), DLRT_ERR_TYPE, "dlrt_bcast: "
    );
    const dlrt_comm freed_comm = duplicate;
    expect_ok(dlrt_comm_free(&duplicate));
    expect_refusal(dlrt_barrier(freed_comm), DLRT_ERR_COMM, "dlrt_barrier: ");
}

/// Within a group nothing is done at once.
void in_a_group(const World& world) {
    std::int32_t mine = world.rank, total = -1;
    for (int again = 0; again < 2; ++again) {
        expect_ok(dlrt_allreduce(&mine, &total, 1, DLRT_INT32, DLRT_SUM, DLRT_COMM_WORLD));
        expect_equal(total, world.size * (world.size - 1) / 2);
    }
    std::int32_t low = -1, high = -1;
    expect_ok(dlrt_group_start());
    expect_ok(dlrt_allreduce(&mine, &low, 1, DLRT_INT32, DLRT_SUM, DLRT_COMM_WORLD));
    expect_ok(dlrt_allreduce(&mine, &high, 1, DLRT_INT32, DLRT_SUM, DLRT_COMM_WORLD));
    expect_ok(dlrt_group_end());
    expect_equal(low, total);
    expect_equal(high, total);
}

}  // namespace

int main() {
    const World world;
    other_buffers_and_values(world);
    in_place_between_others(world);
    another_reduction_type_and_count(world);
    another_root(world);
    blocks(world);
    bad_buffers();
    what_was_freed(world);
    in_a_group(world);
}
