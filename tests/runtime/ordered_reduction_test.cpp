// SPDX-License-Identifier: Apache-2.0
/// Case C01: reductions of a user that do not commute. A product of 2x2 matrices, through every
/// algorithm that keeps the order, and through reduce and allreduce with types whose bounds are far
/// from their data.
#include "collectives/algorithms.hpp"
#include "collectives/contract.hpp"
#include "runtime/collective.hpp"
#include "runtime/collective_state.hpp"
#include "tests/collectives/all_ranks.hpp"
#include "tests/runtime/collective_calls.hpp"
#include "tests/runtime/collective_ranks.hpp"

#include <array>
#include <cstring>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

using namespace dlrt::testing;

/// [[a, b], [c, d]], wrapping.
using Matrix = std::array<std::uint32_t, 4>;

constexpr std::uint64_t matrix_bytes = sizeof(Matrix);
constexpr Handle handle{1234, 5};

Matrix operator*(const Matrix& m, const Matrix& n) {
    return {
        m[0] * n[0] + m[1] * n[2], m[0] * n[1] + m[1] * n[3], m[2] * n[0] + m[3] * n[2],
        m[2] * n[1] + m[3] * n[3]};
}

Matrix contribution(std::int32_t rank, std::uint64_t index) {
    const auto r = static_cast<std::uint32_t>(rank), i = static_cast<std::uint32_t>(index);
    return {1 + r + i, 2 * r + 3, r * r + i + 1, 5 + r};
}

Matrix product(std::int32_t last_rank, std::uint64_t index) {
    Matrix result = contribution(0, index);
    for (std::int32_t rank = 1; rank <= last_rank; ++rank) {
        result = result * contribution(rank, index);
    }
    return result;
}

LayoutRef matrix_layout(std::int64_t lower_bound_bytes, std::int64_t extent_bytes) {
    const LayoutRef four = *Layout::contiguous(4, Layout::of(ElementType::uint32));
    return *Layout::resized(lower_bound_bytes, extent_bytes, four);
}

Matrix& matrix_at(void* base, std::uint64_t index, std::int64_t extent_bytes) {
    return *reinterpret_cast<Matrix*>(
        static_cast<std::byte*>(base) + static_cast<std::int64_t>(index) * extent_bytes
    );
}

Reducer matrix_product(const LayoutRef& layout) {
    const std::int64_t extent = layout->extent_bytes();
    const auto multiply = [extent](const void* left, void* right, std::int64_t count, Handle type) {
        DLRT_DEMAND(count > 0 && type == handle);
        for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(count); ++i) {
            Matrix& result = matrix_at(right, i, extent);
            result = matrix_at(const_cast<void*>(left), i, extent) * result;
        }
    };
    return {std::make_shared<const UserOp>(UserOp{multiply, false}), layout, handle};
}

// ---- Every algorithm ----

/// One rank's part of an operation.
class Part {
  public:
    Part(coll::Schedule schedule, std::uint64_t count, const Reducer& reducer)
        : schedule_(std::move(schedule)), reducer_(reducer) {
        const std::uint64_t bytes = count * matrix_bytes;
        sizes_ = is_split() ? coll::ChunkSizes::split(bytes, matrix_bytes, schedule_.chunk_count)
                            : coll::ChunkSizes::block(bytes);
        for (const coll::BufferId buffer :
             {coll::BufferId::input, coll::BufferId::output, coll::BufferId::scratch}) {
            memory_of(buffer).resize(chunks_of(buffer) * sizes_.full_bytes() / matrix_bytes);
            if (buffer != coll::BufferId::scratch) fill(buffer);
        }
    }

    [[nodiscard]] bool run(Communicator& comm, ScheduleRunner& runner) {
        const auto bytes_of = [this](coll::BufferId buffer) {
            return reinterpret_cast<std::byte*>(memory_of(buffer).data());
        };
        const ScheduleBinding binding{
            &schedule_,
            sizes_,
            bytes_of(coll::BufferId::input),
            bytes_of(coll::BufferId::output),
            bytes_of(coll::BufferId::scratch),
            &reducer_,
            reduction_memory_.at_least(reducer_.memory_bytes())};
        const ScheduleChannel channel{
            comm.group().get(),
            comm.collective_context(),
            {comm.take_operation_numbers(1, Persistence::once), Persistence::once}};
        runner.bind(channel, binding);
        return comm.engine().run(runner).ok() && holds(coll::BufferId::input) &&
               holds(coll::BufferId::output);
    }

