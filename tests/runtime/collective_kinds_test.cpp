// SPDX-License-Identifier: Apache-2.0
/// Reduce-scatter, all-to-all, scans, and the collectives whose blocks differ, in their three
/// forms. What is expected follows from number() alone.
#include "runtime/collective.hpp"
#include "tests/runtime/collective_calls.hpp"
#include "tests/runtime/collective_ranks.hpp"

#include <array>
#include <vector>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

using namespace dlrt::testing;
using Number = std::int32_t;
using Numbers = std::vector<Number>;

constexpr Number untouched = -77;

/// What `rank` has at element i of its block for `target`.
Number number(std::int32_t rank, std::int32_t target, std::uint64_t i) {
    return rank * 1009 + target * 31 + static_cast<Number>(i) * 7 + 1;
}

const LayoutRef& ints() {
    return Layout::of(ElementType::int32);
}
/// Every second int.
const LayoutRef& gapped_ints() {
    static const LayoutRef layout = *Layout::resized(0, 2 * sizeof(Number), ints());
    return layout;
}

constexpr std::array forms{Form::blocking, Form::nonblocking, Form::persistent};

struct Case {
    Communicator& comm;
    std::uint64_t count;
    bool is_gapped;
    bool is_in_place;
    Form form;

    [[nodiscard]] std::int32_t rank() const { return comm.rank(); }
    [[nodiscard]] std::int32_t size() const { return comm.size(); }
    [[nodiscard]] std::uint64_t stride() const { return is_gapped ? 2 : 1; }
    [[nodiscard]] const LayoutRef& layout() const { return is_gapped ? gapped_ints() : ints(); }
    /// The own elements, one block for each rank.
    [[nodiscard]] Numbers blocks(std::int32_t block_count) const {
        Numbers memory(static_cast<std::uint64_t>(block_count) * count * stride() + 1, untouched);
        for (std::int32_t block = 0; block < block_count; ++block) {
            for (std::uint64_t i = 0; i < count; ++i)
                at(memory, block, i) = number(rank(), block, i);
        }
        return memory;
    }
    [[nodiscard]] Number& at(Numbers& memory, std::int32_t block, std::uint64_t i) const {
        return memory[(static_cast<std::uint64_t>(block) * count + i) * stride()];
    }
};

void check_reduce_scatter(const Case& c) {
    Numbers input = c.blocks(c.size());
    Numbers output = c.is_in_place ? input : Numbers(c.count * c.stride() + 1, untouched);
    const Reduction arguments{
        {input.data(), c.count, &c.layout()},
        {output.data(), c.count, &c.layout()},
        {ReduceOp::sum, ElementType::int32},
        c.is_in_place};
    const CollectiveCall call = call_of(coll::Collective::reduce_scatter, arguments);
    DLRT_DEMAND(perform(c.comm, call, c.form).ok());
    for (std::uint64_t i = 0; i < c.count; ++i) {
        Number sum = 0;
        for (std::int32_t rank = 0; rank < c.size(); ++rank) sum += number(rank, c.rank(), i);
        DLRT_DEMAND(c.at(output, 0, i) == sum);
    }
    DLRT_DEMAND(output.back() == untouched);
    DLRT_DEMAND(input == c.blocks(c.size()));
}

void check_alltoall(const Case& c) {
    Numbers input = c.blocks(c.size());
    Numbers output = c.is_in_place ? input : Numbers(input.size(), untouched);
    const Blocks arguments{
        {input.data(), c.count, &c.layout()}, {output.data(), c.count, &c.layout()}, c.is_in_place};
    const CollectiveCall call = call_of(coll::Collective::alltoall, arguments);
    DLRT_DEMAND(perform(c.comm, call, c.form).ok());
    for (std::int32_t rank = 0; rank < c.size(); ++rank) {
        for (std::uint64_t i = 0; i < c.count; ++i)
            DLRT_DEMAND(c.at(output, rank, i) == number(rank, c.rank(), i));
    }
    DLRT_DEMAND(output.back() == untouched);
}

