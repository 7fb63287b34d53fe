// SPDX-License-Identifier: Apache-2.0
/// Collectives over cells between ranks that are threads, against results worked out serially:
/// every collective, roots, lengths that fit a line, a body, or exactly; in place; many in a row
/// without a meeting; departures, aborts, calls that differ; areas that are given back.
#include "runtime/host_collective.hpp"

#include "tests/runtime/collective_ranks.hpp"

#include <cstring>
#include <random>

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

using namespace dlrt::testing;
using coll::Collective;
using coll::Placement;

constexpr Collective all_collectives[] = {
    Collective::barrier,  Collective::bcast,   Collective::reduce,    Collective::allreduce,
    Collective::gather,   Collective::scatter, Collective::allgather, Collective::reduce_scatter,
    Collective::alltoall, Collective::scan,    Collective::exscan};

/// Of the field of 65521 elements: x -> a x + b. Composing is associative, and who changes the
/// order of two operands changes the result.
struct Map {
    std::uint16_t a = 1, b = 0;
    friend bool operator==(const Map&, const Map&) = default;
};
constexpr std::uint32_t prime = 65521;
Map compose(Map f, Map g) {
    return {
        static_cast<std::uint16_t>(std::uint32_t{f.a} * g.a % prime),
        static_cast<std::uint16_t>((std::uint32_t{f.a} * g.b + f.b) % prime)};
}
void compose_all(const void* left, void* right, std::int64_t count, Handle) {
    const auto* of_left = static_cast<const Map*>(left);
    auto* of_right = static_cast<Map*>(right);
    for (std::int64_t i = 0; i < count; ++i) of_right[i] = compose(of_left[i], of_right[i]);
}
const Reducer& composition() {
    static const Reducer reducer(
        std::make_shared<UserOp>(UserOp{compose_all, false}), Layout::of(ElementType::uint32), {}
    );
    return reducer;
}

using Maps = std::vector<Map>;
constexpr Map untouched{4711, 42};

