// SPDX-License-Identifier: Apache-2.0
/// The programs over cells, carried out in every order that there is: several operations in a row
/// on rings so short that cells are used again. Nobody may read what is not there or is being
/// overwritten, and nobody may sleep for ever.
#include "collectives/lowering.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include <catch2/catch.hpp>

namespace dlrt::coll {
namespace {

constexpr int ranks_max = 3;
constexpr int depth_max = 2;
constexpr std::uint8_t nothing = 0xff;
constexpr std::uint8_t torn = 0xfe;

struct Cell {
    std::uint8_t mark = 0;           ///< Operation plus one.
    std::uint8_t content = nothing;  ///< Of which operation.
};

/// All that there is, as bytes that can be compared.
struct World {
    struct Rank {
        std::uint8_t operation = 0, step = 0;
        std::uint8_t phase = 0;  ///< 1: in the middle of the step.
        std::uint8_t is_asleep = 0, is_last = 0;
        std::uint8_t bound = 0;  ///< What it knows all to have finished.
        std::uint8_t bound_of_next = 0;
        std::uint8_t read_by_all = 0;  ///< So much all must have finished.
    };
    std::array<Rank, ranks_max> ranks;
    std::array<std::array<Cell, depth_max>, ranks_max> cells;
    std::array<Cell, depth_max> results;
    std::array<std::uint8_t, depth_max> arrivals{};
    std::array<std::uint8_t, ranks_max> finished{};

    [[nodiscard]] std::string key() const {
        return {reinterpret_cast<const char*>(this), sizeof *this};
    }
};
static_assert(alignof(World) == 1);

struct Operation {
    Collective collective;
    int root;
};

using Steps = std::vector<CellStep>;
/// Makes a wrong program of a right one.
using Change = std::function<void(Steps&)>;

class Explorer {
  public:
    Explorer(int size, int depth, std::vector<Operation> operations, const Change& change = {})
        : size_(size), depth_(depth), operations_(std::move(operations)) {
        for (const Operation& operation : operations_) {
            std::vector<Steps> steps;
            for (int rank = 0; rank < size; ++rank) {
                const CellProgram program = cell_program(
                    operation.collective, size, rank, operation.root
                );
                steps.emplace_back(program.steps.begin(), program.steps.end());
                if (change) change(steps.back());
            }
            steps_.push_back(std::move(steps));
            const CellProgram any = cell_program(
                operation.collective, size, operation.root, operation.root
            );
            writers_.push_back(any.counts ? any.writer_count : 0);
        }
    }

    /// What goes wrong in some order; empty: nothing.
    std::string find_fault() {
        std::vector<World> open{World{}};
        std::unordered_set<std::string> seen{open.back().key()};
        while (!open.empty() && fault_.empty()) {
            const World world = open.back();
            open.pop_back();
            bool has_moved = false;
            for (int rank = 0; rank < size_; ++rank) {
                World next = world;
                if (!move(next, rank)) continue;
                has_moved = true;
                if (seen.insert(next.key()).second) open.push_back(next);
            }
            if (!has_moved && !is_over(world)) fault_ = "all wait";
        }
        return fault_;
    }

  private:
    [[nodiscard]] bool is_over(const World& world) const {
        return std::all_of(world.ranks.begin(), world.ranks.begin() + size_, [this](auto& rank) {
            return rank.operation == operations_.size();
        });
    }
    [[nodiscard]] int arrivals_at(int operation) const {
        int count = 0;
        for (int k = operation; k >= 0; k -= depth_) count += writers_[std::size_t(k)];
        return count;
    }
    [[nodiscard]] std::uint8_t finished_by_all(const World& world) const {
        return *std::min_element(world.finished.begin(), world.finished.begin() + size_);
    }
    void expect(bool holds, const char* fault) {
        if (!holds && fault_.empty()) fault_ = fault;
    }

