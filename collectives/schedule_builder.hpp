// SPDX-License-Identifier: Apache-2.0
/// Makes a Schedule from steps in the order in which an author thinks of them, and derives the
/// edges: a step comes after the last writer of each chunk that it reads, and after the last writer
/// and all readers since of each chunk that it writes. Nobody can forget one. One thread at a time.
#pragma once

#include "collectives/schedule.hpp"

#include <array>
#include <unordered_map>
#include <utility>
#include <vector>

namespace dlrt::coll {

class ScheduleBuilder {
  public:
    using StepIndex = std::uint32_t;

    /// What is known before the first step.
    struct Header {
        Collective collective = Collective::barrier;
        std::string_view algorithm;
        ChunkRule chunk_rule = ChunkRule::split;
        std::uint32_t chunk_count = 1;
        OperandOrder operand_order = OperandOrder::by_rank;
        std::uint32_t window = 0;
    };
    ScheduleBuilder(const Header& header, const Shape& shape);
    ScheduleBuilder(ScheduleBuilder&&) = default;

    StepIndex send(std::int32_t peer, const Slice& source, std::uint16_t lane = 0);
    StepIndex recv(std::int32_t peer, const Slice& target, std::uint16_t lane = 0);
    /// target = left op right, which may be the same place as one of them. All alike, as blocks
    /// always are.
    StepIndex reduce(const Slice& left, const Slice& right, const Slice& target);
    StepIndex copy(const Slice& source, const Slice& target);

    /// An order that no data shows, as between the signals of a barrier, or for a window.
    void order(StepIndex earlier, StepIndex later);

    [[nodiscard]] Schedule finish() &&;

  private:
    /// Who touched a chunk last: enough to order the next one who does.
    struct History {
        std::int64_t writer = -1;
        std::int64_t last_reader = -1;  ///< In readers_: since then.
    };
    struct Reader {
        StepIndex step = 0;
        std::int64_t previous = -1;
    };
    std::uint32_t& message_count(std::uint64_t key);
    Step message(StepKind kind, std::int32_t peer, std::uint16_t lane, const Slice& slice);
    StepIndex append(const Step& step);
    void add_edge(StepIndex earlier, StepIndex later);
    void note_read(const Place& place, std::uint32_t length, StepIndex step);
    void note_write(const Place& place, std::uint32_t length, StepIndex step);
    History& history(BufferId buffer, std::uint32_t chunk);

    Schedule schedule_;
    std::vector<Edge> edges_;
    std::unordered_map<std::uint64_t, std::uint32_t> message_counts_;  ///< By kind, peer and lane.
    /// The entries used last: most ranks alternate between few.
    std::array<std::pair<const std::uint64_t, std::uint32_t>*, 2> recent_counts_{};
    std::vector<History> histories_[4];
    std::vector<Reader> readers_;
};

[[nodiscard]] inline Slice input_slice(std::uint32_t chunk, std::uint32_t length = 1) {
    return {{BufferId::input, chunk}, length, chunk};
}
[[nodiscard]] inline Slice output_slice(std::uint32_t chunk, std::uint32_t length = 1) {
    return {{BufferId::output, chunk}, length, chunk};
}
[[nodiscard]] inline Slice scratch_slice(
    std::uint32_t place, std::uint32_t like = 0, std::uint32_t length = 1
) {
    return {{BufferId::scratch, place}, length, like};
}
/// The blocks of ranks first .. end - 1.
[[nodiscard]] inline Slice output_blocks(std::int32_t first, std::int32_t end) {
    return output_slice(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end - first));
}
/// What a message that only signals carries.
[[nodiscard]] inline Slice no_data() {
    return {};
}

}  // namespace dlrt::coll