void check_scan(const Case& c, coll::Collective collective) {
    Numbers input = c.blocks(1);
    Numbers output = c.is_in_place ? input : Numbers(input.size(), untouched);
    const Reduction arguments{
        {input.data(), c.count, &c.layout()},
        {output.data(), c.count, &c.layout()},
        {ReduceOp::sum, ElementType::int32},
        c.is_in_place};
    DLRT_DEMAND(perform(c.comm, call_of(collective, arguments), c.form).ok());
    const bool is_exclusive = collective == coll::Collective::exscan;
    const std::int32_t end = is_exclusive ? c.rank() : c.rank() + 1;
    for (std::uint64_t i = 0; i < c.count; ++i) {
        Number sum = 0;
        for (std::int32_t rank = 0; rank < end; ++rank) sum += number(rank, 0, i);
        if (end == 0) sum = c.is_in_place ? number(0, 0, i) : untouched;
        DLRT_DEMAND(c.at(output, 0, i) == sum);
    }
    DLRT_DEMAND(output.back() == untouched);
}

/// Rank i sends `count_for(i, j)` elements to rank j: some none, some many.
std::int64_t count_for(std::int32_t source, std::int32_t target) {
    return (source * 3 + target * 5) % 7;
}

/// Blocks of many sizes that lie in reverse order with a hole of one element after each.
struct Spread {
    std::vector<std::int64_t> counts, displacements;
    std::uint64_t stride;
    Numbers memory;
    std::array<const LayoutRef*, 1> layouts;

    Spread(std::vector<std::int64_t> block_counts, bool is_gapped)
        : counts(std::move(block_counts)),
          displacements(counts.size()),
          stride(is_gapped ? 2 : 1),
          layouts{is_gapped ? &gapped_ints() : &ints()} {
        std::int64_t next = 0;
        for (std::size_t i = counts.size(); i-- > 0;) {
            displacements[i] = next;
            next += counts[i] + 1;
        }
        memory.assign(static_cast<std::uint64_t>(next) * stride + 1, untouched);
    }
    [[nodiscard]] Number& at(std::size_t block, std::int64_t i) {
        return memory[static_cast<std::uint64_t>(displacements[block] + i) * stride];
    }
    [[nodiscard]] BlockList list() const {
        return {counts, displacements, BlockList::Unit::extents, layouts};
    }
    /// How many of the numbers were written.
    [[nodiscard]] std::int64_t touched_count() const {
        return std::ranges::count_if(memory, [](Number value) { return value != untouched; });
    }
    [[nodiscard]] std::int64_t total() const {
        std::int64_t sum = 0;
        for (const std::int64_t count : counts) sum += count;
        return sum;
    }
};

std::vector<std::int64_t> counts_of(
    std::int32_t size, const std::function<std::int64_t(int)>& one
) {
    std::vector<std::int64_t> counts;
    for (std::int32_t rank = 0; rank < size; ++rank) counts.push_back(one(rank));
    return counts;
}

void check_alltoallv(const Case& c) {
    const std::int32_t me = c.rank();
    // In place both directions have the counts of the output, which then must be symmetric.
    const auto sent = [&](std::int32_t from, std::int32_t to) {
        return c.is_in_place ? count_for(std::min(from, to), std::max(from, to))
                             : count_for(from, to);
    };
    Spread input(counts_of(c.size(), [&](int to) { return sent(me, to); }), c.is_gapped);
    Spread output(counts_of(c.size(), [&](int from) { return sent(from, me); }), !c.is_gapped);
    for (std::int32_t to = 0; to < c.size(); ++to) {
        for (std::int64_t i = 0; i < sent(me, to); ++i) {
            Spread& source = c.is_in_place ? output : input;
            source.at(static_cast<std::size_t>(to), i) = number(
                me, to, static_cast<std::uint64_t>(i)
            );
        }
    }
    const BlockList inputs = input.list();
    const BlockList outputs = output.list();
    CollectiveCall call;
    call.collective = coll::Collective::alltoall;
    call.is_in_place = c.is_in_place;
    call.output.address = output.memory.data();
    call.output_list = &outputs;
    if (!c.is_in_place) {
        call.input.address = input.memory.data();
        call.input_list = &inputs;
    }
    DLRT_DEMAND(perform(c.comm, call, c.form).ok());
    for (std::int32_t from = 0; from < c.size(); ++from) {
        for (std::int64_t i = 0; i < sent(from, me); ++i) {
            DLRT_DEMAND(
                output.at(static_cast<std::size_t>(from), i) ==
                number(from, me, static_cast<std::uint64_t>(i))
            );
        }
    }
    DLRT_DEMAND(output.touched_count() == output.total());
}

