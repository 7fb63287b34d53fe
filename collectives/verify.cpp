// SPDX-License-Identifier: Apache-2.0
/// The checks of verify.hpp, in that order; each may rely on the ones before it.
#include "collectives/verify.hpp"

#include "collectives/contract.hpp"
#include "collectives/expressions.hpp"

#include <array>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace dlrt::coll {
namespace {

using StepId = std::uint32_t;  ///< Over all ranks.
constexpr StepId no_step = UINT32_MAX;

class Verifier {
  public:
    explicit Verifier(std::span<const Schedule> schedules)
        : schedules_(schedules), expressions_(static_cast<std::int32_t>(schedules.size())) {
        for (std::size_t rank = 0; rank < schedules_.size(); ++rank) {
            base_.push_back(static_cast<StepId>(ranks_.size()));
            ranks_.insert(ranks_.end(), schedules_[rank].steps.size(), rank);
        }
        base_.push_back(static_cast<StepId>(ranks_.size()));
        partner_.assign(ranks_.size(), no_step);
    }

    std::optional<Fault> run() {
        for (std::size_t rank = 0; rank < schedules_.size() && !fault_; ++rank) check_bounds(rank);
        if (!fault_) check_pairing();
        if (!fault_ && schedules_[0].collective == Collective::barrier) {
            knowledge_words_ = (schedules_.size() + 63) / 64;
            knowledge_.assign(partner_.size() * knowledge_words_, 0);
        }
        if (!fault_) fill_buffers();
        if (!fault_) execute();
        for (std::size_t rank = 0; rank < schedules_.size() && !fault_; ++rank) check_races(rank);
        for (std::size_t rank = 0; rank < schedules_.size() && !fault_; ++rank) check_window(rank);
        for (std::size_t rank = 0; rank < schedules_.size() && !fault_; ++rank) check_result(rank);
        return fault_;
    }

  private:
    // The first fault found is the one that explains.
    template<typename... Args>
    void report(FaultKind kind, fmt::format_string<Args...> format, Args&&... args) {
        if (!fault_) fault_ = Fault{kind, fmt::format(format, std::forward<Args>(args)...)};
    }

    [[nodiscard]] std::size_t rank_of(StepId id) const { return ranks_[id]; }
    [[nodiscard]] const Step& step_of(StepId id) const {
        const std::size_t rank = rank_of(id);
        return schedules_[rank].steps[id - base_[rank]];
    }

    void check_bounds(std::size_t rank);
    void check_pairing();
    void fill_buffers();
    void execute();
    void start(StepId id);
    void complete(StepId id);
    void apply(StepId id);
    void learn(StepId id, StepId from);
    void transfer(StepId send, StepId recv);
    void check_races(std::size_t rank);
    void check_window(std::size_t rank);
    void check_result(std::size_t rank);
    void check_barrier(std::size_t rank);
    void check_chunk(std::size_t rank, const Place& place);
    void check_agreement(std::size_t rank, const Place& place);

    ExpressionId& value(std::size_t rank, const Place& place) {
        return values_[rank][static_cast<std::size_t>(place.buffer)][place.chunk];
    }
    static Place shifted(const Place& place, std::uint32_t by) {
        return {place.buffer, place.chunk + by};
    }

