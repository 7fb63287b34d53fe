// SPDX-License-Identifier: Apache-2.0
#include "runtime/collective_comparison.hpp"

#include "runtime/base/error_text.hpp"

#include <fmt/format.h>

namespace dlrt {
namespace {

std::optional<FlightEntry> record_of(
    EngineInside& inside, const CallInProgress& call, std::int32_t rank
) {
    return inside.find_call(
        call.group->world_rank(rank), call.user_context, call.number.short_form()
    );
}

/// What `rank` calls instead, or that it has found another disagreement.
std::optional<std::string> find_disagreement_with(
    EngineInside& inside, const CallInProgress& call, const FlightEntry& own, std::int32_t rank
) {
    const std::optional<FlightEntry> other = record_of(inside, call, rank);
    if (other && !is_same_call(own, *other)) return explain_disagreement(inside, call, rank);
    const auto failed = inside.find_failed_call(call.group->world_rank(rank), call.user_context);
    if (!failed) return std::nullopt;
    inside.mark_failed(call.user_context, {own.peer, own.tag});
    return fmt::format(
        "{}: rank {} has found that the ranks of this communicator disagree, in its {}",
        describe_call(own), rank, describe_call(*failed)
    );
}

}  // namespace

void tell_of_disagreement(EngineInside& inside, const CallInProgress& call) {
    const std::optional<FlightEntry> own = record_of(inside, call, call.rank);
    if (own) inside.mark_failed(call.user_context, {own->peer, own->tag});
}

std::string explain_disagreement(
    EngineInside& inside, const CallInProgress& call, std::int32_t peer
) {
    const std::optional<FlightEntry> own = record_of(inside, call, call.rank);
    const std::optional<FlightEntry> other = record_of(inside, call, peer);
    const std::string own_text = own ? describe_call(*own) : "another collective";
    std::string other_text = other ? describe_call(*other) : "another collective";
    if (other_text == own_text) other_text += " by another algorithm or of other elements";
    tell_of_disagreement(inside, call);
    return fmt::format(
        "ranks disagree about operation {} of this communicator: rank {} calls {}, rank {} calls "
        "{}",
        call.number.value, call.rank, own_text, peer, other_text
    );
}

bool are_different(EngineInside& inside, const CallInProgress& call, std::int32_t peer) {
    const std::optional<FlightEntry> own = record_of(inside, call, call.rank);
    const std::optional<FlightEntry> other = record_of(inside, call, peer);
    return own && other && !is_same_call(*own, *other);
}

std::optional<std::string> find_disagreement(EngineInside& inside, const CallInProgress& call) {
    const std::optional<FlightEntry> own = record_of(inside, call, call.rank);
    if (!own) return std::nullopt;
    for (std::int32_t rank = 0; rank < call.group->size(); ++rank) {
        if (auto found = find_disagreement_with(inside, call, *own, rank)) return found;
    }
    // Only then: who has found a disagreement may have freed the communicator because of it.
    for (std::int32_t rank = 0; rank < call.group->size(); ++rank) {
        const WorldRank world_rank = call.group->world_rank(rank);
        if (record_of(inside, call, rank)) continue;
        if (!inside.has_freed(world_rank, call.user_context, call.number.short_form())) continue;
        // It may have done both since it was looked at.
        if (auto found = find_disagreement_with(inside, call, *own, rank)) return found;
        return fmt::format(
            "operation {} of this communicator: rank {} calls {}, rank {} has freed the "
            "communicator without it",
            call.number.value, call.rank, describe_call(*own), rank
        );
    }
    return std::nullopt;
}

std::string describe_absence(EngineInside& inside, const CallInProgress& call) {
    const std::optional<FlightEntry> own = record_of(inside, call, call.rank);
    std::string absent;
    int absent_count = 0;
    for (std::int32_t rank = 0; rank < call.group->size(); ++rank) {
        const auto has_come = inside.has_come(
            call.group->world_rank(rank), call.user_context, call.number.short_form()
        );
        if (rank == call.rank || has_come.value_or(true)) continue;
        absent += fmt::format("{}{}", absent_count++ == 0 ? "" : ", ", rank);
    }
    const std::string text = fmt::format(
        "{}, operation {} of its communicator", own ? describe_call(*own) : "a collective",
        call.number.value
    );
    if (absent_count == 0) return text + ": all ranks of this host have called it";
    if (absent_count == 1) return fmt::format("{}: rank {} has not called it", text, absent);
    return fmt::format("{}: ranks {} have not called it", text, absent);
}

Status compare_with_waiters(Engine& engine, const CallInProgress& call) {
    std::optional<std::string> found;
    engine.look_inside([&](EngineInside& inside) { found = find_disagreement(inside, call); });
    return found ? fail(Errc::mismatch, "{}", *found) : Status{};
}

}  // namespace dlrt