  private:
    [[nodiscard]] bool is_split() const { return schedule_.chunk_rule == coll::ChunkRule::split; }
    [[nodiscard]] std::uint32_t chunks_of(coll::BufferId buffer) const {
        return coll::buffer_chunks(schedule_, buffer);
    }
    [[nodiscard]] std::vector<Matrix>& memory_of(coll::BufferId buffer) {
        return memory_[static_cast<std::size_t>(buffer)];
    }
    /// Calls visit(content, its index in the vector, matrix) for each that means something.
    template<typename ContentOf, typename Visit>
    void visit(coll::BufferId buffer, const ContentOf& content_of, const Visit& visit) {
        const std::uint64_t full = sizes_.full_bytes() / matrix_bytes;
        for (std::uint32_t chunk = 0; chunk < chunks_of(buffer); ++chunk) {
            const coll::Content content = content_of(schedule_, {buffer, chunk});
            if (content.kind == coll::Content::Kind::unspecified) continue;
            const std::uint64_t count = sizes_.size_bytes(is_split() ? chunk : 0, 1) / matrix_bytes;
            for (std::uint64_t i = 0; i < count; ++i) {
                visit(content, content.chunk * full + i, memory_of(buffer)[chunk * full + i]);
            }
        }
    }
    void fill(coll::BufferId buffer) {
        visit(
            buffer, coll::content_before,
            [](const coll::Content& content, std::uint64_t index, Matrix& matrix) {
                matrix = contribution(content.rank, index);
            }
        );
    }
    [[nodiscard]] bool holds(coll::BufferId buffer) {
        bool is_right = true;
        visit(
            buffer, coll::content_after,
            [&](const coll::Content& content, std::uint64_t index, const Matrix& matrix) {
                const bool is_own = content.kind == coll::Content::Kind::of_rank;
                const bool is_prefix = content.kind == coll::Content::Kind::of_prefix;
                const std::int32_t last = is_prefix ? content.rank : schedule_.shape.size - 1;
                const Matrix expected = is_own ? contribution(content.rank, index)
                                               : product(last, index);
                is_right = is_right && matrix == expected;
            }
        );
        return is_right;
    }

    coll::Schedule schedule_;
    coll::ChunkSizes sizes_;
    const Reducer& reducer_;
    std::array<std::vector<Matrix>, 4> memory_;
    Arena reduction_memory_;
};

bool reduces_in_order(const coll::Algorithm& algorithm) {
    using enum coll::Collective;
    const bool reduces = algorithm.collective == reduce || algorithm.collective == allreduce ||
                         algorithm.collective == reduce_scatter || algorithm.collective == scan ||
                         algorithm.collective == exscan;
    return reduces && algorithm.operand_order == coll::OperandOrder::by_rank;
}

/// Returns how many algorithms there are.
int run_algorithms(
    Communicator& comm, const std::vector<std::uint64_t>& counts, const Reducer& reducer
) {
    ScheduleRunner runner;
    int run_count = 0;
    for (const coll::Algorithm& algorithm : coll::algorithms()) {
        if (!reduces_in_order(algorithm)) continue;
        ++run_count;
        for (std::int32_t root = 0; root < (algorithm.has_root ? comm.size() : 1); ++root) {
            for (const coll::Placements placements : coll::placements_of(algorithm.collective)) {
                const auto rank = static_cast<std::size_t>(comm.rank());
                const coll::Schedule schedule = coll::all_ranks(
                    algorithm, comm.size(), root, placements
                )[rank];
                for (const std::uint64_t count : counts) {
                    Part part(schedule, count, reducer);
                    demand(part.run(comm, runner), algorithm.name.data());
                }
            }
        }
    }
    return run_count;
}

// ---- Collectives ----

/// Matrices in memory as the layout says.
class Matrices {
  public:
    Matrices(const LayoutRef& layout, std::uint64_t count)
        : layout_(layout),
          count_(count),
          memory_(count * static_cast<std::uint64_t>(layout->extent_bytes()) + matrix_bytes) {}

    [[nodiscard]] Matrix& operator[](std::uint64_t index) {
        return matrix_at(memory_.data(), index, layout_->extent_bytes());
    }
    void contribute(std::int32_t rank) {
        for (std::uint64_t i = 0; i < count_; ++i) (*this)[i] = contribution(rank, i);
    }
    [[nodiscard]] Buffer buffer() { return {memory_.data(), count_, &layout_}; }
    [[nodiscard]] ConstBuffer source() const { return {memory_.data(), count_, &layout_}; }

  private:
    const LayoutRef& layout_;
    std::uint64_t count_;
    std::vector<std::byte> memory_;
};

enum class InPlace : std::uint8_t { no, yes };

