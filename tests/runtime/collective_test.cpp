// SPDX-License-Identifier: Apache-2.0
/// The collectives between ranks that are threads, against results worked out serially: sizes,
/// roots, counts, types, layouts with gaps, in place; the same bits on every rank; half and
/// bfloat16 rounded once.
#include "runtime/collective.hpp"

#include "tests/runtime/collective_calls.hpp"
#include "tests/runtime/collective_ranks.hpp"

#include <bit>
#include <cstring>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

using namespace dlrt::testing;

using Number = std::int32_t;
constexpr Number canary = 0x5ca1ab1e;

Number number(std::int32_t rank, std::uint64_t index) {
    return static_cast<Number>((static_cast<std::uint64_t>(rank) * 1009 + index * 31) % 100'003);
}

/// A buffer of `count` numbers, as they lie in memory with that layout.
class Numbers {
  public:
    enum class Lie : std::uint8_t { dense, gapped };

    Numbers(Lie lie, std::uint64_t count)
        : lie_(lie),
          count_(count),
          stride_(lie == Lie::dense ? 1 : 3),
          memory_(count * stride_ + 1, canary) {}

    void set(std::uint64_t index, Number value) { memory_[index * stride_] = value; }
    [[nodiscard]] Number get(std::uint64_t index) const { return memory_[index * stride_]; }
    /// Nothing was written between the numbers or behind them.
    [[nodiscard]] bool is_clean() const {
        for (std::uint64_t i = 0; i < memory_.size(); ++i) {
            const bool is_number = i < count_ * stride_ && i % stride_ == 0;
            if (!is_number && memory_[i] != canary) return false;
        }
        return true;
    }
    [[nodiscard]] Buffer buffer(std::uint64_t count) {
        return {memory_.data(), count, &layout_of(lie_)};
    }
    [[nodiscard]] Buffer buffer() { return buffer(count_); }
    [[nodiscard]] ConstBuffer source(std::uint64_t count) const {
        return {memory_.data(), count, &layout_of(lie_)};
    }
    [[nodiscard]] ConstBuffer source() const { return source(count_); }

  private:
    static const LayoutRef& layout_of(Lie lie) {
        const LayoutRef& dense = Layout::of(ElementType::int32);
        static const LayoutRef gapped = *Layout::resized(0, 3 * sizeof(Number), dense);
        return lie == Lie::dense ? dense : gapped;
    }

    Lie lie_;
    std::uint64_t count_;
    std::uint64_t stride_;
    std::vector<Number> memory_;
};

struct Case {
    Communicator& comm;
    std::uint64_t count;
    std::int32_t root;
    Numbers::Lie input, output;
    bool is_in_place;
    Form form = Form::blocking;

    [[nodiscard]] std::int32_t rank() const { return comm.rank(); }
    [[nodiscard]] bool is_root() const { return comm.rank() == root; }
    [[nodiscard]] std::uint64_t size() const { return static_cast<std::uint64_t>(comm.size()); }
    [[nodiscard]] std::uint64_t first() const { return static_cast<std::uint64_t>(rank()) * count; }
};

void check_bcast(const Case& c) {
    Numbers data(c.rank() % 2 == 0 ? c.input : c.output, c.count);
    for (std::uint64_t i = 0; i < c.count && c.is_root(); ++i) data.set(i, number(c.root, i));
    DLRT_DEMAND(perform(c.comm, bcast_call(data.buffer(), c.root), c.form).ok());
    for (std::uint64_t i = 0; i < c.count; ++i) DLRT_DEMAND(data.get(i) == number(c.root, i));
    DLRT_DEMAND(data.is_clean());
}

void check_reduction(const Case& c, bool is_for_all) {
    Numbers input(c.input, c.count), output(c.output, c.count);
    const bool is_receiver = is_for_all || c.is_root();
    const bool is_in_place = is_receiver && c.is_in_place;
    for (std::uint64_t i = 0; i < c.count; ++i)
        (is_in_place ? output : input).set(i, number(c.rank(), i));
    Reduction arguments{
        input.source(), output.buffer(), {ReduceOp::sum, ElementType::int32}, is_in_place};
    if (is_in_place) arguments.input = {};
    if (!is_receiver) arguments.output = {};
    const auto collective = is_for_all ? coll::Collective::allreduce : coll::Collective::reduce;
    const CollectiveCall call = call_of(collective, arguments, is_for_all ? 0 : c.root);
    const Status status = perform(c.comm, call, c.form);
    DLRT_DEMAND(status.ok());
    for (std::uint64_t i = 0; i < c.count && is_receiver; ++i) {
        Number sum = 0;
        for (std::int32_t rank = 0; rank < c.comm.size(); ++rank) sum += number(rank, i);
        DLRT_DEMAND(output.get(i) == sum);
    }
    for (std::uint64_t i = 0; i < c.count && !is_in_place; ++i)
        DLRT_DEMAND(input.get(i) == number(c.rank(), i));
    DLRT_DEMAND(input.is_clean() && output.is_clean());
}

void check_collecting(const Case& c, bool is_for_all) {
    Numbers input(c.input, c.count), output(c.output, c.count * c.size());
    const bool is_receiver = is_for_all || c.is_root();
    const bool is_in_place = is_receiver && c.is_in_place;
    for (std::uint64_t i = 0; i < c.count; ++i) {
        if (is_in_place) output.set(c.first() + i, number(c.rank(), i));
        if (!is_in_place) input.set(i, number(c.rank(), i));
    }
    Blocks arguments{input.source(), output.buffer(c.count), is_in_place};
    if (is_in_place) arguments.input = {};
    if (!is_receiver) arguments.output = {};
    const auto collective = is_for_all ? coll::Collective::allgather : coll::Collective::gather;
    const CollectiveCall call = call_of(collective, arguments, is_for_all ? 0 : c.root);
    const Status status = perform(c.comm, call, c.form);
    DLRT_DEMAND(status.ok());
    for (std::uint64_t i = 0; i < c.count * c.size() && is_receiver; ++i) {
        DLRT_DEMAND(output.get(i) == number(static_cast<std::int32_t>(i / c.count), i % c.count));
    }
    DLRT_DEMAND(input.is_clean() && output.is_clean());
}

void check_scatter(const Case& c) {
    Numbers input(c.input, c.count * c.size()), output(c.output, c.count);
    const bool is_in_place = c.is_root() && c.is_in_place;
    for (std::uint64_t i = 0; i < c.count * c.size(); ++i) input.set(i, number(c.root, i));
    Blocks arguments{input.source(c.count), output.buffer(), is_in_place};
    if (is_in_place) arguments.output = {};
    if (!c.is_root()) arguments.input = {};
    const CollectiveCall call = call_of(coll::Collective::scatter, arguments, c.root);
    DLRT_DEMAND(perform(c.comm, call, c.form).ok());
    for (std::uint64_t i = 0; i < c.count && !is_in_place; ++i) {
        DLRT_DEMAND(output.get(i) == number(c.root, c.first() + i));
    }
    for (std::uint64_t i = 0; i < c.count * c.size(); ++i)
        DLRT_DEMAND(input.get(i) == number(c.root, i));
    DLRT_DEMAND(input.is_clean() && output.is_clean());
}

void check_everything(Case c) {
    for (const bool is_in_place : {false, true}) {
        c.is_in_place = is_in_place;
        for (c.root = 0; c.root < c.comm.size(); ++c.root) {
            check_bcast(c);
            check_reduction(c, false);
            check_collecting(c, false);
            check_scatter(c);
        }
        check_reduction(c, true);
        check_collecting(c, true);
        DLRT_DEMAND(perform(c.comm, {}, c.form).ok());
    }
}

constexpr Numbers::Lie dense = Numbers::Lie::dense;
constexpr Numbers::Lie gapped = Numbers::Lie::gapped;

/// Elements of type T, each rank with its own, summed with `op` everywhere.
template<typename T>
std::vector<T> reduce_everywhere(
    Communicator& comm, ElementType type, ReduceOp op, std::vector<T> mine
) {
    std::vector<T> result(mine.size());
    const LayoutRef& layout = Layout::of(type);
    const Reduction arguments{
        {mine.data(), mine.size(), &layout},
        {result.data(), result.size(), &layout},
        {op, type},
        false};
    DLRT_DEMAND(allreduce(comm, arguments).ok());
    return result;
}

}  // namespace