    /// One step of one rank, or half of one; false: it can't move.
    bool move(World& world, int number) {
        World::Rank& rank = world.ranks[std::size_t(number)];
        if (rank.is_asleep != 0 || rank.operation == operations_.size()) return false;
        const Steps& steps = steps_[rank.operation][std::size_t(number)];
        switch (take(world, number, steps[rank.step])) {
            case Outcome::half:
                rank.phase = 1;
                return true;
            case Outcome::half_for_next:
                rank.phase = 2;
                return true;
            case Outcome::wait:
                // It looks once more before it sleeps, as the waiter does.
                rank.is_asleep = 1;
                return true;
            case Outcome::done:
                break;
        }
        rank.phase = 0;
        if (++rank.step == steps.size()) {
            rank.step = 0;
            ++rank.operation;
            rank.is_last = 0;
        }
        return true;
    }

    enum class Outcome { done, half, half_for_next, wait };

    Outcome await(World::Rank& rank, bool has_come, bool knows_all) const {
        if (!has_come) return Outcome::wait;
        if (knows_all) rank.bound = std::max(rank.bound, rank.operation);
        return Outcome::done;
    }

    Outcome await_room(const World& world, World::Rank& rank) const {
        const auto depth = std::uint64_t(depth_);
        if (rank.phase == 1) {
            if (finished_by_all(world) < finished_to_wait_for(rank.operation, depth)) {
                return Outcome::wait;
            }
            rank.bound = finished_by_all(world);
            return Outcome::done;
        }
        if (has_room(rank.operation, rank.bound, depth)) return Outcome::done;
        rank.bound = finished_by_all(world);
        return has_room(rank.operation, rank.bound, depth) ? Outcome::done : Outcome::half;
    }

    /// In phase 1 it waits for all, in phase 2 for the rank above.
    Outcome await_room_above(const World& world, World::Rank& rank, int number) const {
        const auto depth = std::uint64_t(depth_);
        const std::uint8_t above = world.finished[std::size_t(number + 1)];
        if (rank.phase == 2) {
            if (above < finished_to_wait_for(rank.operation, depth)) return Outcome::wait;
            rank.bound_of_next = above;
            return Outcome::done;
        }
        if (rank.bound < rank.read_by_all) rank.bound = finished_by_all(world);
        if (rank.phase == 1 || rank.bound < rank.read_by_all) return await_room(world, rank);
        if (has_room(rank.operation, rank.bound_of_next, depth)) return Outcome::done;
        rank.bound_of_next = above;
        return has_room(rank.operation, above, depth) ? Outcome::done : Outcome::half_for_next;
    }

    /// Takes time: what is read must be there at the beginning and at the end.
    Outcome read(World::Rank& rank, const Cell& cell) {
        expect(cell.content == rank.operation, "reads what isn't there");
        return rank.phase == 0 ? Outcome::half : Outcome::done;
    }
    [[nodiscard]] Cell& lower(World& world, int number) const {
        const std::size_t slot = world.ranks[std::size_t(number)].operation % std::size_t(depth_);
        return world.cells[std::size_t(number - 1)][slot];
    }
    Outcome read_cells(World& world, int number, bool reads_own) {
        Outcome outcome = Outcome::done;
        World::Rank& rank = world.ranks[std::size_t(number)];
        const std::size_t slot = rank.operation % std::size_t(depth_);
        for (int other = 0; other < size_; ++other) {
            if (other != number || reads_own) {
                outcome = read(rank, world.cells[std::size_t(other)][slot]);
            }
        }
        return outcome;
    }
    /// An exclusive scan's is the rank's below, an inclusive one's is its own.
    Outcome read_prefix(World& world, int number) {
        World::Rank& rank = world.ranks[std::size_t(number)];
        const std::size_t slot = rank.operation % std::size_t(depth_);
        if (number > 0) read(rank, lower(world, number));
        if (number < size_ - 1) read(rank, world.cells[std::size_t(number)][slot]);
        return rank.phase == 0 ? Outcome::half : Outcome::done;
    }
    static Outcome overwrite(World::Rank& rank, Cell& cell) {
        cell.content = rank.phase == 0 ? torn : rank.operation;
        return rank.phase == 0 ? Outcome::half : Outcome::done;
    }
    Outcome ring(World& world, int first, int last) const {
        for (int rank = first; rank <= last; ++rank) world.ranks[std::size_t(rank)].is_asleep = 0;
        return Outcome::done;
    }
    /// What it waits for all (phase 1) or the rank above (2) to have finished; else 0.
    [[nodiscard]] std::uint64_t wanted_by(const World& world, int number, int phase) const {
        const World::Rank& rank = world.ranks[std::size_t(number)];
        if (rank.operation == operations_.size() || rank.phase != phase) return 0;
        const Steps& steps = steps_[rank.operation][std::size_t(number)];
        const CellStep step = steps[rank.step];
        if (step != CellStep::await_room && step != CellStep::await_room_above) return 0;
        return finished_to_wait_for(rank.operation, std::uint64_t(depth_));
    }
    void wake_if_enough(World& world, int number, int phase, std::uint64_t finished) const {
        const std::uint64_t wanted = wanted_by(world, number, phase);
        const bool is_enough = wanted != 0 && wanted <= finished;
        if (is_enough) world.ranks[std::size_t(number)].is_asleep = 0;
    }
    /// It says that it is finished, and then looks for those whom that helps.
    Outcome finish(World& world, int number) const {
        World::Rank& rank = world.ranks[std::size_t(number)];
        const auto finished = std::uint8_t(rank.operation + 1);
        world.finished[std::size_t(number)] = finished;
        if (rank.phase == 0) return Outcome::half;
        if (number > 0) wake_if_enough(world, number - 1, 2, finished);
        if (finished_by_all(world) < finished) return Outcome::done;
        for (int other = 0; other < size_; ++other) wake_if_enough(world, other, 1, finished);
        return Outcome::done;
    }

