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

/// "rank 1" or "ranks 1, 2".
struct RankNames {
    std::string numbers;
    int count = 0;

    void add(std::int32_t rank) { numbers += fmt::format("{}{}", count++ == 0 ? "" : ", ", rank); }
    [[nodiscard]] std::string text() const {
        return fmt::format("{} {}", count == 1 ? "rank" : "ranks", numbers);
    }
};

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

bool is_call_known(EngineInside& inside, const CallInProgress& call, std::int32_t peer) {
    const WorldRank rank = call.group->world_rank(peer);
    const std::int32_t number = call.number.short_form();
    if (!inside.is_elsewhere(rank) || inside.find_call(rank, call.user_context, number))
        return true;
    // Its record may have gone.
    return inside.has_come(rank, call.user_context, number).value_or(false);
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
    RankNames absent, silent;
    for (std::int32_t rank = 0; rank < call.group->size(); ++rank) {
        if (rank == call.rank) continue;
        const auto has_come = inside.has_come(
            call.group->world_rank(rank), call.user_context, call.number.short_form()
        );
        if (!has_come) silent.add(rank);
        if (has_come && !*has_come) absent.add(rank);
    }
    std::string text = fmt::format(
        "{}, operation {} of its communicator", own ? describe_call(*own) : "a collective",
        call.number.value
    );
    if (absent.count == 0 && silent.count == 0) return text + ": all ranks have called it";
    const bool are_several = absent.count > 1;
    if (absent.count > 0) {
        text += fmt::format(": {} {} not called it", absent.text(), are_several ? "have" : "has");
    }
    if (silent.count > 0) {
        text += fmt::format(
            "{} {} of other hosts {} no answer, as from outside of dlrt's calls",
            absent.count > 0 ? ";" : ":", silent.text(), silent.count > 1 ? "give" : "gives"
        );
    }
    return text;
}

Status compare_with_waiters(Engine& engine, const CallInProgress& call) {
    std::optional<std::string> found;
    engine.look_inside([&](EngineInside& inside) { found = find_disagreement(inside, call); });
    return found ? fail(Errc::mismatch, "{}", *found) : Status{};
}

}  // namespace dlrt
