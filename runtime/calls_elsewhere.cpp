// SPDX-License-Identifier: Apache-2.0
#include "runtime/calls_elsewhere.hpp"

#include <algorithm>

namespace dlrt {
namespace {

/// Whoever waits looks more often than that, and an answer may change nothing.
constexpr std::uint64_t pause_ns = 300'000'000;

FlightEntry entry_of(ContextId context, const CallReport& report) {
    FlightEntry entry{};
    entry.call = report.call;
    entry.state = report.state;
    entry.context = static_cast<std::uint64_t>(context);
    entry.arguments_hash = report.arguments_hash;
    entry.size_bytes = report.size_bytes;
    entry.peer = report.root;
    entry.tag = report.number;
    return entry;
}

}  // namespace

bool CallsElsewhere::begin_to_ask(const Question& question, AskAgain again, std::uint64_t now_ns) {
    Known& known = known_[{question.context, question.rank}];
    const std::uint64_t wait_ns = again == AskAgain::at_once ? 0 : pause_ns;
    const bool is_same = known.asked_at_ns != 0 && known.asked_number == question.number;
    if (is_same && (known.is_silent || now_ns - known.asked_at_ns < wait_ns)) return false;
    known.asked_number = question.number;
    known.asked_at_ns = now_ns;
    known.is_silent = true;
    return true;
}

void CallsElsewhere::learn(WorldRank rank, ContextId context, const CallReport& report) {
    Known& known = known_[{context, rank}];
    if (report.state == FlightState::failed) known.failure = report;
    if (!report.is_answer) return;
    known.answer = report;
    if (report.number == known.asked_number) known.is_silent = false;
}

const CallReport* CallsElsewhere::answer_of(WorldRank rank, ContextId context, std::int32_t number)
    const {
    const auto known = known_.find({context, rank});
    if (known == known_.end() || !known->second.answer) return nullptr;
    return known->second.answer->number == number ? &*known->second.answer : nullptr;
}

std::optional<FlightEntry> CallsElsewhere::find(
    WorldRank rank, ContextId context, std::optional<std::int32_t> number
) const {
    const auto known = known_.find({context, rank});
    if (known == known_.end()) return std::nullopt;
    const std::optional<CallReport>& failure = known->second.failure;
    const bool is_failure = failure && (!number || failure->number == *number);
    if (is_failure) return entry_of(context, *failure);
    if (!number) return std::nullopt;
    const CallReport* const answer = answer_of(rank, context, *number);
    if (answer == nullptr || answer->call == Call::none) return std::nullopt;
    return entry_of(context, *answer);
}

std::optional<bool> CallsElsewhere::has_come(WorldRank rank, ContextId context, std::int32_t number)
    const {
    const CallReport* const answer = answer_of(rank, context, number);
    if (answer == nullptr) return std::nullopt;
    return answer->has_come;
}

bool CallsElsewhere::has_freed(WorldRank rank, ContextId context, std::int32_t number) const {
    const CallReport* const answer = answer_of(rank, context, number);
    return answer != nullptr && answer->has_freed;
}

bool CallsElsewhere::has_silent() const {
    return std::ranges::any_of(known_, [](const auto& known) { return known.second.is_silent; });
}

void CallsElsewhere::forget(ContextId context) {
    std::erase_if(known_, [context](const auto& known) { return known.first.first == context; });
}

}  // namespace dlrt
