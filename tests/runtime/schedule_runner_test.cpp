// SPDX-License-Identifier: Apache-2.0
/// Runs every algorithm over real engines, and compares the buffers with what the collective
/// promises.
#include "runtime/schedule_runner.hpp"

#include "collectives/algorithms.hpp"
#include "collectives/contract.hpp"
#include "collectives/schedule_builder.hpp"
#include "runtime/collective_state.hpp"
#include "tests/collectives/all_ranks.hpp"
#include "tests/runtime/collective_ranks.hpp"

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

using namespace dlrt::testing;
using Element = std::uint32_t;

constexpr Element unset = 0xdeadbeef;

Element contribution(std::int32_t rank, std::uint32_t chunk, std::uint64_t index) {
    return static_cast<Element>(
        (static_cast<std::uint64_t>(rank) * 131 + chunk * 17 + index) * 2654435761u
    );
}

Element expected(const coll::Content& content, std::int32_t size, std::uint64_t index) {
    if (content.kind == coll::Content::Kind::of_rank) {
        return contribution(content.rank, content.chunk, index);
    }
    const bool is_prefix = content.kind == coll::Content::Kind::of_prefix;
    const std::int32_t last_rank = is_prefix ? content.rank : size - 1;
    Element sum = 0;
    for (std::int32_t rank = 0; rank <= last_rank; ++rank)
        sum += contribution(rank, content.chunk, index);
    return sum;
}

/// One rank's part of an operation, in memory.
class Part {
  public:
    Part(coll::Schedule schedule, std::uint64_t count) : schedule_(std::move(schedule)) {
        const bool is_split = schedule_.chunk_rule == coll::ChunkRule::split;
        sizes_ = is_split ? coll::ChunkSizes::split(
                                count * sizeof(Element), sizeof(Element), schedule_.chunk_count
                            )
                          : coll::ChunkSizes::block(count * sizeof(Element));
        fill(coll::BufferId::input, input_);
        fill(coll::BufferId::output, output_);
        fill(coll::BufferId::scratch, scratch_);
    }

    [[nodiscard]] ScheduleBinding binding() {
        static const Reducer sum(ReduceOp::sum, ElementType::uint32);
        return {&schedule_,         sizes_, bytes_of(input_), bytes_of(output_),
                bytes_of(scratch_), &sum,   nullptr};
    }
    [[nodiscard]] bool is_right() const {
        return holds(coll::BufferId::input, input_) && holds(coll::BufferId::output, output_);
    }

  private:
    static std::byte* bytes_of(std::vector<Element>& elements) {
        return reinterpret_cast<std::byte*>(elements.data());
    }
    [[nodiscard]] std::uint64_t chunk_elements(std::uint32_t chunk) const {
        const bool is_split = schedule_.chunk_rule == coll::ChunkRule::split;
        return sizes_.size_bytes(is_split ? chunk : 0, 1) / sizeof(Element);
    }
    [[nodiscard]] std::uint64_t first_element(std::uint32_t chunk) const {
        return sizes_.offset_bytes({coll::BufferId::output, chunk}) / sizeof(Element);
    }
    // One element more than there should be, to see writing past the end.
    void fill(coll::BufferId buffer, std::vector<Element>& elements) {
        const std::uint32_t chunks = coll::buffer_chunks(schedule_, buffer);
        elements.assign(chunks * (sizes_.full_bytes() / sizeof(Element)) + 1, unset);
        if (buffer == coll::BufferId::scratch) return;
        for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
            const coll::Content content = coll::content_before(schedule_, {buffer, chunk});
            if (content.kind != coll::Content::Kind::of_rank) continue;
            for (std::uint64_t i = 0; i < chunk_elements(chunk); ++i) {
                elements[first_element(chunk) + i] = contribution(content.rank, content.chunk, i);
            }
        }
    }
    [[nodiscard]] bool holds(coll::BufferId buffer, const std::vector<Element>& elements) const {
        for (std::uint32_t chunk = 0; chunk < coll::buffer_chunks(schedule_, buffer); ++chunk) {
            const coll::Content content = coll::content_after(schedule_, {buffer, chunk});
            if (content.kind == coll::Content::Kind::unspecified) continue;
            for (std::uint64_t i = 0; i < chunk_elements(chunk); ++i) {
                if (elements[first_element(chunk) + i] !=
                    expected(content, schedule_.shape.size, i))
                    return false;
            }
        }
        return elements.back() == unset;
    }

    coll::Schedule schedule_;
    coll::ChunkSizes sizes_;
    std::vector<Element> input_, output_, scratch_;
};

ScheduleChannel channel_of(Communicator& comm) {
    return {
        comm.group().get(),
        comm.collective_context(),
        {comm.take_operation_numbers(1, Persistence::once), Persistence::once}};
}

Status run(ScheduleRunner& runner, Communicator& comm, Part& part) {
    runner.bind(channel_of(comm), part.binding());
    return comm.engine().run(runner);
}

