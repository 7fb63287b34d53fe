// SPDX-License-Identifier: Apache-2.0
/// Ranks of different hosts tell each other what collective calls they are in: when asked, and when
/// a call has failed because the ranks' calls differ.
#include "runtime/base/clock.hpp"
#include "runtime/engine_state.hpp"

namespace dlrt {

bool EngineState::is_elsewhere(WorldRank rank) const {
    return rank != rank_ && flight_ring_of(rank) == nullptr;
}

void EngineState::ask_for_call(const CallsElsewhere::Question& question, AskAgain again) {
    if (!is_elsewhere(question.rank) || has_departed(question.rank)) return;
    if (!calls_elsewhere_.begin_to_ask(question, again, monotonic_ns())) return;
    const MessageHeader header = matched_header(
        WireKind::inquiry, question.context, question.number, 0
    );
    send_control(peer_of(question.rank), header, {});
}

CallReport EngineState::report_of_call(ContextId context, std::int32_t number) const {
    CallReport report;
    report.number = number;
    if (const auto call = find_call(rank_, context, number)) {
        report.arguments_hash = call->arguments_hash;
        report.size_bytes = call->size_bytes;
        report.root = call->peer;
        report.call = call->call;
        report.state = call->state;
        report.has_come = true;
    } else {
        report.has_come = has_come(rank_, context, number).value_or(false);
        report.has_freed = has_freed(rank_, context, number);
    }
    return report;
}

void EngineState::send_report(Peer& peer, ContextId context, const CallReport& report) {
    send_control(peer, matched_header(WireKind::report, context, 0, 0), bytes_of(report));
}

void EngineState::tell_of_failed_call(WorldRank rank, ContextId context, std::int32_t number) {
    if (!is_elsewhere(rank) || has_departed(rank)) return;
    CallReport report = report_of_call(context, number);
    report.state = FlightState::failed;
    if (report.call != Call::none) send_report(peer_of(rank), context, report);
}

void EngineState::on_inquiry(Peer& peer, MessageHeader header) {
    const ContextId context{header.first};
    CallReport answer = report_of_call(context, tag_of(header));
    answer.is_answer = true;
    const auto failed = find_call(rank_, context, std::nullopt);
    if (failed && failed->tag != answer.number)
        tell_of_failed_call(peer.rank, context, failed->tag);
    send_report(peer, context, answer);
}

void EngineState::on_report(const Peer& peer, const Arrival& arrival) {
    if (arrival.payload.size() != sizeof(CallReport)) return;
    calls_elsewhere_.learn(
        peer.rank, ContextId{arrival.header.first}, body_of<CallReport>(arrival.payload)
    );
    compare_calls();
}

}  // namespace dlrt
