// SPDX-License-Identifier: Apache-2.0
/// The steps, as they are carried out.
#include "runtime/host_collective.hpp"

#include "collectives/contract.hpp"
#include "runtime/base/check.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/base/prefetch.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace dlrt {
namespace {

std::uint32_t mixed(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t product = ((a << 32 | a >> 32) ^ b) * 0x9e3779b97f4a7c15;
    return static_cast<std::uint32_t>(product >> 32 ^ product);
}

std::uint32_t digest_of(const HostCall& call) {
    std::uint64_t op = 0;
    if (call.reducer != nullptr) {
        op = call.reducer->is_user() ? Agreement::user_reduction
                                     : static_cast<std::uint8_t>(call.reducer->op());
    }
    // Nothing is alike, whatever it is nothing of.
    const bool has_data = call.size_bytes != 0;
    // Whose lengths differ find that with the first piece.
    const std::uint64_t size_bytes = call.block_distance_bytes();
    const auto element = has_data ? static_cast<std::uint64_t>(call.element) : 0;
    const std::uint32_t signature = has_data ? call.signature : 0;
    const std::int32_t root = coll::has_root(call.collective) ? call.root : -1;
    const std::uint64_t kind = static_cast<std::uint64_t>(call.collective) << 16 | op << 8 |
                               element;
    const std::uint64_t place = std::uint64_t{signature} << 32 | static_cast<std::uint32_t>(root);
    return mixed(mixed(kind << 32 | size_bytes, place), kind);
}

}  // namespace

std::optional<std::uint32_t> HostCollective::claim(const Engine& engine, const Group& group) {
    if (engine.segment() == nullptr || group.size() < 2) return std::nullopt;
    const std::span<const WorldRank> local = engine.world_rank_of_local();
    for (const WorldRank member : group.members()) {
        if (std::ranges::find(local, member) == local.end()) return std::nullopt;
    }
    const HostSegment& segment = *engine.segment();
    return CellAreas(segment.collective_area(), segment.header().local_size).claim();
}

HostCollective::HostCollective(
    Engine& engine, ContextId user_context, GroupRef group, std::int32_t rank, std::uint32_t area
)
    : engine_(&engine),
      user_context_(user_context),
      group_(std::move(group)),
      areas_(engine.segment()->collective_area(), engine.segment()->header().local_size),
      number_(area),
      area_(areas_.area(area)),
      notes_(&areas_.notes()),
      rank_(static_cast<std::uint32_t>(rank)),
      size_(group_->size()),
      fence_(engine.ring_fence()) {
    const std::span<const WorldRank> local = engine.world_rank_of_local();
    for (const WorldRank member : group_->members()) {
        const auto found = std::ranges::find(local, member);
        DLRT_ASSERT(found != local.end());
        const auto local_rank = static_cast<std::uint32_t>(found - local.begin());
        local_ranks_.push_back(local_rank);
        if (member == group_->world_rank(rank)) continue;
        others_.push_back({&engine.segment()->doorbell(local_rank), local_rank});
    }
}

void HostCollective::leave() {
    areas_.leave(number_, static_cast<std::uint32_t>(size_));
}

Status HostCollective::run(const HostCall& call) {
    const std::uint64_t blocks = coll::contribution_bytes(call.collective, size_, 1);
    if (call.size_bytes * blocks <= coll::cell_bytes_max) return run_piece(call);
    const std::uint64_t unit = call.reducer != nullptr ? call.reducer->unit_bytes() : 1;
    const std::uint64_t most = coll::cell_bytes_max / blocks / unit * unit;
    DLRT_ASSERT(most != 0);
    HostCall piece = call;
    piece.whole_bytes = call.size_bytes;
    for (std::uint64_t done = 0; done < call.size_bytes; done += piece.size_bytes) {
        piece.size_bytes = std::min(call.size_bytes - done, most);
        if (call.input != nullptr) piece.input = call.input + done;
        if (call.output != nullptr) piece.output = call.output + done;
        if (const Status status = run_piece(piece); !status.ok()) return status;
    }
    return {};
}

Status HostCollective::run_piece(const HostCall& call) {
    const coll::CellProgram program = coll::cell_program(
        call.collective, size_, static_cast<std::int32_t>(rank_), call.root
    );
    own_plan_.call = call;
    own_plan_.program = compiled(program);
    own_plan_.arrival_count = program.counts ? static_cast<std::uint32_t>(program.writer_count) : 0;
    own_plan_.digest = digest_of(call);
    own_plan_.cell_bytes = coll::contribution_bytes(call.collective, size_, call.size_bytes);
    own_plan_.kernel = nullptr;
    if (call.reducer != nullptr && !call.reducer->is_user()) {
        own_plan_.kernel = reduce_kernel(call.reducer->op(), call.reducer->carried());
        own_plan_.element_count = call.size_bytes / call.reducer->unit_bytes();
    }
    return run_planned(own_plan_);
}