void check_collection(const Case& c, coll::Collective collective, std::int32_t root) {
    const bool is_receiver = collective == coll::Collective::allgather || c.rank() == root;
    const bool is_in_place = is_receiver && c.is_in_place;
    const auto me = static_cast<std::size_t>(c.rank());
    Spread output(counts_of(c.size(), [&](int from) { return count_for(from, 2); }), c.is_gapped);
    Numbers input;
    for (std::int64_t i = 0; i < output.counts[me]; ++i) {
        const Number mine = number(c.rank(), 0, static_cast<std::uint64_t>(i));
        input.push_back(mine);
        if (is_in_place) output.at(me, i) = mine;
    }
    const BlockList outputs = output.list();
    CollectiveCall call;
    call.collective = collective;
    call.root = root;
    call.is_in_place = is_in_place;
    call.has_uneven_others = true;
    if (!is_in_place) call.input = {input.data(), input.size(), &ints()};
    if (is_receiver) {
        call.output.address = output.memory.data();
        call.output_list = &outputs;
    }
    DLRT_DEMAND(perform(c.comm, call, c.form).ok());
    if (!is_receiver) return;
    for (std::size_t from = 0; from < output.counts.size(); ++from) {
        for (std::int64_t i = 0; i < output.counts[from]; ++i) {
            DLRT_DEMAND(
                output.at(from, i) ==
                number(static_cast<std::int32_t>(from), 0, static_cast<std::uint64_t>(i))
            );
        }
    }
    DLRT_DEMAND(output.touched_count() == output.total());
}

void check_scatterv(const Case& c, std::int32_t root) {
    const bool is_root = c.rank() == root;
    const bool is_in_place = is_root && c.is_in_place;
    const auto me = static_cast<std::size_t>(c.rank());
    Spread input(counts_of(c.size(), [&](int to) { return count_for(to, 1); }), c.is_gapped);
    for (std::size_t to = 0; to < input.counts.size(); ++to) {
        for (std::int64_t i = 0; i < input.counts[to]; ++i) {
            input.at(to, i) = number(
                root, static_cast<std::int32_t>(to), static_cast<std::uint64_t>(i)
            );
        }
    }
    Numbers output(static_cast<std::size_t>(input.counts[me]), untouched);
    const BlockList inputs = input.list();
    CollectiveCall call;
    call.collective = coll::Collective::scatter;
    call.root = root;
    call.is_in_place = is_in_place;
    call.has_uneven_others = true;
    if (is_root) {
        call.input.address = input.memory.data();
        call.input_list = &inputs;
    }
    if (!is_in_place) call.output = {output.data(), output.size(), &ints()};
    DLRT_DEMAND(perform(c.comm, call, c.form).ok());
    for (std::size_t i = 0; i < output.size() && !is_in_place; ++i)
        DLRT_DEMAND(output[i] == number(root, c.rank(), i));
}