TEST_CASE("collective: all sizes 1 to 9, roots, counts 0 to 2p, in place", "[runtime]") {
    for (std::int32_t size = 1; size <= 9; ++size) {
        CollectiveRanks ranks(size);
        ranks.run([size](Communicator& comm) {
            for (std::uint64_t count = 0; count <= 2 * static_cast<std::uint64_t>(size); ++count) {
                check_everything({comm, count, 0, dense, dense, false});
            }
        });
    }
}

TEST_CASE("collective: begun and waited for, or made and started, the same", "[runtime]") {
    for (const std::int32_t size : {1, 2, 3, 8}) {
        CollectiveRanks ranks(size);
        ranks.run([](Communicator& comm) {
            for (const Form form : {Form::nonblocking, Form::persistent}) {
                for (const std::uint64_t count : {0, 1, 7, 3000}) {
                    check_everything({comm, count, 0, dense, dense, false, form});
                    check_everything({comm, count, 0, gapped, dense, false, form});
                }
            }
        });
    }
}

TEST_CASE("collective: layouts with gaps on either side leave the gaps alone", "[runtime]") {
    for (const std::int32_t size : {1, 2, 5}) {
        CollectiveRanks ranks(size);
        ranks.run([](Communicator& comm) {
            for (const std::uint64_t count : {0, 1, 7, 3000}) {
                check_everything({comm, count, 0, gapped, dense, false});
                check_everything({comm, count, 0, dense, gapped, false});
                check_everything({comm, count, 0, gapped, gapped, false});
            }
        });
    }
}

