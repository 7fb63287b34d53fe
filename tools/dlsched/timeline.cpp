// SPDX-License-Identifier: Apache-2.0
/// Whatever can begin earliest begins next; ties go to the lower rank and step.
#include "tools/dlsched/timeline.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace dlrt::sched {
namespace {

using coll::Schedule;
using coll::Step;
using coll::StepKind;

struct Where {
    std::uint32_t rank = 0;
    std::uint32_t step = 0;
};

class Simulation {
  public:
    Simulation(std::span<const Schedule> schedules, const Machine& machine)
        : schedules_(schedules), machine_(machine), ranks_(schedules.size()) {
        for (std::uint32_t rank = 0; rank < schedules_.size(); ++rank) {
            const std::size_t count = schedules_[rank].steps.size();
            timeline_.steps.emplace_back(count);
            ranks_[rank].ready_at.assign(count, 0);
            ranks_[rank].waits_for = schedules_[rank].predecessor_counts;
            for (std::uint32_t step = 0; step < count; ++step) {
                if (ranks_[rank].waits_for[step] == 0) make_ready({rank, step});
            }
        }
    }

    Timeline run() {
        while (!startable_.empty()) start_earliest();
        std::ranges::sort(timeline_.messages, {}, [](const Message& message) {
            return std::tuple(message.time.begin, message.source, message.target);
        });
        return std::move(timeline_);
    }

  private:
    struct Rank {
        std::vector<double> ready_at;
        std::vector<std::uint32_t> waits_for;
        double send_port_free = 0, recv_port_free = 0, core_free = 0;
    };
    /// What can start once its resources are free: a local step, or a send with its receive.
    struct Work {
        Where first;
        Where second;
        bool is_message = false;
    };

    [[nodiscard]] const Step& step_at(Where where) const {
        return schedules_[where.rank].steps[where.step];
    }

    void make_ready(Where where) {
        const Step& step = step_at(where);
        if (step.kind != StepKind::send && step.kind != StepKind::recv) {
            startable_.push_back({where, where, false});
            return;
        }
        const bool is_send = step.kind == StepKind::send;
        const auto peer = static_cast<std::uint32_t>(step.peer);
        const auto key = is_send ? std::tuple(where.rank, peer, step.lane, step.order)
                                 : std::tuple(peer, where.rank, step.lane, step.order);
        const auto [other, is_first] = unpaired_.try_emplace(key, where);
        if (is_first) return;
        const Where partner = other->second;
        unpaired_.erase(other);
        startable_.push_back({is_send ? where : partner, is_send ? partner : where, true});
    }

    [[nodiscard]] double begin_of(const Work& work) const {
        const Rank& rank = ranks_[work.first.rank];
        const double ready = rank.ready_at[work.first.step];
        if (!work.is_message) return std::max(ready, rank.core_free);
        const Rank& receiver = ranks_[work.second.rank];
        return std::max(
            {ready, receiver.ready_at[work.second.step], rank.send_port_free,
             receiver.recv_port_free}
        );
    }

    void start_earliest() {
        const auto chosen = std::ranges::min_element(startable_, {}, [this](const Work& work) {
            return std::tuple(begin_of(work), work.first.rank, work.first.step);
        });
        const Work work = *chosen;
        startable_.erase(chosen);
        const Step& step = step_at(work.first);
        const double begin = begin_of(work);
        const auto length = static_cast<double>(step.length);
        if (!work.is_message) {
            const double each = step.kind == StepKind::reduce ? machine_.reduce_per_chunk
                                                              : machine_.copy_per_chunk;
            const double end = begin + each * length;
            ranks_[work.first.rank].core_free = end;
            finish(work.first, {begin, end});
            return;
        }
        const double end = begin + machine_.latency + machine_.per_chunk * length;
        ranks_[work.first.rank].send_port_free = end;
        ranks_[work.second.rank].recv_port_free = end;
        timeline_.messages.push_back(
            {static_cast<std::int32_t>(work.first.rank),
             static_cast<std::int32_t>(work.second.rank),
             work.first.step,
             work.second.step,
             {begin, end}}
        );
        finish(work.first, {begin, end});
        finish(work.second, {begin, end});
    }

    void finish(Where where, Interval time) {
        timeline_.steps[where.rank][where.step] = time;
        timeline_.end = std::max(timeline_.end, time.end);
        Rank& rank = ranks_[where.rank];
        for (const std::uint32_t next : schedules_[where.rank].successors_of(where.step)) {
            rank.ready_at[next] = std::max(rank.ready_at[next], time.end);
            if (--rank.waits_for[next] == 0) make_ready({where.rank, next});
        }
    }

    std::span<const Schedule> schedules_;
    Machine machine_;
    std::vector<Rank> ranks_;
    std::vector<Work> startable_;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint16_t, std::uint32_t>, Where>
        unpaired_;
    Timeline timeline_;
};

}  // namespace

Timeline simulate(std::span<const Schedule> schedules, const Machine& machine) {
    return Simulation(schedules, machine).run();
}

}  // namespace dlrt::sched