Status HostCollective::run_planned(const Plan& plan) {
    if (!failure_.ok()) [[unlikely]]
        return store_failure(failure_.code, 0, failure_text_);
    plan_ = &plan;
    if (notes_->long_waiters.load(std::memory_order_relaxed) != 0) [[unlikely]] {
        if (const Status status = compare_with_waiters(); !status.ok()) return status;
    }
    described_ = {plan.digest, history_};
    is_last_ = false;
    arrivals_[count_ % cell_line_depth] += plan.arrival_count;
    const Status status = (this->*plan.program)();
    if (!status.ok()) [[unlikely]] {
        failure_ = status;
        failure_text_ = last_error_text();
        return status;
    }
    ++count_;
    history_ = mixed(history_, plan.digest);
    prefetch_for_write(&line(rank_));
    return {};
}

template<const auto& steps>
Status HostCollective::run_program() {
    Status status;
    const auto take_all = [&]<std::size_t... index>(std::index_sequence<index...>) {
        static_cast<void>(((status = take_step(steps[index]), status.ok()) && ...));
    };
    take_all(std::make_index_sequence<std::size(steps)>());
    return status;
}

Status (HostCollective::*HostCollective::compiled(const coll::CellProgram& program))() {
    namespace programs = coll::programs;
    const coll::CellStep* const steps = program.steps.data();
    if (steps == programs::pair_exchange)
        return &HostCollective::run_program<programs::pair_exchange>;
    if (steps == programs::pair_collect)
        return &HostCollective::run_program<programs::pair_collect>;
    if (steps == programs::give) return &HostCollective::run_program<programs::give>;
    if (steps == programs::take) return &HostCollective::run_program<programs::take>;
    if (steps == programs::meet) return &HostCollective::run_program<programs::meet>;
    if (steps == programs::exchange) return &HostCollective::run_program<programs::exchange>;
    if (steps == programs::counted_give)
        return &HostCollective::run_program<programs::counted_give>;
    if (steps == programs::counted_collect)
        return &HostCollective::run_program<programs::counted_collect>;
    if (steps == programs::first_prefix)
        return &HostCollective::run_program<programs::first_prefix>;
    if (steps == programs::prefix) return &HostCollective::run_program<programs::prefix>;
    DLRT_ASSERT(steps == programs::last_prefix);
    return &HostCollective::run_program<programs::last_prefix>;
}

[[gnu::always_inline]] inline Status HostCollective::take_step(coll::CellStep step) {
    using enum coll::CellStep;
    const auto root = static_cast<std::uint32_t>(call().root);
    switch (step) {
        case await_room:
            read_by_all_ = count_ + 1;
            return this->await_room();
        case await_room_above:
            return this->await_room_above();
        case write:
            this->write();
            return {};
        case mark:
            line(rank_).mark.store(this->mark(), std::memory_order_release);
            return {};
        case arrive:
            is_last_ = this->arrive();
            return {};
        case last_combine:
        case last_mark_result:
        case last_ring_all:
        case last_ring_root:
            return is_last_ ? take_last_step(step) : Status{};
        case ring_all:
            ring_others();
            return {};
        case ring_next:
            ring(rank_ + 1);
            return {};
        case await_root_cell:
            return await(Awaited::cell, root);
        case await_other_cell:
            return await(Awaited::cell, 1 - rank_);
        case await_lower_cell:
            return await(Awaited::lower_cell, rank_ - 1);
        case await_arrivals:
            return await(Awaited::arrivals, 0);
        case await_result:
            return await(Awaited::result, 0);
        case take_root_cell:
            return this->take_root_cell();
        case take_cells:
            return this->take_cells();
        case take_result:
            return this->take_result();
        case extend_lower_cell:
            return this->extend_lower_cell();
        case take_own_prefix:
            return this->take_own_prefix();
        case finish:
            this->finish();
            return {};
    }
    return {};
}

Status HostCollective::take_last_step(coll::CellStep step) {
    using enum coll::CellStep;
    if (step == last_combine) return combine();
    if (step == last_mark_result) {
        result_line().mark.store(this->mark(), std::memory_order_release);
    } else if (step == last_ring_root) {
        ring(static_cast<std::uint32_t>(call().root));
    } else {
        ring_others();
    }
    return {};
}

bool HostCollective::is_over(const Wait& wait) const {
    switch (wait.awaited) {
        case Awaited::room:
            return finished_by_all() >= wait.finished;
        case Awaited::room_above:
            return finished_by(wait.peer) >= wait.finished;
        case Awaited::cell:
        case Awaited::lower_cell:
            return line(wait.peer).mark.load(std::memory_order_acquire) == mark();
        case Awaited::arrivals:
            return area_.head().arrivals[count_ % cell_line_depth].count.load(
                       std::memory_order_acquire
                   ) == arrivals_[count_ % cell_line_depth];
        case Awaited::result:
            return result_line().mark.load(std::memory_order_acquire) == mark();
    }
    return false;
}