void check_reduce_scatterv(const Case& c) {
    const auto me = static_cast<std::size_t>(c.rank());
    const auto counts = counts_of(c.size(), [](int to) { return count_for(to, 3); });
    Numbers input;
    for (std::size_t to = 0; to < counts.size(); ++to) {
        for (std::int64_t i = 0; i < counts[to]; ++i) {
            input.push_back(
                number(c.rank(), static_cast<std::int32_t>(to), static_cast<std::uint64_t>(i))
            );
            if (c.is_gapped) input.push_back(untouched);
        }
    }
    input.push_back(untouched);
    const auto own_count = static_cast<std::uint64_t>(counts[me]);
    Numbers output = c.is_in_place ? input : Numbers(own_count * c.stride() + 1, untouched);
    const std::array layouts{&c.layout()};
    const BlockList blocks{counts, {}, BlockList::Unit::extents, layouts};
    const Reduction arguments{
        {input.data(), 0, &c.layout()},
        {output.data(), 0, &c.layout()},
        {ReduceOp::sum, ElementType::int32},
        c.is_in_place};
    CollectiveCall call = call_of(coll::Collective::reduce_scatter, arguments);
    call.input_list = &blocks;
    DLRT_DEMAND(perform(c.comm, call, c.form).ok());
    for (std::uint64_t i = 0; i < own_count; ++i) {
        Number sum = 0;
        for (std::int32_t rank = 0; rank < c.size(); ++rank) sum += number(rank, c.rank(), i);
        DLRT_DEMAND(output[i * c.stride()] == sum);
    }
    DLRT_DEMAND(output.back() == untouched);
}

}  // namespace

TEST_CASE("kinds: blocks and prefixes, 1 to 9 ranks, in place, with gaps", "[runtime]") {
    for (std::int32_t size = 1; size <= 9; ++size) {
        CollectiveRanks ranks(size);
        ranks.run([](Communicator& comm) {
            for (const Form form : forms) {
                for (const std::uint64_t count : {0, 1, 5, 700}) {
                    for (const int variant : {0, 1, 2, 3}) {
                        const Case c{comm, count, (variant & 1) != 0, (variant & 2) != 0, form};
                        check_reduce_scatter(c);
                        check_alltoall(c);
                        check_scan(c, coll::Collective::scan);
                        check_scan(c, coll::Collective::exscan);
                    }
                }
            }
        });
    }
    SUCCEED();
}

TEST_CASE("kinds: long blocks go through every algorithm that the table names", "[runtime]") {
    CollectiveRanks ranks(5);
    ranks.run([](Communicator& comm) {
        for (const std::uint64_t count : {3'000, 40'000}) {
            const Case c{comm, count, false, false, Form::nonblocking};
            check_reduce_scatter(c);
            check_alltoall(c);
            check_scan(c, coll::Collective::scan);
            check_scan(c, coll::Collective::exscan);
        }
    });
    SUCCEED();
}

TEST_CASE("kinds: blocks that differ, 1 to 9 ranks, every root, in place, with gaps", "[runtime]") {
    for (std::int32_t size = 1; size <= 9; ++size) {
        CollectiveRanks ranks(size);
        ranks.run([](Communicator& comm) {
            for (const Form form : forms) {
                for (const int variant : {0, 1, 2, 3}) {
                    const Case c{comm, 0, (variant & 1) != 0, (variant & 2) != 0, form};
                    check_alltoallv(c);
                    check_reduce_scatterv(c);
                    check_collection(c, coll::Collective::allgather, 0);
                    for (std::int32_t root = 0; root < comm.size(); ++root) {
                        check_collection(c, coll::Collective::gather, root);
                        check_scatterv(c, root);
                    }
                }
            }
        });
    }
    SUCCEED();
}

TEST_CASE("kinds: a block that the other side expects to be shorter is a mismatch", "[runtime]") {
    CollectiveRanks ranks(2);
    ranks.run([](Communicator& comm) {
        const std::vector<std::int64_t> sent{1, 3}, wanted{1, 2};
        const std::array layouts{&ints()};
        const BlockList inputs{sent, {}, BlockList::Unit::extents, layouts};
        const BlockList outputs{wanted, {}, BlockList::Unit::extents, layouts};
        Numbers input(4), output(4);
        CollectiveCall call;
        call.collective = coll::Collective::alltoall;
        call.input.address = input.data();
        call.output.address = output.data();
        call.input_list = &inputs;
        call.output_list = &outputs;
        DLRT_DEMAND(run_collective(comm, call).code == Errc::mismatch);
    });
    SUCCEED();
}

}  // namespace dlrt
