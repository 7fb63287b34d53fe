// SPDX-License-Identifier: Apache-2.0
/// Probes, plain and matched, and the receipt of matched messages.
#include "runtime/api/arguments.hpp"
#include "runtime/api/call_group.hpp"
#include "runtime/api/outcome.hpp"
#include "runtime/api/request_list.hpp"

namespace dlrt::api {
namespace {

/// What all probes begin with.
struct Target {
    Use<Communicator> use;
    Route route;
    bool is_nobody = false;

    [[nodiscard]] const Group* translation() const {
        return use.pointer->is_identity() ? nullptr : use.pointer->peers().get();
    }
};

Status open_probe(const Site& site, const PeerArguments& peer, dlrt_comm comm, Target& target) {
    if (const Status bad = site.use(comm, target.use); !bad.ok()) return bad;
    const Status bad = check_peer(site, Direction::receive, peer, *target.use.pointer);
    if (!bad.ok()) return bad;
    target.is_nobody = peer.rank == DLRT_PROC_NULL;
    if (!target.is_nobody) target.route = route_to(*target.use.pointer, peer);
    return {};
}

FlightRecorder::Operation record_of(Call call, const PeerArguments& peer, const Target& target) {
    return {
        .call = call,
        .place = {peer.rank, peer.tag},
        .context = static_cast<std::uint64_t>(target.route.context),
    };
}

/// Puts a message that a matched probe took behind a handle.
dlrt_err give_message(
    const Site& site, const Target& target, MatchedMessage* taken, dlrt_message* message
) {
    return to_c(site.give(MessageEntry{taken, translation_of(*target.use.pointer)}, message));
}

bool is_no_proc(dlrt_message message) {
    return message.index == DLRT_MESSAGE_NO_PROC.index && message.generation == 0;
}

/// What the receipts of a matched message begin with: nothing is taken yet.
struct Receipt {
    LayoutUse layout;
    bool is_nobody = false;
};
Status open_receipt(
    const Site& site, const BufferArguments& buffer, const dlrt_message* message, Receipt& receipt
) {
    if (const Status bad = site.require(message, "message"); !bad.ok()) return bad;
    std::uint64_t size_bytes = 0;
    const Status bad = use_buffer(site, buffer, receipt.layout, size_bytes);
    if (!bad.ok()) return bad;
    receipt.is_nobody = is_no_proc(*message);
    if (receipt.is_nobody) return {};
    if (site.surface().messages.find(to_handle(*message)) != nullptr) return {};
    if (message->index == 0 && message->generation == 0) {
        return site.fail(Errc::message, "the message is DLRT_MESSAGE_NULL");
    }
    return site.fail(Errc::message, "the message is already received or never was one");
}

/// Takes the message from its handle, which becomes null. Empty when another thread was faster.
std::optional<MessageEntry> take_message(const Site& site, dlrt_message* message) {
    std::optional<MessageEntry> entry = site.surface().messages.remove(to_handle(*message));
    *message = DLRT_MESSAGE_NULL;
    return entry;
}

}  // namespace
}  // namespace dlrt::api

using namespace dlrt;
using namespace dlrt::api;

dlrt_err dlrt_probe(int32_t source, int32_t tag, dlrt_comm comm, dlrt_status* status) {
    const Site site("dlrt_probe");
    if (!site.is_ready()) return site.error();
    const PeerArguments peer{source, tag};
    Target target;
    if (const Status bad = open_probe(site, peer, comm, target); !bad.ok()) return to_c(bad);
    if (target.is_nobody) {
        write_no_peer_status(status);
        return DLRT_OK;
    }
    const FlightMark mark(site, record_of(Call::probe, peer, target));
    MessageStatus found;
    site.engine().probe(target.route, found);
    write_status(found, target.translation(), status);
    if (!found.error.ok()) [[unlikely]]
        return to_c(site.pass(found.error));
    return DLRT_OK;
}

dlrt_err dlrt_iprobe(
    int32_t source, int32_t tag, dlrt_comm comm, int* is_there, dlrt_status* status
) {
    const Site site("dlrt_iprobe");
    if (!site.is_ready()) return site.error();
    const PeerArguments peer{source, tag};
    Target target;
    if (const Status bad = site.require(is_there, "is_there"); !bad.ok()) return to_c(bad);
    if (const Status bad = open_probe(site, peer, comm, target); !bad.ok()) return to_c(bad);
    if (target.is_nobody) {
        *is_there = 1;
        write_no_peer_status(status);
        return DLRT_OK;
    }
    MessageStatus found;
    *is_there = site.engine().iprobe(target.route, found) ? 1 : 0;
    if (!found.error.ok()) [[unlikely]]
        return to_c(site.pass(found.error));
    if (*is_there != 0) write_status(found, target.translation(), status);
    return DLRT_OK;
}

