// SPDX-License-Identifier: Apache-2.0
/// Case C07, averages, and locations through reduce and allreduce; a user's reduction that is freed
/// while it runs. Values worked out by hand.
#include "runtime/collective.hpp"
#include "tests/runtime/collective_calls.hpp"
#include "tests/runtime/collective_ranks.hpp"

#include <atomic>
#include <complex>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

using namespace dlrt::testing;

/// `values` by rank, in vectors of several lengths; everybody must get `result`.
template<typename T>
void check_everywhere(
    ReduceOp op, ElementType type, const std::vector<T>& values, const T& expected
) {
    CollectiveRanks ranks(static_cast<std::int32_t>(values.size()));
    ranks.run([&](Communicator& comm) {
        const LayoutRef& layout = Layout::of(type);
        for (const std::size_t count : {1, 1000, 40'000}) {
            const std::vector<T> mine(count, values[static_cast<std::size_t>(comm.rank())]);
            std::vector<T> result(count);
            const Reduction arguments{
                {mine.data(), count, &layout}, {result.data(), count, &layout}, {op, type}, false};
            DLRT_DEMAND(allreduce(comm, arguments).ok());
            DLRT_DEMAND(result == std::vector<T>(count, expected));
            result = mine;
            const Reduction in_place{{}, {result.data(), count, &layout}, {op, type}, true};
            DLRT_DEMAND(allreduce(comm, in_place).ok());
            DLRT_DEMAND(result == std::vector<T>(count, expected));
            const std::int32_t root = comm.size() - 1;
            result.assign(count, T{});
            DLRT_DEMAND(
                run_collective(comm, call_of(coll::Collective::reduce, arguments, root)).ok()
            );
            DLRT_DEMAND(comm.rank() != root || result == std::vector<T>(count, expected));
        }
    });
}

using Halves = std::vector<std::uint16_t>;

/// DLRT_DOUBLE_INT32.
struct DoubleAt {
    double value;
    std::int32_t index;
    std::int32_t gap;
};

}  // namespace

TEST_CASE("collective: C07 b, 2048 + 7 * 1 and 256 + 7 * 1 are not stuck", "[runtime]") {
    constexpr std::uint16_t one = 0x3c00, bfloat_one = 0x3f80;
    const Halves halves{0x6800, one, one, one, one, one, one, one};
    check_everywhere<std::uint16_t>(ReduceOp::sum, ElementType::float16, halves, 0x6804);  // 2056
    Halves bfloats(8, bfloat_one);
    bfloats[0] = 0x4380;
    check_everywhere<std::uint16_t>(ReduceOp::sum, ElementType::bfloat16, bfloats, 0x4384);  // 264
    SUCCEED();
}

TEST_CASE("collective: C07 c, partial sums beyond the range of float16", "[runtime]") {
    const Halves values{0x78e2, 0x78e2, 0xf8e2, 0xf8e2};  // 40000 40000 -40000 -40000
    check_everywhere<std::uint16_t>(ReduceOp::sum, ElementType::float16, values, 0);
    SUCCEED();
}

TEST_CASE("collective: C07 d, 32 times a tenth in float16 is 3.19921875", "[runtime]") {
    check_everywhere<std::uint16_t>(
        ReduceOp::sum, ElementType::float16, Halves(32, 0x2e66), 0x4266
    );
    SUCCEED();
}

TEST_CASE("collective: C07 e, an average is the sum divided once, and rounded once", "[runtime]") {
    // (1 + 2 + 4) / 3 is 2.333…, in float16 2.333984375.
    check_everywhere<std::uint16_t>(
        ReduceOp::average, ElementType::float16, {0x3c00, 0x4000, 0x4400}, 0x40ab
    );
    // 60000 twice: the sum is beyond float16, its half is not.
    check_everywhere<std::uint16_t>(
        ReduceOp::average, ElementType::float16, {0x7b53, 0x7b53}, 0x7b53
    );
    check_everywhere<float>(ReduceOp::average, ElementType::float32, {1, 2, 4}, 7.0F / 3);
    check_everywhere<double>(ReduceOp::average, ElementType::float64, {1, 2, 4, 8, 16}, 31.0 / 5);
    check_everywhere<double>(ReduceOp::average, ElementType::float64, {2.5}, 2.5);
    check_everywhere<std::complex<float>>(
        ReduceOp::average, ElementType::complex64, {{1, 2}, {3, 4}, {-1, 3}}, {1, 3}
    );
    SUCCEED();
}