/// Element i of what a rank contributes to operation number `round`.
Map element(std::uint64_t round, std::int32_t rank, std::uint64_t i) {
    const auto mixed = static_cast<std::uint32_t>(
        (round * 1'000'003 + static_cast<std::uint64_t>(rank) * 7919 + i * 104'729) * 2654435761u
    );
    return {
        static_cast<std::uint16_t>(mixed % (prime - 1) + 1),
        static_cast<std::uint16_t>((mixed >> 7) % prime)};
}

struct Call {
    Collective collective;
    std::int32_t root;
    std::uint64_t count;  ///< Elements of the vector or of one block.
    bool is_in_place;
    std::uint64_t round;
};

bool has_block_input(Collective collective) {
    return collective == Collective::scatter || collective == Collective::alltoall ||
           collective == Collective::reduce_scatter;
}
bool has_block_output(Collective collective) {
    return collective == Collective::gather || collective == Collective::allgather ||
           collective == Collective::alltoall;
}
bool has_root(Collective collective) {
    return collective == Collective::bcast || collective == Collective::reduce ||
           collective == Collective::gather || collective == Collective::scatter;
}

/// One rank's part in a call: its buffers, and what must be in the output afterwards.
class Part {
  public:
    Part(const Call& call, std::int32_t rank, std::int32_t size)
        : call_(call), rank_(rank), size_(size), is_root_(rank == call.root) {
        const auto all = static_cast<std::uint64_t>(size);
        const std::uint64_t blocks_in = has_block_input(call.collective) ? all : 1;
        const std::uint64_t blocks_out = has_block_output(call.collective) ? all : 1;
        input_.resize(blocks_in * call.count);
        for (std::uint64_t i = 0; i < input_.size(); ++i) input_[i] = element(call.round, rank, i);
        output_.assign(std::max(blocks_in, blocks_out) * call.count, untouched);
        if (is_in_place()) place_input();
    }

    [[nodiscard]] HostCall host_call() {
        HostCall made;
        made.collective = call_.collective;
        if (call_.collective == Collective::barrier) return made;
        made.root = call_.root;
        made.size_bytes = call_.count * sizeof(Map);
        made.reducer = &composition();
        memory_.resize(composition().memory_bytes());
        made.reduction_memory = memory_.data();
        if (is_in_place()) made.placement = Placement::in_place;
        const bool has_input = !is_in_place() || call_.collective == Collective::scatter;
        if (has_input && call_.collective != Collective::bcast) {
            made.input = reinterpret_cast<const std::byte*>(input_.data());
        }
        if (call_.collective == Collective::scatter && is_in_place()) return made;
        made.output = reinterpret_cast<std::byte*>(output_.data());
        return made;
    }

    [[nodiscard]] bool is_right() const {
        if (call_.collective == Collective::barrier) return true;
        if (call_.collective == Collective::scatter && is_in_place()) return true;
        for (std::uint64_t i = 0; i < result_count(); ++i) {
            if (output_[i] != expected(i)) return false;
        }
        return true;
    }

  private:
    [[nodiscard]] bool is_in_place() const {
        const Collective collective = call_.collective;
        if (collective == Collective::bcast) return is_root_;
        if (collective == Collective::barrier) return false;
        return call_.is_in_place && (is_root_ || !has_root(collective));
    }
    void place_input() {
        const bool is_collection = call_.collective == Collective::gather ||
                                   call_.collective == Collective::allgather;
        const std::uint64_t first = is_collection ? static_cast<std::uint64_t>(rank_) * call_.count
                                                  : 0;
        std::copy(
            input_.begin(), input_.end(), output_.begin() + static_cast<std::ptrdiff_t>(first)
        );
    }
    [[nodiscard]] std::uint64_t result_count() const {
        const bool has_result = is_root_ || !has_root(call_.collective) ||
                                call_.collective == Collective::bcast ||
                                call_.collective == Collective::scatter;
        if (!has_result) return 0;
        return (has_block_output(call_.collective) ? static_cast<std::uint64_t>(size_) : 1) *
               call_.count;
    }
    [[nodiscard]] Map folded(std::int32_t end, std::uint64_t i) const {
        Map result = element(call_.round, 0, i);
        for (std::int32_t rank = 1; rank < end; ++rank) {
            result = compose(result, element(call_.round, rank, i));
        }
        return result;
    }
    [[nodiscard]] Map expected(std::uint64_t i) const {
        const std::uint64_t own_block = static_cast<std::uint64_t>(rank_) * call_.count;
        const auto block = static_cast<std::int32_t>(i / call_.count);
        switch (call_.collective) {
            case Collective::barrier:
                return untouched;
            case Collective::bcast:
                return element(call_.round, call_.root, i);
            case Collective::reduce:
            case Collective::allreduce:
                return folded(size_, i);
            case Collective::gather:
            case Collective::allgather:
                return element(call_.round, block, i % call_.count);
            case Collective::scatter:
                return element(call_.round, call_.root, own_block + i);
            case Collective::reduce_scatter:
                return folded(size_, own_block + i);
            case Collective::alltoall:
                return element(call_.round, block, own_block + i % call_.count);
            case Collective::scan:
                return folded(rank_ + 1, i);
            case Collective::exscan:
                if (rank_ == 0) return call_.is_in_place ? element(call_.round, 0, i) : untouched;
                return folded(rank_, i);
            case Collective::neighbor_allgather:
            case Collective::neighbor_alltoall:
                break;
        }
        return untouched;
    }

    Call call_;
    std::int32_t rank_, size_;
    bool is_root_;
    Maps input_, output_;
    std::vector<std::byte> memory_;
};

void do_call(Communicator& comm, const Call& call) {
    Part part(call, comm.rank(), comm.size());
    HostCollective& host = *comm.host_collective();
    DLRT_DEMAND(host.takes(call.collective, call.count * sizeof(Map)));
    DLRT_DEMAND(host.run(part.host_call()).ok());
    DLRT_DEMAND(part.is_right());
}

/// The longest that fits.
std::uint64_t count_max(Collective collective, std::int32_t size) {
    std::uint64_t count = coll::cell_vector_bytes_max / sizeof(Map);
    while (!coll::suits_cells(collective, size, count * sizeof(Map))) --count;
    return count;
}

void open_cells(CollectiveRanks& ranks, std::uint32_t area = 0) {
    ranks.run([&](Communicator& comm) { comm.open_host_collective(area); });
}

}  // namespace