    std::span<const Schedule> schedules_;
    std::optional<Fault> fault_;
    std::vector<StepId> base_;        ///< By rank.
    std::vector<std::size_t> ranks_;  ///< By step, as is partner_.
    std::vector<StepId> partner_;
    Expressions expressions_;
    std::vector<std::array<std::vector<ExpressionId>, 4>> values_;  ///< By rank, buffer, chunk.
    std::vector<std::uint32_t> waiting_for_;
    std::vector<bool> is_started_;
    std::vector<StepId> ready_;
    std::size_t completed_ = 0;
    std::unordered_map<std::uint32_t, ExpressionId> agreed_;  ///< allreduce: by chunk.
    std::size_t knowledge_words_ = 0;
    std::vector<std::uint64_t> knowledge_;  ///< barrier: whose entering each step follows from.
};

void Verifier::check_bounds(std::size_t rank) {
    const Schedule& schedule = schedules_[rank];
    const Schedule& first = schedules_[0];
    if (schedule.shape.rank != static_cast<std::int32_t>(rank) ||
        schedule.collective != first.collective ||
        schedule.shape.size != static_cast<std::int32_t>(schedules_.size()) ||
        schedule.shape.root != first.shape.root || schedule.chunk_count != first.chunk_count) {
        report(FaultKind::bounds, "the schedule of rank {} belongs to another operation", rank);
    }
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
        const Step& step = schedule.steps[i];
        for (const Place& place : {step.source, step.right, step.target}) {
            if (place.buffer == BufferId::none) continue;
            const std::uint32_t limit = buffer_chunks(schedule, place.buffer);
            if (place.chunk + step.length > limit) {
                report(
                    FaultKind::bounds, "rank {} step {}: {} has {} chunks, not {}", rank, i,
                    name_of(place.buffer), limit, place.chunk + step.length
                );
            }
            const bool has_own_size = schedule.chunk_rule == ChunkRule::split &&
                                      place.buffer != BufferId::scratch;
            if (has_own_size && place.chunk != step.like) {
                report(
                    FaultKind::bounds, "rank {} step {}: chunk {} is not like {}", rank, i,
                    place.chunk, step.like
                );
            }
        }
        if (schedule.chunk_rule == ChunkRule::split &&
            step.like + step.length > schedule.chunk_count) {
            report(FaultKind::bounds, "rank {} step {}: like chunks beyond the vector", rank, i);
        }
        if (step.target.buffer != BufferId::none && !is_writable(step.target.buffer)) {
            report(FaultKind::bounds, "rank {} step {}: writes the input", rank, i);
        }
        const bool has_peer = step.kind == StepKind::send || step.kind == StepKind::recv;
        if (has_peer && (step.peer < 0 || step.peer >= schedule.shape.size ||
                         step.peer == schedule.shape.rank)) {
            report(FaultKind::bounds, "rank {} step {}: no peer {}", rank, i, step.peer);
        }
    }
}

void Verifier::check_pairing() {
    struct End {
        std::int32_t from, to;
        std::uint16_t lane;
        std::uint32_t order;
        StepId id;
        [[nodiscard]] auto key() const {
            return std::pair(
                static_cast<std::int64_t>(from) << 32 | to,
                static_cast<std::uint64_t>(lane) << 32 | order
            );
        }
    };
    std::vector<End> sends, recvs;
    for (std::size_t rank = 0; rank < schedules_.size(); ++rank) {
        const auto self = static_cast<std::int32_t>(rank);
        for (std::size_t i = 0; i < schedules_[rank].steps.size(); ++i) {
            const Step& step = schedules_[rank].steps[i];
            const StepId id = base_[rank] + static_cast<StepId>(i);
            if (step.kind == StepKind::send)
                sends.push_back({self, step.peer, step.lane, step.order, id});
            if (step.kind == StepKind::recv)
                recvs.push_back({step.peer, self, step.lane, step.order, id});
        }
    }
    std::ranges::sort(sends, {}, &End::key);
    std::ranges::sort(recvs, {}, &End::key);
    for (std::size_t i = 1; i < sends.size(); ++i) {
        if (sends[i - 1].key() != sends[i].key()) continue;
        report(
            FaultKind::pairing, "rank {} numbers two sends to rank {} alike", sends[i].from,
            sends[i].to
        );
    }
    for (std::size_t i = 0; i < std::max(sends.size(), recvs.size()); ++i) {
        const bool is_lone_send = i >= recvs.size() ||
                                  (i < sends.size() && sends[i].key() < recvs[i].key());
        const bool is_lone_recv = i >= sends.size() ||
                                  (i < recvs.size() && recvs[i].key() < sends[i].key());
        if (is_lone_send || is_lone_recv) {
            const End& end = is_lone_send ? sends[i] : recvs[i];
            report(
                FaultKind::pairing, "a {} from rank {} to rank {} in lane {} has no partner",
                is_lone_send ? "send" : "receive", end.from, end.to, end.lane
            );
            return;
        }
        const Step& send = step_of(sends[i].id);
        const Step& recv = step_of(recvs[i].id);
        if (send.length != recv.length || send.like != recv.like) {
            report(
                FaultKind::pairing, "rank {} sends {} chunks like {}, rank {} receives {} like {}",
                sends[i].from, send.length, send.like, sends[i].to, recv.length, recv.like
            );
            return;
        }
        partner_[sends[i].id] = recvs[i].id;
        partner_[recvs[i].id] = sends[i].id;
    }
}

