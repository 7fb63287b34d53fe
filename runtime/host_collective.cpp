// SPDX-License-Identifier: Apache-2.0
/// The steps, as they are carried out.
#include "runtime/host_collective.hpp"

#include "runtime/base/check.hpp"
#include "runtime/base/cpu_pause.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/host_event.hpp"

#include <algorithm>
#include <cstring>

namespace dlrt {
namespace {

/// Of this call and, by its history, of those before it.
std::uint32_t hash_of(const CellCall& call) {
    constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;
    const std::uint64_t kind = std::uint64_t{call.collective} << 16 | std::uint64_t{call.op} << 8 |
                               call.element;
    const std::uint64_t sizes = std::uint64_t{call.size_bytes} << 32 | call.signature;
    std::uint64_t hash = std::uint64_t{call.history} << 32 | static_cast<std::uint32_t>(call.root);
    hash = (hash ^ sizes) * factor;
    hash = (hash ^ hash >> 32 ^ kind) * factor;
    return static_cast<std::uint32_t>(hash >> 32);
}

bool has_root(coll::Collective collective) {
    using enum coll::Collective;
    return collective == bcast || collective == reduce || collective == gather ||
           collective == scatter;
}

void copy_bytes(std::byte* target, const std::byte* source, std::uint64_t bytes) {
    if (bytes > 0 && target != source) std::memcpy(target, source, bytes);
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
      rank_(static_cast<std::uint32_t>(rank)),
      size_(group_->size()),
      fence_(engine.ring_fence()) {
    const std::span<const WorldRank> local = engine.world_rank_of_local();
    for (const WorldRank member : group_->members()) {
        const auto found = std::ranges::find(local, member);
        DLRT_ASSERT(found != local.end());
        local_ranks_.push_back(static_cast<std::uint32_t>(found - local.begin()));
    }
}

void HostCollective::leave() {
    areas_.leave(number_, static_cast<std::uint32_t>(size_));
}

Status HostCollective::run(const HostCall& call) {
    if (!failure_.ok()) return store_failure(failure_.code, 0, failure_text_);
    call_ = call;
    described_.collective = static_cast<std::uint8_t>(call.collective);
    described_.op = 0;
    if (call.reducer != nullptr) {
        described_.op = call.reducer->is_user() ? Agreement::user_reduction
                                                : static_cast<std::uint8_t>(call.reducer->op());
    }
    // Nothing is alike, whatever it is nothing of.
    described_.element = call.size_bytes == 0 ? 0 : static_cast<std::uint8_t>(call.element);
    described_.history = history_;
    described_.signature = call.size_bytes == 0 ? 0 : call.signature;
    described_.root = has_root(call.collective) ? call.root : -1;
    described_.size_bytes = static_cast<std::uint32_t>(call.size_bytes);
    cell_bytes_ = coll::contribution_bytes(call.collective, size_, call.size_bytes);
    is_last_ = false;
    const coll::CellProgram program = coll::cell_program(call.collective, size_, is_root());
    if (program.counts) {
        arrivals_[count_ % cell_line_depth] += static_cast<std::uint32_t>(program.writer_count);
    }
    for (const coll::CellStep step : program.steps) {
        const Status status = take_step(step);
        if (status.ok()) continue;
        failure_ = status;
        failure_text_ = last_error_text();
        return status;
    }
    ++count_;
    history_ = hash_of(described_);
    return {};
}

Status HostCollective::take_step(coll::CellStep step) {
    using enum coll::CellStep;
    const auto root = static_cast<std::uint32_t>(call_.root);
    switch (step) {
        case await_room:
            return this->await_room();
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
        case await_root_cell:
            return await(Awaited::cell, root);
        case await_other_cell:
            return await(Awaited::cell, 1 - rank_);
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
        engine_->ring(local_ranks_[static_cast<std::size_t>(call_.root)]);
    } else {
        ring_others();
    }
    return {};
}

// ---- Waiting ----

bool HostCollective::has_come(const Wait& wait) {
    const HostCollective& self = *wait.self;
    if (self.is_over(wait) || wait.disagreement) return true;
    return self.area_.head().dispute.raised.load(std::memory_order_acquire) != 0;
}

bool HostCollective::is_over(const Wait& wait) const {
    switch (wait.awaited) {
        case Awaited::room:
            return finished_by_all() >= wait.finished;
        case Awaited::cell:
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

bool HostCollective::has_arrived(std::uint32_t member) const {
    return line(member).mark.load(std::memory_order_acquire) == mark();
}

bool HostCollective::needs(const Wait& wait, WorldRank rank) {
    const HostCollective& self = *wait.self;
    const std::int32_t member = self.group_->rank_of(rank);
    if (member == undefined_rank || member == static_cast<std::int32_t>(self.rank_)) return false;
    const auto index = static_cast<std::uint32_t>(member);
    switch (wait.awaited) {
        case Awaited::room:
            return self.area_.ring(index).finished.load(std::memory_order_acquire) < wait.finished;
        case Awaited::cell:
            return index == wait.peer && !self.has_arrived(index);
        case Awaited::arrivals:
        case Awaited::result:
            return !self.has_arrived(index);
    }
    return false;
}

std::uint32_t HostCollective::first_missing(const Wait& wait) const {
    const auto members = group_->members();
    for (std::uint32_t member = 0; member < members.size(); ++member) {
        if (needs(wait, members[member])) return member;
    }
    return rank_;
}

Status HostCollective::wait(const Wait& wait) {
    for (std::uint32_t polls = engine_->quick_polls(); polls != 0; --polls) {
        if (is_over(wait)) return {};
        cpu_pause();
    }
    const HostEvent event{
        [](const void* state) { return has_come(*static_cast<const Wait*>(state)); },
        [](const void* state, WorldRank rank) {
            return needs(*static_cast<const Wait*>(state), rank);
        },
        [](const void* state, EngineInside& inside) {
            compare_calls(*static_cast<const Wait*>(state), inside);
        },
        &wait};
    WorldRank lost = no_rank;
    const Errc error = engine_->wait_for_host(event, lost);
    if (error == Errc::ok && is_over(wait)) return {};
    if (wait.disagreement) return fail(Errc::mismatch, "{}", *wait.disagreement);
    return error == Errc::ok ? disputed() : give_up(error, lost, wait);
}

Status HostCollective::give_up(Errc error, WorldRank lost, const Wait& wait) {
    const std::string_view name = coll::name_of(call_.collective);
    if (error == Errc::peer_lost) {
        return fail(
            error, "{}: rank {} (world rank {}) has ended without finalizing", name,
            group_->rank_of(lost), lost
        );
    }
    return fail(error, "{} with rank {}: {}", name, first_missing(wait), errc_description(error));
}

Status HostCollective::await(Awaited awaited, std::uint32_t peer) {
    const Wait what{this, awaited, peer};
    if (!is_over(what)) {
        if (const Status status = wait(what); !status.ok()) return status;
    }
    // Who has come to this operation has finished with those before.
    if (awaited != Awaited::cell || size_ == 2) finished_by_all_ = count_;
    return {};
}

std::uint64_t HostCollective::finished_by_all() const {
    std::uint64_t least = count_;
    for (std::uint32_t member = 0; member < local_ranks_.size(); ++member) {
        least = std::min(least, area_.ring(member).finished.load(std::memory_order_acquire));
    }
    return least;
}

Status HostCollective::await_room() {
    if (coll::has_room(count_, finished_by_all_, depth())) return {};
    finished_by_all_ = finished_by_all();
    if (coll::has_room(count_, finished_by_all_, depth())) return {};
    const Wait what{this, Awaited::room, 0, coll::finished_to_wait_for(count_, depth())};
    std::atomic<std::uint32_t>& waiters = area_.head().room_waiters;
    // Partner: finish(), which rings after it has looked at this.
    waiters.fetch_add(1, std::memory_order_seq_cst);
    const Status status = wait(what);
    waiters.fetch_sub(1, std::memory_order_relaxed);
    if (status.ok()) finished_by_all_ = finished_by_all();
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
        ring_others();
}

void HostCollective::ring_others() {
    for (std::uint32_t member = 0; member < local_ranks_.size(); ++member) {
        if (member != rank_) engine_->ring(local_ranks_[member]);
    }
}

// ---- Data ----

const std::byte* HostCollective::own_data() const {
    if (call_.input != nullptr || call_.output == nullptr) return call_.input;
    const bool is_own_block = call_.collective == coll::Collective::gather ||
                              call_.collective == coll::Collective::allgather;
    return is_own_block ? call_.output + rank_ * call_.size_bytes : call_.output;
}

void HostCollective::write() {
    line(rank_).call = described_;
    copy_bytes(data_of(rank_), own_data(), cell_bytes_);
    // The root reads no cell.
    if (call_.collective != coll::Collective::scatter) return;
    if (call_.placement == coll::Placement::in_place) return;
    copy_bytes(call_.output, call_.input + rank_ * call_.size_bytes, call_.size_bytes);
}

bool HostCollective::arrive() {
    const std::uint64_t slot = count_ % cell_line_depth;
    // Everybody's cells are seen by who is last.
    return area_.head().arrivals[slot].count.fetch_add(1, std::memory_order_acq_rel) + 1 ==
           arrivals_[slot];
}

Status HostCollective::check_cell(std::uint32_t member) {
    const CellCall& found = line(member).call;
    return found == described_ ? Status{} : dispute(member);
}

Status HostCollective::combine() {
    const auto all = static_cast<std::uint32_t>(size_);
    for (std::uint32_t member = 0; member < all; ++member) {
        if (const Status status = check_cell(member); !status.ok()) return status;
    }
    fold_cells(all, 0, result_data());
    return {};
}

/// Of the ranks before `end`, in their order: what lies in their cells from that place on.
void HostCollective::fold_cells(std::uint32_t end, std::uint64_t offset_bytes, std::byte* target)
    const {
    if (call_.size_bytes == 0 || end == 0) return;
    // Whoever only collects has written no cell.
    const bool has_cell = call_.collective != coll::Collective::reduce;
    const auto operand = [&](std::uint32_t member) {
        return member == rank_ && !has_cell ? own_data() : data_of(member) + offset_bytes;
    };
    if (end == 1) return copy_bytes(target, operand(0), call_.size_bytes);
    reduce(operand(0), operand(1), target);
    for (std::uint32_t member = 2; member < end; ++member) reduce(target, operand(member), target);
}

/// At the root of a reduce, all others have come.
void HostCollective::fold_at_root() const {
    // The first steps would overwrite what this rank has in its output. Nobody uses the result's
    // cell of this operation.
    const bool is_in_the_way = rank_ >= 2 && own_data() == call_.output;
    std::byte* const target = is_in_the_way ? result_data() : call_.output;
    fold_cells(static_cast<std::uint32_t>(size_), 0, target);
    copy_bytes(call_.output, target, call_.size_bytes);
}

void HostCollective::copy_cells(std::uint64_t offset_bytes) const {
    for (std::uint32_t member = 0; member < local_ranks_.size(); ++member) {
        std::byte* const target = call_.output + member * call_.size_bytes;
        if (member != rank_ || call_.collective == coll::Collective::alltoall) {
            copy_bytes(target, data_of(member) + offset_bytes, call_.size_bytes);
        } else {
            copy_bytes(target, own_data(), call_.size_bytes);
        }
    }
}

Status HostCollective::take_cells() {
    for (std::uint32_t member = 0; member < local_ranks_.size(); ++member) {
        if (member == rank_) continue;
        if (const Status status = check_cell(member); !status.ok()) return status;
    }
    const auto all = static_cast<std::uint32_t>(size_);
    switch (call_.collective) {
        case coll::Collective::reduce:
            fold_at_root();
            return {};
        case coll::Collective::gather:
        case coll::Collective::allgather:
            copy_cells(0);
            return {};
        case coll::Collective::alltoall:
            copy_cells(rank_ * call_.size_bytes);
            return {};
        case coll::Collective::reduce_scatter:
            fold_cells(all, rank_ * call_.size_bytes, call_.output);
            return {};
        case coll::Collective::scan:
            fold_cells(rank_ + 1, 0, call_.output);
            return {};
        case coll::Collective::exscan:
            fold_cells(rank_, 0, call_.output);
            return {};
        case coll::Collective::allreduce:
        case coll::Collective::barrier:
            fold_cells(all, 0, call_.output);
            return {};
        case coll::Collective::bcast:
        case coll::Collective::scatter:
            break;
    }
    return {};
}

Status HostCollective::take_root_cell() {
    const auto root = static_cast<std::uint32_t>(call_.root);
    if (const Status status = check_cell(root); !status.ok()) return status;
    const std::uint64_t offset = call_.collective == coll::Collective::scatter
                                     ? rank_ * call_.size_bytes
                                     : 0;
    copy_bytes(call_.output, data_of(root) + offset, call_.size_bytes);
    return {};
}

Status HostCollective::take_result() {
    copy_bytes(call_.output, result_data(), call_.size_bytes);
    return {};
}

// ---- Mismatches ----

CallInProgress HostCollective::call_in_progress() const {
    return {group_.get(), user_context_, call_.number, static_cast<std::int32_t>(rank_)};
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
    std::uint64_t number = call_.number.value;
    if (found.history == described_.history) return number;
    // The newest call before this one about which the records of both differ.
    CallInProgress call = call_in_progress();
    engine_->look_inside([&](EngineInside& inside) {
        while (call.number.value != 0 && call_.number.value - call.number.value < 64) {
            --call.number.value;
            if (are_different(inside, call, static_cast<std::int32_t>(other))) {
                number = call.number.value;
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
    CallInProgress call = call_in_progress();
    call.number.value = number;
    call.rank = rank;
    std::string text;
    engine_->look_inside([&](EngineInside& inside) {
        text = explain_disagreement(inside, call, other);
    });
    return fail(Errc::mismatch, "{}", text);
}

}  // namespace dlrt
