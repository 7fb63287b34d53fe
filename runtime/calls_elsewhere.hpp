// SPDX-License-Identifier: Apache-2.0
/// What ranks of other hosts have told of their collective calls. Ranks of a host read each other's
/// flight rings; those of other hosts are asked, and answer whenever they make progress.
///
/// Values; the engine asks and answers (protocol_inquiry.cpp). With the engine's lock held.
#pragma once

#include "runtime/request.hpp"
#include "runtime/wire_header.hpp"
#include "runtime/wireup/flight_ring.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace dlrt {

/// How soon somebody who has answered is asked the same again.
enum class AskAgain : std::uint8_t { later, at_once };

class CallsElsewhere {
  public:
    struct Question {
        WorldRank rank = no_rank;
        ContextId context{};
        std::int32_t number = 0;  ///< Of the operation, as in FlightEntry::tag.
    };
    /// Whether it is time to ask; then it has been asked.
    [[nodiscard]] bool begin_to_ask(const Question& question, AskAgain again, std::uint64_t now_ns);
    void learn(WorldRank rank, ContextId context, const CallReport& report);
    /// The call that has the number, or that has failed.
    [[nodiscard]] std::optional<FlightEntry> find(
        WorldRank rank, ContextId context, std::optional<std::int32_t> number
    ) const;
    /// Whether the rank has called that operation or a later one; empty when it hasn't answered.
    [[nodiscard]] std::optional<bool> has_come(
        WorldRank rank, ContextId context, std::int32_t number
    ) const;
    [[nodiscard]] bool has_freed(WorldRank rank, ContextId context, std::int32_t number) const;
    /// Whether somebody has been asked and hasn't answered.
    [[nodiscard]] bool has_silent() const;
    /// Nobody will ask about that communicator any more.
    void forget(ContextId context);

  private:
    struct Known {
        std::int32_t asked_number = 0;
        std::uint64_t asked_at_ns = 0;
        bool is_silent = false;
        std::optional<CallReport> answer, failure;
    };
    using Key = std::pair<ContextId, WorldRank>;
    [[nodiscard]] const CallReport* answer_of(
        WorldRank rank, ContextId context, std::int32_t number
    ) const;

    std::map<Key, Known> known_;
};

}  // namespace dlrt
