// SPDX-License-Identifier: Apache-2.0
/// Replays the steps in the order of the timeline, on sets of (rank, piece) instead of data.
#include "tools/dlsched/ownership.hpp"

#include "collectives/contract.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

namespace dlrt::sched {
namespace {

using coll::BufferId;
using coll::ChunkRule;
using coll::Place;
using coll::Schedule;
using coll::Step;
using coll::StepKind;

struct Operand {
    std::int32_t rank = 0;
    std::uint32_t piece = 0;
    friend auto operator<=>(const Operand&, const Operand&) = default;
};
using Content = std::set<Operand>;

constexpr std::array buffers = {BufferId::input, BufferId::output, BufferId::scratch};

bool is_reduction(const Schedule& schedule) {
    return std::ranges::any_of(schedule.steps, [](const Step& step) {
        return step.kind == StepKind::reduce;
    });
}

class Replay {
  public:
    explicit Replay(std::span<const Schedule> schedules)
        : schedules_(schedules), held_(schedules.size()) {
        is_split_ = schedules_[0].chunk_rule == ChunkRule::split;
        is_reduction_ = std::ranges::any_of(schedules_, is_reduction);
        for (const Schedule& schedule : schedules_) {
            const auto rank = static_cast<std::size_t>(schedule.shape.rank);
            for (const BufferId buffer : buffers) {
                const std::uint32_t count = coll::buffer_chunks(schedule, buffer);
                auto& chunks = held_[rank][static_cast<std::size_t>(buffer)];
                chunks.resize(count);
                for (std::uint32_t chunk = 0; chunk < count; ++chunk) {
                    chunks[chunk] = content_before(schedule, {buffer, chunk});
                }
            }
        }
    }

    [[nodiscard]] std::uint32_t piece_count() const {
        std::uint32_t count = 0;
        for (const auto& rank : held_) {
            for (const auto& chunks : rank) {
                for (const Content& content : chunks) {
                    for (const Operand& operand : content)
                        count = std::max(count, operand.piece + 1);
                }
            }
        }
        return count;
    }

    void run_local(std::size_t rank, const Step& step) {
        for (std::uint32_t i = 0; i < step.length; ++i) {
            Content result = at(rank, step.source, i);
            if (step.kind == StepKind::reduce) {
                const Content right = at(rank, step.right, i);
                result.insert(right.begin(), right.end());
            }
            at(rank, step.target, i) = std::move(result);
        }
    }

    void run_message(const Message& message) {
        const auto source = static_cast<std::size_t>(message.source);
        const auto target = static_cast<std::size_t>(message.target);
        const Step& send = schedules_[source].steps[message.send_step];
        const Step& recv = schedules_[target].steps[message.recv_step];
        for (std::uint32_t i = 0; i < send.length; ++i) {
            at(target, recv.target, i) = at(source, send.source, i);
        }
    }

    [[nodiscard]] Snapshot look(double time, std::uint32_t piece_count) const {
        Snapshot snapshot{time, {}};
        const double whole = is_reduction_ ? static_cast<double>(schedules_.size()) : 1;
        for (const auto& rank : held_) {
            std::vector<double>& shares = snapshot.shares.emplace_back(piece_count, 0.0);
            for (const auto& chunks : rank) {
                for (const Content& content : chunks) add(content, whole, shares);
            }
        }
        return snapshot;
    }

  private:
    static void add(const Content& content, double whole, std::vector<double>& shares) {
        std::map<std::uint32_t, double> counts;
        for (const Operand& operand : content) ++counts[operand.piece];
        for (const auto& [piece, count] : counts) {
            shares[piece] = std::max(shares[piece], std::min(count / whole, 1.0));
        }
    }

    [[nodiscard]] Content content_before(const Schedule& schedule, const Place& place) const {
        const coll::Content content = coll::content_before(schedule, place);
        if (content.kind != coll::Content::Kind::of_rank) return {};
        const bool is_block = !is_split_ && !is_reduction_;
        const auto origin = static_cast<std::uint32_t>(content.rank);
        return {{content.rank, is_block ? origin : content.chunk}};
    }

    Content& at(std::size_t rank, const Place& place, std::uint32_t offset) {
        return held_[rank][static_cast<std::size_t>(place.buffer)][place.chunk + offset];
    }

    std::span<const Schedule> schedules_;
    std::vector<std::array<std::vector<Content>, 4>> held_;  ///< By rank, buffer, chunk.
    bool is_split_ = true;
    bool is_reduction_ = false;
};

/// A step or message, by when it ends.
struct Event {
    double end = 0;
    double begin = 0;
    const Message* message = nullptr;
    std::size_t rank = 0;
    const Step* step = nullptr;
};

std::vector<Event> events_of(std::span<const Schedule> schedules, const Timeline& timeline) {
    std::vector<Event> events;
    for (const Message& message : timeline.messages) {
        events.push_back({message.time.end, message.time.begin, &message, 0, nullptr});
    }
    for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
        for (std::size_t i = 0; i < schedules[rank].steps.size(); ++i) {
            const Step& step = schedules[rank].steps[i];
            if (step.kind == StepKind::send || step.kind == StepKind::recv) continue;
            const Interval time = timeline.steps[rank][i];
            events.push_back({time.end, time.begin, nullptr, rank, &step});
        }
    }
    std::ranges::stable_sort(events, {}, [](const Event& event) {
        return std::pair(event.end, event.begin);
    });
    return events;
}

}  // namespace

Ownership find_ownership(std::span<const Schedule> schedules, const Timeline& timeline) {
    Replay replay(schedules);
    Ownership ownership;
    ownership.piece_count = replay.piece_count();
    if (ownership.piece_count == 0) return ownership;
    ownership.snapshots.push_back(replay.look(0, ownership.piece_count));
    double round_end = 0;
    bool has_news = false;
    for (const Event& event : events_of(schedules, timeline)) {
        if (event.message == nullptr) {
            replay.run_local(event.rank, *event.step);
            continue;
        }
        // Who begins once another of this round has ended is of the next round.
        if (has_news && event.begin >= round_end) {
            ownership.snapshots.push_back(replay.look(event.begin, ownership.piece_count));
            has_news = false;
        }
        if (!has_news) round_end = event.end;
        has_news = true;
        replay.run_message(*event.message);
    }
    if (has_news) {
        ownership.snapshots.push_back(replay.look(timeline.end, ownership.piece_count));
    }
    return ownership;
}

}  // namespace dlrt::sched