TEST_CASE("collective: vectors beyond every switch between algorithms", "[runtime]") {
    for (const std::int32_t size : {2, 3, 4}) {
        CollectiveRanks ranks(size);
        ranks.run([](Communicator& comm) {
            for (const std::uint64_t count : {4095, 4096, 4097, 30'011, 300'007}) {
                check_everything({comm, count, 0, dense, dense, false});
            }
        });
    }
}

TEST_CASE("collective: vectors longer than one piece", "[runtime]") {
    CollectiveRanks ranks(2);
    ranks.run([](Communicator& comm) {
        const std::uint64_t count = (std::uint64_t{33} << 20) / sizeof(Number) + 5;
        check_bcast({comm, count, 1, dense, dense, false});
        check_reduction({comm, count, 1, dense, dense, true}, true);
    });
}

TEST_CASE("collective: a floating-point sum has the same bits on every rank", "[runtime]") {
    for (std::int32_t size = 2; size <= 9; ++size) {
        for (const std::size_t count : {std::size_t{13}, std::size_t{10'000}}) {
            CollectiveRanks ranks(size);
            std::vector<std::vector<double>> results(static_cast<std::size_t>(size));
            ranks.run([&](Communicator& comm) {
                std::vector<double> mine(count);
                for (std::size_t i = 0; i < count; ++i) {
                    const double scale = i % 3 == 0 ? 1e16 : 1.0;
                    mine[i] = scale * number(comm.rank(), i) / 7.0 *
                              (comm.rank() % 2 == 0 ? 1 : -1);
                }
                results[static_cast<std::size_t>(comm.rank())] = reduce_everywhere(
                    comm, ElementType::float64, ReduceOp::sum, mine
                );
            });
            for (const auto& result : results) {
                CHECK(std::memcmp(result.data(), results[0].data(), count * sizeof(double)) == 0);
            }
        }
    }
}

TEST_CASE("collective: half and bfloat16 are summed as float and rounded once", "[runtime]") {
    // half: 2048 + 1 + 1 + 1 = 2051 rounds to 2052; rounded at each step it would stay 2048.
    // bfloat16: 256 + 1 + 1 + 1 = 259 rounds to 260; at each step it would stay 256.
    struct Narrow {
        ElementType type;
        std::uint16_t large, one, sum, product;
    };
    const Narrow half{ElementType::float16, 0x6800, 0x3c00, 0x6802, 0x6800};
    const Narrow bfloat16{ElementType::bfloat16, 0x4380, 0x3f80, 0x4382, 0x4380};
    for (const Narrow& narrow : {half, bfloat16}) {
        CollectiveRanks ranks(4);
        ranks.run([&narrow](Communicator& comm) {
            for (const std::size_t count : {std::size_t{1}, std::size_t{20'000}}) {
                const std::vector<std::uint16_t> mine(
                    count, comm.rank() == 0 ? narrow.large : narrow.one
                );
                const auto sum = reduce_everywhere(comm, narrow.type, ReduceOp::sum, mine);
                DLRT_DEMAND(sum == std::vector<std::uint16_t>(count, narrow.sum));
                const auto product = reduce_everywhere(comm, narrow.type, ReduceOp::product, mine);
                DLRT_DEMAND(product == std::vector<std::uint16_t>(count, narrow.product));
                const auto maximum = reduce_everywhere(comm, narrow.type, ReduceOp::maximum, mine);
                DLRT_DEMAND(maximum == std::vector<std::uint16_t>(count, narrow.large));
            }
        });
    }
}

TEST_CASE("collective: half with gaps is packed and widened", "[runtime]") {
    CollectiveRanks ranks(3);
    ranks.run([](Communicator& comm) {
        const LayoutRef gapped_half = *Layout::resized(0, 6, Layout::of(ElementType::float16));
        std::vector<std::uint16_t> data(30, 0x7777);
        for (std::size_t i = 0; i < 10; ++i) data[3 * i] = 0x3c00;  // 1.0
        const Reduction arguments{
            {}, {data.data(), 10, &gapped_half}, {ReduceOp::sum, ElementType::float16}, true};
        DLRT_DEMAND(allreduce(comm, arguments).ok());
        for (std::size_t i = 0; i < 30; ++i)
            DLRT_DEMAND(data[i] == (i % 3 == 0 ? 0x4200 : 0x7777));  // 3.0
    });
}

TEST_CASE("collective: each reduction reaches the elements", "[runtime]") {
    CollectiveRanks ranks(3);
    ranks.run([](Communicator& comm) {
        const std::uint8_t values[] = {0b0110, 0b0011, 0b0111};
        const std::vector<std::uint8_t> mine{values[comm.rank()]};
        auto result = [&](ReduceOp op) {
            return int{reduce_everywhere(comm, ElementType::uint8, op, mine)[0]};
        };
        DLRT_DEMAND(result(ReduceOp::sum) == 6 + 3 + 7);
        DLRT_DEMAND(result(ReduceOp::product) == 6 * 3 * 7);
        DLRT_DEMAND(result(ReduceOp::minimum) == 3);
        DLRT_DEMAND(result(ReduceOp::maximum) == 7);
        DLRT_DEMAND(result(ReduceOp::logical_and) == 1);
        DLRT_DEMAND(result(ReduceOp::logical_or) == 1);
        DLRT_DEMAND(result(ReduceOp::logical_xor) == 1);
        DLRT_DEMAND(result(ReduceOp::bit_and) == 0b0010);
        DLRT_DEMAND(result(ReduceOp::bit_or) == 0b0111);
        DLRT_DEMAND(result(ReduceOp::bit_xor) == 0b0010);
    });
}

TEST_CASE(
    "collective: a reduction that the type does not have is refused before anything is sent",
    "[runtime]"
) {
    CollectiveRanks ranks(2);
    ranks.run([](Communicator& comm) {
        double value = 1.0;
        const LayoutRef& layout = Layout::of(ElementType::float64);
        const Reduction arguments{
            {}, {&value, 1, &layout}, {ReduceOp::bit_and, ElementType::float64}, true};
        DLRT_DEMAND(allreduce(comm, arguments).code == Errc::op);
        DLRT_DEMAND(last_error_text().find("allreduce") != std::string::npos);
        DLRT_DEMAND(barrier(comm).ok());
    });
}

TEST_CASE("collective: a barrier holds everybody until the last has come", "[runtime]") {
    for (std::int32_t size = 2; size <= 9; ++size) {
        CollectiveRanks ranks(size);
        std::atomic<std::int32_t> arrived{0};
        ranks.run([&](Communicator& comm) {
            for (std::int32_t round = 1; round <= 50; ++round) {
                arrived.fetch_add(1, std::memory_order_relaxed);
                DLRT_DEMAND(barrier(comm).ok());
                DLRT_DEMAND(arrived.load(std::memory_order_relaxed) >= round * size);
                DLRT_DEMAND(barrier(comm).ok());
            }
        });
    }
}

TEST_CASE("collective: a root may run far ahead of the others", "[runtime]") {
    CollectiveRanks ranks(3);
    ranks.run([](Communicator& comm) {
        for (Number round = 0; round < 2000; ++round) {
            Number value = comm.rank() == 0 ? round : -1;
            DLRT_DEMAND(bcast(comm, {&value, 1, &Layout::of(ElementType::int32)}, 0).ok());
            DLRT_DEMAND(value == round);
        }
    });
}

TEST_CASE("collective: counts that differ are reported as a mismatch", "[runtime]") {
    CollectiveRanks ranks(2);
    ranks.run([](Communicator& comm) {
        Number values[3] = {};
        const std::uint64_t count = comm.rank() == 0 ? 3 : 2;
        const Status status = bcast(comm, {values, count, &Layout::of(ElementType::int32)}, 0);
        DLRT_DEMAND(status.code == (comm.rank() == 0 ? Errc::ok : Errc::mismatch));
    });
}

}  // namespace dlrt