void Verifier::fill_buffers() {
    values_.resize(schedules_.size());
    for (std::size_t rank = 0; rank < schedules_.size(); ++rank) {
        for (BufferId buffer : {BufferId::input, BufferId::output, BufferId::scratch}) {
            auto& chunks = values_[rank][static_cast<std::size_t>(buffer)];
            chunks.assign(buffer_chunks(schedules_[rank], buffer), undefined_expression);
            for (std::uint32_t chunk = 0; chunk < chunks.size(); ++chunk) {
                const Content content = content_before(schedules_[rank], {buffer, chunk});
                if (content.kind != Content::Kind::of_rank) continue;
                chunks[chunk] = expressions_.leaf(content.rank, content.chunk);
            }
        }
    }
}

void Verifier::execute() {
    is_started_.assign(partner_.size(), false);
    waiting_for_.clear();
    for (std::size_t rank = 0; rank < schedules_.size(); ++rank) {
        const Schedule& schedule = schedules_[rank];
        for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
            waiting_for_.push_back(schedule.predecessor_counts[i]);
            if (schedule.predecessor_counts[i] == 0)
                ready_.push_back(base_[rank] + static_cast<StepId>(i));
            if (knowledge_words_ > 0) {
                const std::size_t first = (base_[rank] + i) * knowledge_words_;
                knowledge_[first + rank / 64] |= std::uint64_t{1} << (rank % 64);
            }
        }
    }
    while (!ready_.empty() && !fault_) {
        const StepId id = ready_.back();
        ready_.pop_back();
        start(id);
    }
    if (fault_ || completed_ == partner_.size()) return;
    for (StepId id = 0; id < partner_.size(); ++id) {
        if (!is_started_[id] || partner_[id] == no_step || is_started_[partner_[id]]) continue;
        report(
            FaultKind::deadlock, "rank {} step {} waits for ever for rank {}", rank_of(id),
            id - base_[rank_of(id)], step_of(id).peer
        );
    }
    report(FaultKind::deadlock, "some steps can never start");
}

void Verifier::start(StepId id) {
    is_started_[id] = true;
    const StepId partner = partner_[id];
    if (partner == no_step) {
        apply(id);
        complete(id);
    } else if (is_started_[partner]) {
        const bool is_send = step_of(id).kind == StepKind::send;
        transfer(is_send ? id : partner, is_send ? partner : id);
        complete(id);
        complete(partner);
    }
}

void Verifier::complete(StepId id) {
    ++completed_;
    const std::size_t rank = rank_of(id);
    for (std::uint32_t successor : schedules_[rank].successors_of(id - base_[rank])) {
        const StepId next = base_[rank] + successor;
        learn(next, id);
        if (--waiting_for_[next] == 0) ready_.push_back(next);
    }
}

void Verifier::learn(StepId id, StepId from) {
    for (std::size_t i = 0; i < knowledge_words_; ++i) {
        knowledge_[id * knowledge_words_ + i] |= knowledge_[from * knowledge_words_ + i];
    }
}