dlrt_err dlrt_mprobe(
    int32_t source, int32_t tag, dlrt_comm comm, dlrt_message* message, dlrt_status* status
) {
    const Site site("dlrt_mprobe");
    if (!site.is_ready()) return site.error();
    const PeerArguments peer{source, tag};
    Target target;
    if (const Status bad = site.require(message, "message"); !bad.ok()) return to_c(bad);
    if (const Status bad = open_probe(site, peer, comm, target); !bad.ok()) return to_c(bad);
    if (target.is_nobody) {
        *message = DLRT_MESSAGE_NO_PROC;
        write_no_peer_status(status);
        return DLRT_OK;
    }
    const FlightMark mark(site, record_of(Call::mprobe, peer, target));
    MessageStatus found;
    MatchedMessage* taken = site.engine().mprobe(target.route, found);
    write_status(found, target.translation(), status);
    if (taken == nullptr) return to_c(site.pass(found.error));
    return give_message(site, target, taken, message);
}

dlrt_err dlrt_improbe(
    int32_t source, int32_t tag, dlrt_comm comm, int* is_there, dlrt_message* message,
    dlrt_status* status
) {
    const Site site("dlrt_improbe");
    if (!site.is_ready()) return site.error();
    const PeerArguments peer{source, tag};
    Target target;
    if (const Status bad = site.require(is_there, "is_there"); !bad.ok()) return to_c(bad);
    if (const Status bad = site.require(message, "message"); !bad.ok()) return to_c(bad);
    if (const Status bad = open_probe(site, peer, comm, target); !bad.ok()) return to_c(bad);
    if (target.is_nobody) {
        *is_there = 1;
        *message = DLRT_MESSAGE_NO_PROC;
        write_no_peer_status(status);
        return DLRT_OK;
    }
    MessageStatus found;
    MatchedMessage* taken = site.engine().improbe(target.route, found);
    *is_there = taken != nullptr ? 1 : 0;
    if (!found.error.ok()) [[unlikely]]
        return to_c(site.pass(found.error));
    if (taken == nullptr) {
        *message = DLRT_MESSAGE_NULL;
        return DLRT_OK;
    }
    write_status(found, target.translation(), status);
    return give_message(site, target, taken, message);
}

dlrt_err dlrt_mrecv(
    void* buffer, int64_t count, dlrt_type type, dlrt_message* message, dlrt_status* status
) {
    const Site site("dlrt_mrecv");
    if (!site.is_ready()) return site.error();
    Receipt receipt;
    const Status bad = open_receipt(site, {buffer, count, type}, message, receipt);
    if (!bad.ok()) return to_c(bad);
    std::optional<MessageEntry> entry = take_message(site, message);
    if (receipt.is_nobody) {
        write_no_peer_status(status);
        return DLRT_OK;
    }
    if (!entry) return to_c(site.fail(Errc::message, "the message is already received"));
    const FlightMark mark(site, {.call = Call::mrecv});
    const Buffer target{buffer, static_cast<std::uint64_t>(count), receipt.layout.reference};
    if (CallGroup* const group = CallGroup::open(site.surface()); group != nullptr) [[unlikely]] {
        Request* const made = site.engine().imrecv(entry->message, target);
        set_translation(*made, std::move(entry->translation));
        group->add(site, made, status);
        return DLRT_OK;
    }
    MessageStatus found;
    const Status outcome = site.engine().mrecv(entry->message, target, found);
    write_status(found, entry->translation.get(), status);
    if (!outcome.ok()) [[unlikely]]
        return to_c(site.pass(outcome));
    return DLRT_OK;
}

dlrt_err dlrt_imrecv(
    void* buffer, int64_t count, dlrt_type type, dlrt_message* message, dlrt_request* request
) {
    const Site site("dlrt_imrecv");
    if (!site.is_ready()) return site.error();
    Receipt receipt;
    if (const Status bad = site.require(request, "request"); !bad.ok()) return to_c(bad);
    const Status bad = open_receipt(site, {buffer, count, type}, message, receipt);
    if (!bad.ok()) return to_c(bad);
    std::optional<MessageEntry> taken = take_message(site, message);
    if (receipt.is_nobody) {
        Request* const nothing = site.engine().without_peer(
            RequestKind::receive, Persistence::once
        );
        give_request(*nothing, request);
        return DLRT_OK;
    }
    if (!taken) return to_c(site.fail(Errc::message, "the message is already received"));
    const FlightMark mark(site, {.call = Call::imrecv});
    const Buffer target{buffer, static_cast<std::uint64_t>(count), receipt.layout.reference};
    Request* const made = site.engine().imrecv(taken->message, target);
    set_translation(*made, std::move(taken->translation));
    give_request(*made, request);
    return DLRT_OK;
}