/// Without a root, an allreduce.
void multiply(
    Communicator& comm, const LayoutRef& layout, std::uint64_t count, InPlace in_place,
    std::optional<std::int32_t> root
) {
    Matrices input(layout, count), output(layout, count);
    const bool is_receiver = !root || *root == comm.rank();
    const bool is_in_place = is_receiver && in_place == InPlace::yes;
    (is_in_place ? output : input).contribute(comm.rank());
    Reduction arguments{input.source(), output.buffer(), matrix_product(layout), is_in_place};
    if (is_in_place) arguments.input = {};
    if (!is_receiver) arguments.output = {};
    const auto collective = root ? coll::Collective::reduce : coll::Collective::allreduce;
    const CollectiveCall call = call_of(collective, arguments, root.value_or(0));
    DLRT_DEMAND(run_collective(comm, call).ok());
    for (std::uint64_t i = 0; i < count; ++i) {
        DLRT_DEMAND(is_in_place || input[i] == contribution(comm.rank(), i));
        DLRT_DEMAND(!is_receiver || output[i] == product(comm.size() - 1, i));
    }
}

void multiply_everywhere(Communicator& comm, const LayoutRef& layout, std::uint64_t count) {
    for (const InPlace in_place : {InPlace::no, InPlace::yes}) {
        multiply(comm, layout, count, in_place, std::nullopt);
        for (std::int32_t root = 0; root < comm.size(); ++root) {
            multiply(comm, layout, count, in_place, root);
        }
    }
}

constexpr std::int64_t far_below_bytes = -2345 * 4;

}  // namespace

TEST_CASE("ordered: C01, every algorithm that keeps the order of ranks", "[runtime]") {
    const LayoutRef layout = matrix_layout(0, matrix_bytes);
    const Reducer reducer = matrix_product(layout);
    for (std::int32_t size = 2; size <= 9; ++size) {
        CollectiveRanks ranks(size);
        std::atomic<int> algorithms{0};
        ranks.run([&](Communicator& comm) {
            const int count = run_algorithms(comm, {0, 1, 20, 400}, reducer);
            algorithms.store(count, std::memory_order_relaxed);
        });
        CHECK(algorithms.load(std::memory_order_relaxed) >= 10);
    }
}

TEST_CASE("ordered: C01, elements outside of their bounds, and long vectors", "[runtime]") {
    const LayoutRef far_below = matrix_layout(far_below_bytes, 16 - far_below_bytes);
    const LayoutRef dense = matrix_layout(far_below_bytes, matrix_bytes);
    for (const std::int32_t size : {3, 4}) {
        CollectiveRanks ranks(size);
        ranks.run([&](Communicator& comm) {
            run_algorithms(comm, {20}, matrix_product(far_below));
            run_algorithms(comm, {8000}, matrix_product(dense));
        });
    }
    SUCCEED();
}

TEST_CASE("ordered: C01, reduce and allreduce of any layout, in place and not", "[runtime]") {
    const LayoutRef layouts[] = {
        matrix_layout(0, matrix_bytes), matrix_layout(0, 24),
        matrix_layout(far_below_bytes, matrix_bytes),
        matrix_layout(far_below_bytes, 16 - far_below_bytes)};
    for (std::int32_t size = 2; size <= 9; ++size) {
        CollectiveRanks ranks(size);
        ranks.run([&](Communicator& comm) {
            for (const LayoutRef& layout : layouts) {
                for (const std::uint64_t count : {0, 1, 20}) {
                    multiply_everywhere(comm, layout, count);
                }
            }
            multiply_everywhere(comm, layouts[0], 400);
            multiply(comm, layouts[1], 8000, InPlace::no, std::nullopt);
            multiply(comm, layouts[2], 8000, InPlace::yes, size - 1);
        });
    }
    SUCCEED();
}

TEST_CASE("ordered: vectors longer than a piece are cut between elements", "[runtime]") {
    // An element that divides neither the pieces nor the units of chunks.
    const LayoutRef layout = *Layout::contiguous(1'000'001, Layout::of(ElementType::uint32));
    const auto append = [](const void* left, void* right, std::int64_t count, Handle) {
        const auto* a = static_cast<const std::uint32_t*>(left);
        auto* b = static_cast<std::uint32_t*>(right);
        for (std::int64_t i = 0; i < count; ++i, a += 1'000'001, b += 1'000'001) {
            // Decides by the element's first number: a cut elsewhere would show.
            const std::uint32_t base = a[0];
            for (std::int64_t j = 0; j < 1'000'001; ++j) b[j] = a[j] * base + b[j];
        }
    };
    const Reducer reducer(std::make_shared<const UserOp>(UserOp{append, false}), layout, handle);
    CollectiveRanks ranks(2);
    ranks.run([&](Communicator& comm) {
        const auto mine = static_cast<std::uint32_t>(comm.rank() + 3);
        std::vector<std::uint32_t> values(10 * 1'000'001, mine);
        const Reduction arguments{{}, {values.data(), 10, &layout}, reducer, true};
        DLRT_DEMAND(allreduce(comm, arguments).ok());
        DLRT_DEMAND(values == std::vector<std::uint32_t>(values.size(), 3 * 3 + 4));
    });
    SUCCEED();
}

}  // namespace dlrt