    Outcome take(World& world, int number, CellStep step) {
        using enum CellStep;
        World::Rank& rank = world.ranks[std::size_t(number)];
        const std::size_t slot = rank.operation % std::size_t(depth_);
        const auto mark_of_operation = std::uint8_t(rank.operation + 1);
        const int root = operations_[rank.operation].root;
        Cell& own = world.cells[std::size_t(number)][slot];
        Cell& roots = world.cells[std::size_t(root)][slot];
        Cell& result = world.results[slot];
        const bool is_reduction_at_root = operations_[rank.operation].collective ==
                                          Collective::reduce;
        switch (step) {
            case await_room:
                rank.read_by_all = mark_of_operation;
                return this->await_room(world, rank);
            case await_room_above:
                return this->await_room_above(world, rank, number);
            case write:
                return overwrite(rank, own);
            case mark:
                own.mark = mark_of_operation;
                return Outcome::done;
            case arrive:
                rank.is_last = ++world.arrivals[slot] == arrivals_at(rank.operation);
                return Outcome::done;
            case last_combine:
                if (rank.is_last == 0) return Outcome::done;
                read_cells(world, number, true);
                return overwrite(rank, result);
            case last_mark_result:
                if (rank.is_last != 0) result.mark = mark_of_operation;
                return Outcome::done;
            case last_ring_all:
                return rank.is_last == 0 ? Outcome::done : ring(world, 0, size_ - 1);
            case last_ring_root:
                return rank.is_last == 0 ? Outcome::done : ring(world, root, root);
            case ring_all:
                return ring(world, 0, size_ - 1);
            case ring_next:
                return ring(world, number + 1, number + 1);
            case await_lower_cell:
                return await(rank, lower(world, number).mark == mark_of_operation, size_ == 2);
            case await_root_cell:
                return await(rank, roots.mark == mark_of_operation, size_ == 2);
            case await_other_cell:
                return await(
                    rank, world.cells[std::size_t(1 - number)][slot].mark == mark_of_operation, true
                );
            case await_arrivals:
                return await(rank, world.arrivals[slot] == arrivals_at(rank.operation), true);
            case await_result:
                return await(rank, result.mark == mark_of_operation, true);
            case take_root_cell:
                return read(rank, roots);
            case take_cells:
                return read_cells(world, number, !is_reduction_at_root);
            case take_result:
                return read(rank, result);
            case extend_lower_cell:
                read(rank, lower(world, number));
                return overwrite(rank, own);
            case take_own_prefix:
                return read_prefix(world, number);
            case finish:
                return this->finish(world, number);
        }
        return Outcome::done;
    }

