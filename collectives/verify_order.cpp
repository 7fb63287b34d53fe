// SPDX-License-Identifier: Apache-2.0
/// Deadlock, races and windows: what edges and messages order.
#include "collectives/contract.hpp"
#include "collectives/verify_parts.hpp"

#include <algorithm>
#include <array>

namespace dlrt::coll {
namespace {

class Run {
  public:
    Run(const AllSteps& steps, std::span<const StepId> partners)
        : steps_(steps), partners_(partners), is_started_(steps.count(), false) {
        order_.reserve(steps.count());
        for (std::size_t rank = 0; rank < steps.schedules().size(); ++rank) {
            for (const std::uint32_t count : steps.schedules()[rank].predecessor_counts) {
                if (count == 0) ready_.push_back(static_cast<StepId>(waiting_for_.size()));
                waiting_for_.push_back(count);
            }
        }
    }

    std::vector<StepId> run(Findings& findings) {
        for (std::size_t next = 0; next < ready_.size(); ++next) start(ready_[next]);
        if (completed_ < steps_.count()) explain(findings);
        return std::move(order_);
    }

  private:
    void start(StepId id) {
        is_started_[id] = true;
        const StepId partner = partners_[id];
        if (partner == no_step) {
            order_.push_back(id);
            complete(id);
        } else if (is_started_[partner]) {
            order_.push_back(steps_[id].kind == StepKind::send ? id : partner);
            complete(id);
            complete(partner);
        }
    }

    void complete(StepId id) {
        ++completed_;
        steps_.for_successors(id, [&](StepId next) {
            if (--waiting_for_[next] == 0) ready_.push_back(next);
        });
    }

    void explain(Findings& findings) const {
        for (StepId id = 0; id < steps_.count(); ++id) {
            const StepId partner = partners_[id];
            if (!is_started_[id] || partner == no_step || is_started_[partner]) continue;
            findings.report(
                FaultKind::deadlock, "rank {} step {} waits for ever for rank {}",
                steps_.rank_of(id), steps_.index_of(id), steps_[id].peer
            );
        }
        findings.report(FaultKind::deadlock, "some steps can never start");
    }

    const AllSteps& steps_;
    std::span<const StepId> partners_;
    std::vector<std::uint32_t> waiting_for_;
    std::vector<bool> is_started_;
    std::vector<StepId> ready_;
    std::vector<StepId> order_;
    StepId completed_ = 0;
};

/// Whether a step comes after another by edges.
class Reachability {
  public:
    explicit Reachability(const Schedule& schedule)
        : schedule_(schedule), last_search_(schedule.steps.size(), 0) {}

    bool operator()(std::uint32_t from, std::uint32_t to) {
        if (std::ranges::binary_search(schedule_.successors_of(from), to)) return true;
        ++search_;
        open_.assign(1, from);
        while (!open_.empty()) {
            const std::uint32_t step = open_.back();
            open_.pop_back();
            for (std::uint32_t next : schedule_.successors_of(step)) {
                if (next == to) return true;
                if (next > to || last_search_[next] == search_) continue;
                last_search_[next] = search_;
                open_.push_back(next);
            }
        }
        return false;
    }

  private:
    const Schedule& schedule_;
    std::uint32_t search_ = 0;
    std::vector<std::uint32_t> last_search_;  ///< By step: which one saw it.
    std::vector<std::uint32_t> open_;
};

}  // namespace

std::vector<StepId> check_deadlock(
    const AllSteps& steps, std::span<const StepId> partners, Findings& findings
) {
    return Run(steps, partners).run(findings);
}

// Enough to look at neighbours: each reader against the writers around it, each writer against the
// next.
void check_races(const Schedule& schedule, Findings& findings) {
    if (findings.has_fault()) return;
    const std::int32_t rank = schedule.shape.rank;
    struct History {
        std::int64_t writer = -1;
        std::int64_t last_reader = -1;  // In `readers`: since then.
    };
    struct Reader {
        std::uint32_t step;
        std::int64_t previous;
    };
    std::vector<Reader> readers;
    Reachability is_reachable(schedule);
    std::array<std::vector<History>, 4> histories;
    for (BufferId buffer : {BufferId::input, BufferId::output, BufferId::scratch}) {
        histories[static_cast<std::size_t>(buffer)].resize(buffer_chunks(schedule, buffer));
    }
    auto require_order = [&](std::int64_t earlier, std::uint32_t later, const Place& place) {
        if (earlier < 0 || earlier == later) return;
        if (is_reachable(static_cast<std::uint32_t>(earlier), later)) return;
        findings.report(
            FaultKind::race, "rank {}: steps {} and {} race for {}[{}]", rank, earlier, later,
            name_of(place.buffer), place.chunk
        );
    };
    for (std::uint32_t index = 0; index < schedule.steps.size() && !findings.has_fault(); ++index) {
        const Step& step = schedule.steps[index];
        for (const Place& first : {step.source, step.right}) {
            for (std::uint32_t i = 0; first.buffer != BufferId::none && i < step.length; ++i) {
                History& past = histories[static_cast<std::size_t>(first.buffer)][first.chunk + i];
                require_order(past.writer, index, shifted(first, i));
                readers.push_back({index, past.last_reader});
                past.last_reader = static_cast<std::int64_t>(readers.size()) - 1;
            }
        }
        for (std::uint32_t i = 0; step.target.buffer != BufferId::none && i < step.length; ++i) {
            const Place place = shifted(step.target, i);
            History& past = histories[static_cast<std::size_t>(place.buffer)][place.chunk];
            // Readers come after the writer, so that only without any it has to be asked for.
            if (past.last_reader < 0) require_order(past.writer, index, place);
            for (std::int64_t at = past.last_reader; at >= 0;) {
                const Reader& reader = readers[static_cast<std::size_t>(at)];
                require_order(reader.step, index, place);
                at = reader.previous;
            }
            past = {index, -1};
        }
    }
}

// Messages that come after the one `window` places before them form that many chains, of each of
// which at most one is under way.
void check_window(const Schedule& schedule, Findings& findings) {
    if (schedule.window == 0 || findings.has_fault()) return;
    const std::int32_t rank = schedule.shape.rank;
    Reachability is_reachable(schedule);
    for (StepKind kind : {StepKind::send, StepKind::recv}) {
        std::vector<std::uint32_t> messages;
        for (std::uint32_t index = 0; index < schedule.steps.size(); ++index) {
            if (schedule.steps[index].kind == kind) messages.push_back(index);
        }
        for (std::size_t i = schedule.window; i < messages.size(); ++i) {
            const std::uint32_t earlier = messages[i - schedule.window];
            if (is_reachable(earlier, messages[i])) continue;
            findings.report(
                FaultKind::window,
                "rank {}: step {} need not wait for step {}, but {} of a kind "
                "may be under way",
                rank, messages[i], earlier, schedule.window
            );
        }
    }
}

}  // namespace dlrt::coll