Status HostCollective::await(Awaited awaited, std::uint32_t peer) {
    const Wait what{this, awaited, peer};
    if (!is_over(what)) {
        if (const Status status = wait(what); !status.ok()) return status;
    }
    // Who has come to this operation has finished with those before.
    const bool is_one_cell = awaited == Awaited::cell || awaited == Awaited::lower_cell;
    if (!is_one_cell || size_ == 2) finished_by_all_ = count_;
    return {};
}

Status HostCollective::await_room() {
    if (coll::has_room(count_, finished_by_all_, depth())) return {};
    finished_by_all_ = finished_by_all();
    if (coll::has_room(count_, finished_by_all_, depth())) return {};
    const Status status = await_finished(Awaited::room, area_.ring(rank_).wanted);
    if (status.ok()) finished_by_all_ = finished_by_all();
    return status;
}

Status HostCollective::await_room_above() {
    if (finished_by_all_ < read_by_all_) finished_by_all_ = finished_by_all();
    if (finished_by_all_ < read_by_all_) return await_room();
    if (coll::has_room(count_, finished_by_next_, depth())) return {};
    finished_by_next_ = finished_by(rank_ + 1);
    if (coll::has_room(count_, finished_by_next_, depth())) return {};
    const Status status = await_finished(Awaited::room_above, area_.ring(rank_).wanted_of_next);
    if (status.ok()) finished_by_next_ = finished_by(rank_ + 1);
    return status;
}

void HostCollective::finish() {
    std::atomic<std::uint64_t>& finished = area_.ring(rank_).finished;
    if (is_fence_needed_) {
        // As Doorbell::ring() does: who sleeps has executed the barrier for both, if it can.
        finished.exchange(count_ + 1, std::memory_order_seq_cst);
        // Who hasn't finished anything here yet may still say that it can't.
        is_fence_needed_ = finished_by_all_ == 0 ||
                           std::ranges::any_of(local_ranks_, [this](std::uint32_t local_rank) {
                               return engine_->segment()->doorbell(local_rank).needs_fence(fence_);
                           });
    } else {
        finished.store(count_ + 1, std::memory_order_release);
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    if (area_.head().room_waiters.load(std::memory_order_relaxed) != 0) [[unlikely]]
        ring_who_wants_room();
}

void HostCollective::ring(std::uint32_t member) const {
    engine_->ring(local_ranks_[member]);
}

void HostCollective::ring_others() {
    for (const Other& other : others_) {
        if (other.bell->ring(fence_) == SleepKind::descriptor) [[unlikely]]
            engine_->write_doorbell_descriptor(other.local_rank);
    }
}

// ---- Mismatches ----

CallInProgress HostCollective::call_in_progress() const {
    return {group_.get(), user_context_, call().number, static_cast<std::int32_t>(rank_)};
}

Status HostCollective::compare_with_waiters() {
    failure_ = dlrt::compare_with_waiters(*engine_, call_in_progress());
    if (!failure_.ok()) failure_text_ = last_error_text();
    return failure_;
}

void HostCollective::compare_calls(const Wait& wait, EngineInside& inside) {
    if (!wait.disagreement) {
        wait.disagreement = find_disagreement(inside, wait.self->call_in_progress());
    }
}

Status HostCollective::dispute(std::uint32_t other) {
    const std::uint64_t number = disputed_number(other);
    const auto peer = static_cast<std::int32_t>(other);
    CellDispute& dispute = area_.head().dispute;
    if (dispute.claimed.exchange(1, std::memory_order_relaxed) == 0) {
        dispute.ranks[0] = static_cast<std::int32_t>(rank_);
        dispute.ranks[1] = peer;
        dispute.number = number;
        // Publishes the fields; pairs with has_come().
        dispute.raised.store(1, std::memory_order_release);
        ring_others();
    }
    return explain(number, static_cast<std::int32_t>(rank_), peer);
}

std::uint64_t HostCollective::disputed_number(std::uint32_t other) const {
    const CellCall& found = line(other).call;
    std::uint64_t number = call().number.value;
    if (found.history == described_.history) return number;
    // The newest call before this one about which the records of both differ.
    CallInProgress earlier = call_in_progress();
    engine_->look_inside([&](EngineInside& inside) {
        while (earlier.number.value != 0 && call().number.value - earlier.number.value < 64) {
            --earlier.number.value;
            if (are_different(inside, earlier, static_cast<std::int32_t>(other))) {
                number = earlier.number.value;
                return;
            }
        }
    });
    return number;
}

Status HostCollective::disputed() {
    const CellDispute& dispute = area_.head().dispute;
    return explain(dispute.number, dispute.ranks[0], dispute.ranks[1]);
}

Status HostCollective::explain(std::uint64_t number, std::int32_t rank, std::int32_t other) {
    CallInProgress disputed = call_in_progress();
    disputed.number.value = number;
    disputed.rank = rank;
    std::string text;
    engine_->look_inside([&](EngineInside& inside) {
        text = explain_disagreement(inside, disputed, other);
    });
    return fail(Errc::mismatch, "{}", text);
}

}  // namespace dlrt