TEST_CASE("collective: locations come with their values, and gaps stay as they are", "[runtime]") {
    for (std::int32_t size = 1; size <= 6; ++size) {
        CollectiveRanks ranks(size);
        ranks.run([size](Communicator& comm) {
            const LayoutRef& layout = Layout::of(ElementType::float64_int32);
            // Element i is least on rank i % size, and there are ties between the others.
            const std::size_t count = 5000;
            std::vector<DoubleAt> mine(count), result(count, {0, 0, 77});
            for (std::size_t i = 0; i < count; ++i) {
                const bool is_least = static_cast<std::int32_t>(i) % size == comm.rank();
                mine[i] = {is_least ? -1.5 : 2.0, comm.rank(), 0};
            }
            const auto reduce_to_result = [&](ReduceOp op) {
                const Reduction arguments{
                    {mine.data(), count, &layout},
                    {result.data(), count, &layout},
                    {op, ElementType::float64_int32},
                    false};
                DLRT_DEMAND(allreduce(comm, arguments).ok());
            };
            reduce_to_result(ReduceOp::minimum_location);
            for (std::size_t i = 0; i < count; ++i) {
                const auto least = static_cast<std::int32_t>(i) % size;
                DLRT_DEMAND(result[i].value == -1.5 && result[i].index == least);
                DLRT_DEMAND(result[i].gap == 77);
            }
            reduce_to_result(ReduceOp::maximum_location);
            for (std::size_t i = 0; i < count; ++i) {
                const std::int32_t first = size == 1 || static_cast<std::int32_t>(i) % size != 0
                                               ? 0
                                               : 1;
                DLRT_DEMAND(result[i].value == (size == 1 ? -1.5 : 2.0));
                DLRT_DEMAND(result[i].index == first);
            }
        });
    }
    SUCCEED();
}

TEST_CASE("collective: a user's reduction lives as long as an operation uses it", "[runtime]") {
    CollectiveRanks ranks(2);
    std::atomic<int> calls{0};
    ranks.run([&](Communicator& comm) {
        std::int32_t value = comm.rank() + 3;
        const LayoutRef layout = *Layout::contiguous(1, Layout::of(ElementType::int32));
        // Only the operation's arguments hold it; valgrind and sanitizers would tell.
        const Reduction arguments{
            {},
            {&value, 1, &layout},
            Reducer(
                std::make_shared<const UserOp>(UserOp{
                    [&calls](const void* left, void* right, std::int64_t count, Handle) {
                        calls.fetch_add(static_cast<int>(count), std::memory_order_relaxed);
                        *static_cast<std::int32_t*>(right) += *static_cast<const std::int32_t*>(left
                        );
                    },
                    true}),
                layout, Handle{}
            ),
            true};
        DLRT_DEMAND(allreduce(comm, arguments).ok());
        DLRT_DEMAND(value == 7);
    });
    CHECK(calls.load(std::memory_order_relaxed) >= 1);
}

TEST_CASE("collective: elements without data are reduced by not calling anybody", "[runtime]") {
    CollectiveRanks ranks(3);
    ranks.run([](Communicator& comm) {
        const LayoutRef empty = *Layout::contiguous(0, Layout::of(ElementType::int32));
        const auto never = [](const void*, void*, std::int64_t, Handle) { DLRT_DEMAND(false); };
        const Reducer reducer(
            std::make_shared<const UserOp>(UserOp{never, false}), empty, Handle{}
        );
        int nothing = 0;
        const Reduction arguments{{}, {&nothing, 12, &empty}, reducer, true};
        DLRT_DEMAND(allreduce(comm, arguments).ok());
        const Reduction both{{&nothing, 12, &empty}, {&nothing, 12, &empty}, reducer, false};
        DLRT_DEMAND(run_collective(comm, call_of(coll::Collective::reduce, both, 0)).ok());
    });
    SUCCEED();
}

}  // namespace dlrt