void Verifier::apply(StepId id) {
    const std::size_t rank = rank_of(id);
    const Step& step = step_of(id);
    for (std::uint32_t i = 0; i < step.length; ++i) {
        const ExpressionId left = value(rank, shifted(step.source, i));
        ExpressionId result = left;
        const bool is_reduce = step.kind == StepKind::reduce;
        const ExpressionId right = is_reduce ? value(rank, shifted(step.right, i)) : left;
        if (left == undefined_expression || right == undefined_expression) {
            report(
                FaultKind::result, "rank {} step {}: reads what nobody has written", rank,
                id - base_[rank]
            );
            return;
        }
        if (is_reduce) {
            const auto combined = expressions_.combine(left, right);
            if (!combined) {
                report(
                    FaultKind::result, "rank {} step {}: combines {} with {}", rank,
                    id - base_[rank], expressions_.text(left), expressions_.text(right)
                );
                return;
            }
            result = *combined;
        }
        value(rank, shifted(step.target, i)) = result;
    }
}

void Verifier::transfer(StepId send, StepId recv) {
    learn(recv, send);
    const Step& from = step_of(send);
    const Step& to = step_of(recv);
    for (std::uint32_t i = 0; i < from.length; ++i) {
        const ExpressionId sent = value(rank_of(send), shifted(from.source, i));
        if (sent == undefined_expression) {
            report(
                FaultKind::result, "rank {} step {}: sends what nobody has written", rank_of(send),
                send - base_[rank_of(send)]
            );
        }
        value(rank_of(recv), shifted(to.target, i)) = sent;
    }
}

bool is_reachable(const Schedule& schedule, std::uint32_t from, std::uint32_t to) {
    if (std::ranges::binary_search(schedule.successors_of(from), to)) return true;
    std::vector<std::uint32_t> open{from};
    std::vector<bool> is_seen(to + 1, false);
    while (!open.empty()) {
        const std::uint32_t step = open.back();
        open.pop_back();
        for (std::uint32_t next : schedule.successors_of(step)) {
            if (next == to) return true;
            if (next > to || is_seen[next]) continue;
            is_seen[next] = true;
            open.push_back(next);
        }
    }
    return false;
}

// Enough to look at neighbours: each reader against the writers around it, each writer against the
// next.
void Verifier::check_races(std::size_t rank) {
    struct History {
        std::int64_t writer = -1;
        std::vector<std::uint32_t> readers;
    };
    const Schedule& schedule = schedules_[rank];
    std::array<std::vector<History>, 4> histories;
    for (BufferId buffer : {BufferId::input, BufferId::output, BufferId::scratch}) {
        histories[static_cast<std::size_t>(buffer)].resize(buffer_chunks(schedule, buffer));
    }
    auto require_order = [&](std::int64_t earlier, std::uint32_t later, const Place& place) {
        if (earlier < 0 || earlier == later) return;
        if (is_reachable(schedule, static_cast<std::uint32_t>(earlier), later)) return;
        report(
            FaultKind::race, "rank {}: steps {} and {} race for {}[{}]", rank, earlier, later,
            name_of(place.buffer), place.chunk
        );
    };
    for (std::uint32_t index = 0; index < schedule.steps.size() && !fault_; ++index) {
        const Step& step = schedule.steps[index];
        for (const Place& first : {step.source, step.right}) {
            for (std::uint32_t i = 0; first.buffer != BufferId::none && i < step.length; ++i) {
                History& past = histories[static_cast<std::size_t>(first.buffer)][first.chunk + i];
                require_order(past.writer, index, shifted(first, i));
                past.readers.push_back(index);
            }
        }
        for (std::uint32_t i = 0; step.target.buffer != BufferId::none && i < step.length; ++i) {
            const Place place = shifted(step.target, i);
            History& past = histories[static_cast<std::size_t>(place.buffer)][place.chunk];
            for (std::uint32_t reader : past.readers) require_order(reader, index, place);
            require_order(past.writer, index, place);
            past.readers.clear();
            past.writer = index;
        }
    }
}

