// SPDX-License-Identifier: Apache-2.0
/// Reductions of one's own through dlrt.h: their order, their handles, freed while they are in use;
/// locations and averages; np >= 2.
#include "tests/jobs/api/job.hpp"

#include <array>
#include <cstring>

using namespace job;

namespace {

/// Of x: factor * x + added. Applied one after the other; the order counts.
struct Line {
    std::uint32_t factor, added;
};

Line after(const Line& first, const Line& second) {
    return {first.factor * second.factor, second.factor * first.added + second.added};
}

Line line_of(std::int32_t rank, std::size_t index) {
    const auto r = static_cast<std::uint32_t>(rank), i = static_cast<std::uint32_t>(index);
    return {r + i + 2, 3 * r + i};
}

Line composition(std::int32_t size, std::size_t index) {
    Line result = line_of(0, index);
    for (std::int32_t rank = 1; rank < size; ++rank) result = after(result, line_of(rank, index));
    return result;
}

/// What the function is called with.
struct Use {
    dlrt_op op = DLRT_OP_NULL;
    dlrt_type type = DLRT_TYPE_NULL;
    std::int64_t extent_bytes = sizeof(Line);
    bool is_right = true;
    bool frees = false;
};

void compose(const void* left, void* right, std::int64_t count, dlrt_type type, void* user) {
    auto& use = *static_cast<Use*>(user);
    use.is_right = use.is_right && count > 0 && type.index == use.type.index &&
                   type.generation == use.type.generation;
    if (use.frees && use.op.index != 0) expect_ok(dlrt_op_free(&use.op));
    for (std::int64_t i = 0; i < count; ++i) {
        Line first{}, second{};
        const auto* a = static_cast<const char*>(left) + i * use.extent_bytes;
        auto* b = static_cast<char*>(right) + i * use.extent_bytes;
        std::memcpy(&first, a, sizeof first);
        std::memcpy(&second, b, sizeof second);
        second = after(first, second);
        std::memcpy(b, &second, sizeof second);
    }
}

dlrt_type line_type(std::int64_t extent_bytes) {
    dlrt_type pair{}, type{};
    expect_ok(dlrt_type_contiguous(2, DLRT_UINT32, &pair));
    expect_ok(dlrt_type_resized(pair, 0, extent_bytes, &type));
    expect_ok(dlrt_type_free(&pair));
    return type;
}

/// One allreduce and one reduce to the last rank of lines that lie so far apart.
void compose_everywhere(const World& world, Use& use, std::size_t count) {
    const auto stride = static_cast<std::size_t>(use.extent_bytes);
    std::vector<char> mine(count * stride, 7), result(count * stride, 7);
    for (std::size_t i = 0; i < count; ++i) {
        const Line line = line_of(world.rank, i);
        std::memcpy(mine.data() + i * stride, &line, sizeof line);
    }
    const auto check = [&] {
        for (std::size_t i = 0; i < count; ++i) {
            const Line right = composition(world.size, i);
            Line line{};
            std::memcpy(&line, result.data() + i * stride, sizeof line);
            expect(line.factor == right.factor && line.added == right.added, "composition");
            for (std::size_t gap = sizeof line; gap < stride; ++gap) {
                expect(result[i * stride + gap] == 7, "a gap");
            }
        }
    };
    const auto n = static_cast<std::int64_t>(count);
    const dlrt_op op = use.op;
    expect_ok(dlrt_allreduce(mine.data(), result.data(), n, use.type, op, DLRT_COMM_WORLD));
    check();
    if (use.frees) return;
    std::fill(result.begin(), result.end(), char{7});
    const std::int32_t root = world.size - 1;
    expect_ok(dlrt_reduce(mine.data(), result.data(), n, use.type, op, root, DLRT_COMM_WORLD));
    if (world.rank == root) check();
}

void order_is_kept(const World& world) {
    for (const std::int64_t extent_bytes : {8, 20}) {
        Use use;
        use.extent_bytes = extent_bytes;
        use.type = line_type(extent_bytes);
        expect_ok(dlrt_op_create(compose, &use, 0, &use.op));
        for (const std::size_t count : {0, 1, 20, 400, 8000}) {
            compose_everywhere(world, use, count);
        }
        expect(use.is_right, "arguments of the function");
        expect_ok(dlrt_op_free(&use.op));
        expect_ok(dlrt_type_free(&use.type));
    }
}

void freed_while_in_use(const World& world) {
    Use use;
    use.frees = true;
    use.type = line_type(use.extent_bytes);
    expect_ok(dlrt_op_create(compose, &use, 0, &use.op));
    dlrt_op stale = use.op;
    compose_everywhere(world, use, 50'000);
    expect(use.is_right, "arguments of the function");
    // Those that combined nothing are left with it.
    if (use.op.index != 0) expect_ok(dlrt_op_free(&use.op));
    expect_equal(use.op.generation, 0u);
    expect_ok(dlrt_type_free(&use.type));

    int value = 1;
    expect_error(
        dlrt_allreduce(DLRT_IN_PLACE, &value, 1, DLRT_INT, stale, DLRT_COMM_WORLD), DLRT_ERR_OP
    );
    expect(
        std::string(dlrt_last_error()) == "dlrt_allreduce: op is freed or was never an operation",
        "text"
    );
    expect_error(dlrt_op_free(&stale), DLRT_ERR_OP);
}

struct DoubleAt {
    double value;
    std::int32_t index;
    std::int32_t gap;
};

void locations(const World& world) {
    // Values 0 0 1 1 2 2 …, so that pairs of ranks tie.
    const DoubleAt mine{0.5 * (world.rank / 2), world.rank, 7};
    DoubleAt found{-1, -1, 9};
    expect_ok(dlrt_allreduce(&mine, &found, 1, DLRT_DOUBLE_INT32, DLRT_MINLOC, DLRT_COMM_WORLD));
    expect(found.value == 0 && found.index == 0 && found.gap == 9, "least");
    expect_ok(dlrt_allreduce(&mine, &found, 1, DLRT_DOUBLE_INT32, DLRT_MAXLOC, DLRT_COMM_WORLD));
    const std::int32_t first_of_last = (world.size - 1) / 2 * 2;
    expect_equal(found.index, first_of_last);
    expect(found.value == 0.5 * (first_of_last / 2), "greatest");
}

void averages(const World& world) {
    const double mine = world.rank;
    double average = 0;
    expect_ok(dlrt_allreduce(&mine, &average, 1, DLRT_DOUBLE, DLRT_AVG, DLRT_COMM_WORLD));
    expect(average == (world.size - 1) / 2.0, "average");
    // 60000 in half precision: the sum is beyond its range, the average is not.
    const std::uint16_t half = 0x7b53;
    std::uint16_t halves = 0;
    expect_ok(dlrt_reduce(&half, &halves, 1, DLRT_FLOAT16, DLRT_AVG, 0, DLRT_COMM_WORLD));
    if (world.rank == 0) expect_equal(halves, half);
}

}  // namespace

int main() {
    const World world;
    order_is_kept(world);
    freed_while_in_use(world);
    locations(world);
    averages(world);
    return 0;
}