TEST_CASE("cells: every collective, root, place and length", "[runtime]") {
    const std::int32_t size = GENERATE(2, 3, 5);
    CollectiveRanks ranks(size);
    open_cells(ranks);
    ranks.run([&](Communicator& comm) {
        std::uint64_t round = 0;
        for (const Collective collective : all_collectives) {
            const std::uint64_t longest = count_max(collective, size);
            for (std::int32_t root = 0; root < size; ++root) {
                for (const std::uint64_t count :
                     {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{28}, std::uint64_t{29},
                      longest}) {
                    if (count > longest) continue;
                    do_call(comm, {collective, root, count, false, round++});
                    do_call(comm, {collective, root, count, true, round++});
                }
            }
        }
    });
}

TEST_CASE("cells: any order of calls, with ranks that are late", "[runtime]") {
    const std::int32_t size = GENERATE(2, 3, 8);
    const ThreadMode mode = GENERATE(ThreadMode::single, ThreadMode::multiple);
    Wiring wiring;
    wiring.thread_mode = mode;
    CollectiveRanks ranks(size, wiring);
    open_cells(ranks);
    ranks.run([&](Communicator& comm) {
        std::mt19937 agreed(7);
        std::mt19937 own(static_cast<std::uint32_t>(comm.rank()));
        for (std::uint64_t round = 0; round < 1500; ++round) {
            const Collective collective = all_collectives[agreed() % std::size(all_collectives)];
            const auto root = static_cast<std::int32_t>(agreed() % static_cast<unsigned>(size));
            const bool is_long = agreed() % 4 == 0;
            const std::uint64_t longest = is_long ? count_max(collective, size) : 20;
            do_call(comm, {collective, root, agreed() % (longest + 1), agreed() % 2 == 0, round});
            if (own() % 64 == 0) std::this_thread::yield();
        }
    });
}

TEST_CASE(
    "cells: who has nothing to wait for runs ahead, and no further than there is room", "[runtime]"
) {
    const std::int32_t size = GENERATE(2, 4);
    CollectiveRanks ranks(size);
    open_cells(ranks);
    std::atomic<int> given{0};
    ranks.run([&](Communicator& comm) {
        const bool is_root = comm.rank() == 0;
        if (!is_root)
            comm.engine().wait_until([&] {
                std::this_thread::yield();
                return given.load() == int(cell_line_depth);
            });
        for (std::uint64_t round = 0; round < 5 * cell_line_depth; ++round) {
            do_call(comm, {Collective::bcast, 0, 1, false, round});
            if (is_root) given.fetch_add(1);
        }
    });
}