// Messages that come after the one `window` places before them form that many chains, of each of
// which at most one is under way.
void Verifier::check_window(std::size_t rank) {
    const Schedule& schedule = schedules_[rank];
    if (schedule.window == 0) return;
    for (StepKind kind : {StepKind::send, StepKind::recv}) {
        std::vector<std::uint32_t> messages;
        for (std::uint32_t index = 0; index < schedule.steps.size(); ++index) {
            if (schedule.steps[index].kind == kind) messages.push_back(index);
        }
        for (std::size_t i = schedule.window; i < messages.size(); ++i) {
            const std::uint32_t earlier = messages[i - schedule.window];
            if (is_reachable(schedule, earlier, messages[i])) continue;
            report(
                FaultKind::window,
                "rank {}: step {} need not wait for step {}, but {} of a kind "
                "may be under way",
                rank, messages[i], earlier, schedule.window
            );
        }
    }
}

void Verifier::check_result(std::size_t rank) {
    if (knowledge_words_ > 0) return check_barrier(rank);
    for (BufferId buffer : {BufferId::input, BufferId::output}) {
        const std::uint32_t count = buffer_chunks(schedules_[rank], buffer);
        for (std::uint32_t chunk = 0; chunk < count && !fault_; ++chunk)
            check_chunk(rank, {buffer, chunk});
    }
}

void Verifier::check_barrier(std::size_t rank) {
    std::vector<std::uint64_t> known(knowledge_words_, 0);
    known[rank / 64] |= std::uint64_t{1} << (rank % 64);
    for (StepId id = base_[rank]; id < base_[rank + 1]; ++id) {
        for (std::size_t i = 0; i < knowledge_words_; ++i)
            known[i] |= knowledge_[id * knowledge_words_ + i];
    }
    for (std::size_t other = 0; other < schedules_.size(); ++other) {
        if ((known[other / 64] >> (other % 64) & 1) != 0) continue;
        report(
            FaultKind::result, "rank {} can leave the barrier before rank {} has entered", rank,
            other
        );
    }
}

void Verifier::check_chunk(std::size_t rank, const Place& place) {
    const Content content = content_after(schedules_[rank], place);
    const ExpressionId held = value(rank, place);
    const bool is_reduced = content.kind == Content::Kind::of_all ||
                            content.kind == Content::Kind::of_prefix;
    bool is_right = true;
    if (content.kind == Content::Kind::of_rank) {
        is_right = held == expressions_.leaf(content.rank, content.chunk);
    } else if (is_reduced) {
        is_right = held != undefined_expression && expressions_.chunk_of(held) == content.chunk &&
                   (content.kind == Content::Kind::of_all
                        ? expressions_.contains_all(held)
                        : expressions_.contains_prefix(held, content.rank));
    }
    if (!is_right) {
        report(
            FaultKind::result, "rank {}: {}[{}] ends with {}", rank, name_of(place.buffer),
            place.chunk, expressions_.text(held)
        );
        return;
    }
    if (!is_reduced) return;
    const bool needs_order = schedules_[rank].operand_order == OperandOrder::by_rank ||
                             content.kind == Content::Kind::of_prefix;
    if (needs_order && !expressions_.is_by_rank(held)) {
        report(
            FaultKind::result, "rank {}: output[{}] is not reduced in the order of ranks", rank,
            place.chunk
        );
    }
    if (schedules_[rank].collective == Collective::allreduce) check_agreement(rank, place);
}

void Verifier::check_agreement(std::size_t rank, const Place& place) {
    const ExpressionId held = value(rank, place);
    const auto [known, is_new] = agreed_.try_emplace(place.chunk, held);
    if (known->second == held) return;
    report(
        FaultKind::result, "rank {}: output[{}] is reduced otherwise than elsewhere", rank,
        place.chunk
    );
}

}  // namespace

std::optional<Fault> find_fault(std::span<const Schedule> schedules) {
    return Verifier(schedules).run();
}

}  // namespace dlrt::coll