void run_everything(Communicator& comm, const std::vector<std::uint64_t>& counts) {
    ScheduleRunner runner;
    for (const coll::Algorithm& algorithm : coll::algorithms()) {
        for (std::int32_t root = 0; root < (algorithm.has_root ? comm.size() : 1); ++root) {
            for (const coll::Placements placements : coll::placements_of(algorithm.collective)) {
                const auto rank = static_cast<std::size_t>(comm.rank());
                const coll::Schedule schedule = coll::all_ranks(
                    algorithm, comm.size(), root, placements
                )[rank];
                for (const std::uint64_t count : counts) {
                    Part part(schedule, count);
                    DLRT_DEMAND(run(runner, comm, part).ok());
                    demand(part.is_right(), algorithm.name.data());
                }
            }
        }
    }
}

}  // namespace

TEST_CASE(
    "runner: every algorithm gives what its collective promises, for 1 to 9 ranks", "[runtime]"
) {
    for (std::int32_t size = 1; size <= 9; ++size) {
        CollectiveRanks ranks(size);
        ranks.run([](Communicator& comm) { run_everything(comm, {0, 1, 3, 19, 700}); });
    }
}

TEST_CASE("runner: a transport that delays, reorders and refuses changes nothing", "[runtime]") {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        CollectiveRanks ranks(5, over_fake(seed));
        ranks.run([](Communicator& comm) { run_everything(comm, {1, 40}); });
    }
    SUCCEED();
}

TEST_CASE("runner: messages too long to be buffered are exchanged without deadlock", "[runtime]") {
    CollectiveRanks ranks(3);
    ranks.run([](Communicator& comm) { run_everything(comm, {100'000}); });
    SUCCEED();
}

TEST_CASE("runner: overlapping operations of one communicator are not mixed up", "[runtime]") {
    CollectiveRanks ranks(4);
    ranks.run([](Communicator& comm) {
        const coll::Shape shape{comm.size(), comm.rank(), 0, coll::Placement::separate};
        Part parts[] = {
            {coll::allreduce_ring(shape), 50},
            {coll::allreduce_recursive_doubling(shape), 50},
            {coll::bcast_binomial(shape), 50},
            {coll::allgather_ring(shape), 50},
        };
        ScheduleRunner runners[4];
        Request* requests[4] = {};
        for (std::size_t i = 0; i < 4; ++i) runners[i].bind(channel_of(comm), parts[i].binding());
        // Each rank begins with another operation, and waits for another one first.
        for (std::size_t turn = 0; turn < 4; ++turn) {
            const std::size_t i = (static_cast<std::size_t>(comm.rank()) + turn) % 4;
            requests[i] = comm.engine().start_task(runners[i]);
        }
        for (std::size_t turn = 0; turn < 4; ++turn) {
            const std::size_t i = (static_cast<std::size_t>(comm.rank()) + 2 + turn) % 4;
            comm.engine().wait(requests[i]);
            DLRT_DEMAND(outcome_of(*requests[i]).ok());
            comm.engine().release(requests[i]);
            DLRT_DEMAND(parts[i].is_right());
        }
    });
    SUCCEED();
}

TEST_CASE("runner: a long schedule leaves others their turn", "[runtime]") {
    CollectiveRanks ranks(1);
    ranks.run([](Communicator& comm) {
        coll::ScheduleBuilder builder(
            {coll::Collective::allgather, "many copies", coll::ChunkRule::block, 1},
            {1, 0, 0, coll::Placement::separate}
        );
        for (int i = 0; i < 100; ++i) builder.copy(coll::input_slice(0), coll::output_slice(0));
        Part part(std::move(builder).finish(), 5);
        ScheduleRunner runner;
        runner.bind(channel_of(comm), part.binding());
        Request* const request = comm.engine().start_task(runner);
        DLRT_DEMAND(!is_complete(*request));
        DLRT_DEMAND(comm.engine().test(request));
        comm.engine().release(request);
        DLRT_DEMAND(part.is_right());
    });
    SUCCEED();
}

TEST_CASE("runner: a message of another length than expected is a mismatch", "[runtime]") {
    for (const std::uint64_t count : {std::uint64_t{9}, std::uint64_t{11}}) {
        CollectiveRanks ranks(2);
        ranks.run([count](Communicator& comm) {
            const coll::Shape shape{2, comm.rank(), 0, coll::Placement::separate};
            Part part(coll::bcast_binomial(shape), comm.rank() == 0 ? count : 10);
            ScheduleRunner runner;
            DLRT_DEMAND(
                run(runner, comm, part).code == (comm.rank() == 0 ? Errc::ok : Errc::mismatch)
            );
        });
    }
    SUCCEED();
}

TEST_CASE("runner: after a failure the communicator's runner can be used again", "[runtime]") {
    CollectiveRanks ranks(2);
    ranks.run([](Communicator& comm) {
        const coll::Shape shape{2, comm.rank(), 0, coll::Placement::separate};
        ScheduleRunner runner;
        Part wrong(coll::bcast_binomial(shape), comm.rank() == 0 ? 3 : 4);
        static_cast<void>(run(runner, comm, wrong));
        Part right(coll::bcast_binomial(shape), 4);
        DLRT_DEMAND(run(runner, comm, right).ok());
        DLRT_DEMAND(right.is_right());
    });
    SUCCEED();
}

}  // namespace dlrt