TEST_CASE("cells: two communicators at once in two threads of each rank", "[runtime]") {
    constexpr std::int32_t size = 3;
    Wiring wiring;
    wiring.thread_mode = ThreadMode::multiple;
    CollectiveRanks ranks(size, wiring);
    open_cells(ranks);
    ranks.run([&](Communicator& comm) {
        Communicator second(comm.engine(), ContextId{16}, comm.group(), comm.rank());
        second.open_host_collective(1);
        const auto use = [](Communicator& of, std::uint64_t seed) {
            for (std::uint64_t round = 0; round < 400; ++round) {
                do_call(of, {Collective::allreduce, 0, 5, false, seed + round});
                do_call(of, {Collective::bcast, 2, 5, false, seed + round});
            }
        };
        std::string error;
        std::thread other([&] {
            try {
                use(second, 10'000);
            } catch (const std::exception& caught) {
                error = caught.what();
            }
        });
        use(comm, 0);
        other.join();
        DLRT_DEMAND(error.empty());
    });
}

TEST_CASE("cells: a departed rank is named by those who need it", "[runtime]") {
    const std::int32_t size = GENERATE(2, 3);
    CollectiveRanks ranks(size);
    open_cells(ranks);
    ranks.run([&](Communicator& comm) {
        do_call(comm, {Collective::allreduce, 0, 3, false, 0});
        do_call(comm, {Collective::reduce, 0, 3, false, 1});
        if (comm.rank() == 1) return ranks.cluster().segment().mark_departed(1);
        Part part({Collective::allreduce, 0, 1, false, 2}, comm.rank(), size);
        const HostCall call = part.host_call();
        const std::string
            expected = "allreduce: rank 1 (world rank 1) has ended without finalizing";
        for (int again = 0; again < 2; ++again) {
            DLRT_DEMAND(comm.host_collective()->run(call).code == Errc::peer_lost);
            DLRT_DEMAND(last_error_text() == expected);
        }
    });
    const auto& missed = ranks.cluster().segment().life(0).missed_rank;
    CHECK(missed.load(std::memory_order_relaxed) == 1 + 1);
}

TEST_CASE("cells: a rank that has done its part may go", "[runtime]") {
    CollectiveRanks ranks(3);
    open_cells(ranks);
    ranks.run([&](Communicator& comm) {
        if (comm.rank() != 0) do_call(comm, {Collective::reduce, 0, 3, false, 0});
        if (comm.rank() == 1) ranks.cluster().segment().mark_departed(1);
        if (comm.rank() != 0) return;
        auto& departures = ranks.cluster().segment().header().departures;
        comm.engine().wait_until([&] { return departures.load() == 1; });
        do_call(comm, {Collective::reduce, 0, 3, false, 0});
    });
}

TEST_CASE("cells: an abort ends the wait", "[runtime]") {
    CollectiveRanks ranks(3);
    open_cells(ranks);
    ranks.run([&](Communicator& comm) {
        if (comm.rank() == 2) {
            static_cast<void>(ranks.cluster().segment().raise_abort(3, 2, "test"));
            return;
        }
        DLRT_DEMAND(comm.host_collective()->run({}).code == Errc::aborted);
    });
}

TEST_CASE("cells: different calls are told to all who wait", "[runtime]") {
    const std::int32_t size = GENERATE(2, 3);
    const Collective others = GENERATE(Collective::allreduce, Collective::allgather);
    CAPTURE(size, others);
    CollectiveRanks ranks(size);
    open_cells(ranks);
    ranks.run([&](Communicator& comm) {
        const bool is_odd = comm.rank() == 1;
        Part part(
            {is_odd ? others : Collective::allreduce, 0, is_odd ? 2u : 1u, false, 0}, comm.rank(),
            size
        );
        DLRT_DEMAND(comm.host_collective()->run(part.host_call()).code == Errc::mismatch);
        const std::string text = last_error_text();
        DLRT_DEMAND(text.find("ranks disagree about operation 0") != std::string::npos);
        DLRT_DEMAND(text.find("rank 1 calls") != std::string::npos);
    });
}

TEST_CASE("cells: areas are claimed once, and free again when all have left", "[runtime]") {
    Cluster cluster(3, Wiring{});
    const Group pair({0, 2});
    std::vector<std::uint32_t> taken;
    for (;;) {
        const auto area = HostCollective::claim(cluster.engine(0), pair);
        if (!area) break;
        CHECK(*area >= CellAreas::world_count);
        taken.push_back(*area);
    }
    CHECK(taken.size() == CellAreas::count - CellAreas::world_count);
    const auto group = std::make_shared<const Group>(std::vector<WorldRank>{0, 2});
    for (std::uint64_t life = 0; life < 3; ++life) {
        const std::uint32_t area = taken[9];
        cluster.run([&](WorldRank world_rank, Engine& engine) {
            if (world_rank == 1) return;
            Communicator comm(engine, ContextId{32}, group, world_rank / 2);
            comm.open_host_collective(area);
            for (std::uint64_t round = 0; round < 40; ++round) {
                do_call(comm, {Collective::allreduce, 0, 2, false, life * 100 + round});
                do_call(comm, {Collective::bcast, 1, 2, false, life * 100 + round});
            }
            comm.host_collective()->leave();
        });
        CHECK(HostCollective::claim(cluster.engine(2), pair) == area);
    }
    CHECK(HostCollective::claim(cluster.engine(0), Group({1})) == std::nullopt);
    CHECK(HostCollective::claim(cluster.engine(0), Group({1, 77})) == std::nullopt);
}

TEST_CASE("cells: the segment has as much room as they need", "[runtime]") {
    for (std::uint32_t local_size = 1; local_size <= local_rank_count_max; ++local_size) {
        REQUIRE(collective_area_size_bytes(local_size) == CellAreas::size_bytes(local_size));
    }
}

}  // namespace dlrt