    int size_, depth_;
    std::vector<Operation> operations_;
    std::vector<std::vector<Steps>> steps_;  ///< By operation and rank.
    std::vector<int> writers_;               ///< That are counted, by operation.
    std::string fault_;
};

std::vector<Operation> kinds(int size) {
    return {{Collective::allreduce, 0},    {Collective::allgather, 0}, {Collective::bcast, 0},
            {Collective::bcast, size - 1}, {Collective::reduce, 0},    {Collective::scan, 0}};
}

/// Each row of three operations; the first fault.
std::string explore_all(int size, int depth, const Change& change = {}) {
    const std::vector<Operation> all = kinds(size);
    for (const Operation& first : all) {
        for (const Operation& second : all) {
            for (const Operation& third : all) {
                Explorer explorer(size, depth, {first, second, third}, change);
                const std::string fault = explorer.find_fault();
                if (!fault.empty()) return fault;
            }
        }
    }
    return {};
}

Change without(CellStep step) {
    return [step](Steps& steps) { std::erase(steps, step); };
}

}  // namespace

TEST_CASE("lowering: three operations in a row are right in every order", "[collectives]") {
    const int size = GENERATE(2, 3);
    const int depth = GENERATE(1, 2);
    CAPTURE(size, depth);
    CHECK(explore_all(size, depth) == "");
}

TEST_CASE("lowering: a step left out is found", "[collectives]") {
    using enum CellStep;
    // Found in whichever way comes first: a mark that is overwritten is missed, too.
    CHECK(explore_all(2, 1, without(await_room)) != "");
    CHECK(explore_all(3, 2, without(await_room)) != "");
    CHECK(explore_all(2, 1, without(await_other_cell)) == "reads what isn't there");
    CHECK(explore_all(3, 1, without(await_root_cell)) == "reads what isn't there");
    CHECK(explore_all(3, 1, without(await_arrivals)) == "reads what isn't there");
    CHECK(explore_all(3, 1, without(await_result)) == "reads what isn't there");
    CHECK(explore_all(3, 1, without(mark)) == "all wait");
    CHECK(explore_all(2, 1, without(ring_all)) == "all wait");
    CHECK(explore_all(3, 1, without(last_ring_all)) == "all wait");
    CHECK(explore_all(3, 1, without(last_ring_root)) == "all wait");
    CHECK(explore_all(3, 1, without(await_room_above)) != "");
    CHECK(explore_all(3, 1, without(await_lower_cell)) == "reads what isn't there");
    CHECK(explore_all(3, 1, without(ring_next)) == "all wait");
    CHECK(explore_all(3, 1, without(finish)) == "all wait");
}

TEST_CASE("lowering: how long what goes through cells may be") {
    using enum Collective;
    struct Limit {
        Collective collective;
        std::int32_t size;
        std::uint64_t bytes;
    };
    const std::vector<Limit> limits = {
        {bcast, 2, 32768},     {bcast, 64, 32768},        {reduce, 2, 32768},
        {reduce, 8, 16384},    {reduce, 64, 4096},        {allreduce, 2, 16384},
        {allreduce, 16, 8192}, {allreduce, 64, 4096},     {allgather, 2, 16384},
        {allgather, 32, 1024}, {gather, 4, 8192},         {gather, 32, 4096},
        {alltoall, 2, 4096},   {alltoall, 64, 128},       {alltoall, 65, 63},
        {scatter, 4, 2048},    {reduce_scatter, 8, 1024}, {scan, 4, 4096},
    };
    for (const Limit& limit : limits) {
        CAPTURE(name_of(limit.collective), limit.size, limit.bytes);
        CHECK(suits_cells(limit.collective, limit.size, 0));
        CHECK(suits_cells(limit.collective, limit.size, limit.bytes));
        CHECK_FALSE(suits_cells(limit.collective, limit.size, limit.bytes + 1));
    }
    CHECK_FALSE(suits_cells(bcast, 1, 1));
}

}  // namespace dlrt::coll
