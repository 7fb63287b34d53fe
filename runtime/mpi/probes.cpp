// SPDX-License-Identifier: Apache-2.0
/// Chapter: probes, plain and matched, and the receipt of matched messages.
#include "runtime/mpi/arguments.hpp"
#include "runtime/mpi/request_site.hpp"

#include <mpi_functions.hpp>
#include <optional>

namespace dlrt::mpi {
namespace {

/// What all probes begin with.
struct Target {
    PeerArguments peer;
    Transfer transfer;
    [[nodiscard]] bool is_nobody() const { return peer.rank == MPI_PROC_NULL; }
};

int open_probe(const Site& site, Target& target) {
    target.transfer.comm = &site.comm();
    return use_peer(site, Direction::receive, target.peer, target.transfer);
}

int give_message(const Site& site, MatchedMessage* taken, MPI_Message* message) {
    const int wrong = site.give(MessageEntry{taken, site.comm().shared_from_this()}, message);
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

/// What the receipts of a matched message begin with: nothing is taken yet.
struct Receipt {
    BufferUse use;
    Transfer transfer;
    CommRef comm;
    bool is_nobody = false;
};

int open_receipt(
    const Site& site, const BufferArguments& buffer, const MPI_Message* message, Receipt& receipt
) {
    if (const int wrong = site.require(message, "message")) return wrong;
    receipt.is_nobody = *message == MPI_MESSAGE_NO_PROC;
    if (receipt.is_nobody) return MPI_SUCCESS;
    const std::optional<MessageEntry> entry = site.surface().messages.pin(to_handle(*message));
    if (!entry) {
        return site.bad(
            MPI_ERR_REQUEST, "message is {}",
            *message == MPI_MESSAGE_NULL ? "MPI_MESSAGE_NULL" : "already received or never was one"
        );
    }
    receipt.comm = entry->comm;
    receipt.transfer.comm = entry->comm.get();
    return use_buffer(site, buffer, receipt.use, receipt.transfer);
}

/// Takes the message from its handle, which becomes null.
std::optional<MessageEntry> take_message(const Site& site, MPI_Message* message) {
    std::optional<MessageEntry> entry = site.surface().messages.remove(to_handle(*message));
    *message = MPI_MESSAGE_NULL;
    return entry;
}

}  // namespace

int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
    const Site site("MPI_Probe", comm);
    if (!site.ok()) return site.error();
    Target target{{source, tag}, {}};
    if (const int wrong = open_probe(site, target)) return site.raise(wrong);
    if (target.is_nobody()) {
        write_no_peer_status(status);
        return MPI_SUCCESS;
    }
    const FlightMark mark(site.surface(), record_of(Call::probe, target.peer, target.transfer));
    MessageStatus found;
    site.engine().probe(target.transfer.route(), found);
    if (!found.error.ok()) return site.raise(found.error);
    write_found(found, site.core(), status);
    return MPI_SUCCESS;
}

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
    const Site site("MPI_Iprobe", comm);
    if (!site.ok()) return site.error();
    Target target{{source, tag}, {}};
    if (const int wrong = site.require(flag, "flag")) return site.raise(wrong);
    if (const int wrong = open_probe(site, target)) return site.raise(wrong);
    if (target.is_nobody()) {
        *flag = 1;
        write_no_peer_status(status);
        return MPI_SUCCESS;
    }
    MessageStatus found;
    *flag = site.engine().iprobe(target.transfer.route(), found) ? 1 : 0;
    if (!found.error.ok()) return site.raise(found.error);
    if (*flag != 0) write_found(found, site.core(), status);
    return MPI_SUCCESS;
}

int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
    const Site site("MPI_Mprobe", comm);
    if (!site.ok()) return site.error();
    Target target{{source, tag}, {}};
    if (const int wrong = site.require(message, "message")) return site.raise(wrong);
    if (const int wrong = open_probe(site, target)) return site.raise(wrong);
    if (target.is_nobody()) {
        *message = MPI_MESSAGE_NO_PROC;
        write_no_peer_status(status);
        return MPI_SUCCESS;
    }
    const FlightMark mark(site.surface(), record_of(Call::mprobe, target.peer, target.transfer));
    MessageStatus found;
    MatchedMessage* const taken = site.engine().mprobe(target.transfer.route(), found);
    if (taken == nullptr) return site.raise(found.error);
    write_found(found, site.core(), status);
    return give_message(site, taken, message);
}

int MPI_Improbe(
    int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status
) {
    const Site site("MPI_Improbe", comm);
    if (!site.ok()) return site.error();
    Target target{{source, tag}, {}};
    if (const int wrong = site.require(flag, "flag")) return site.raise(wrong);
    if (const int wrong = site.require(message, "message")) return site.raise(wrong);
    if (const int wrong = open_probe(site, target)) return site.raise(wrong);
    if (target.is_nobody()) {
        *flag = 1;
        *message = MPI_MESSAGE_NO_PROC;
        write_no_peer_status(status);
        return MPI_SUCCESS;
    }
    MessageStatus found;
    MatchedMessage* const taken = site.engine().improbe(target.transfer.route(), found);
    *flag = taken != nullptr ? 1 : 0;
    if (!found.error.ok()) return site.raise(found.error);
    if (taken == nullptr) {
        *message = MPI_MESSAGE_NULL;
        return MPI_SUCCESS;
    }
    write_found(found, site.core(), status);
    return give_message(site, taken, message);
}

int MPI_Mrecv(
    void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Message* message, MPI_Status* status
) {
    const Site site("MPI_Mrecv");
    if (!site.ok()) return site.error();
    Receipt receipt;
    const int wrong = open_receipt(site, {buf, count, datatype}, message, receipt);
    if (wrong != MPI_SUCCESS) return raise_on(receipt.comm.get(), site.function(), wrong);
    const std::optional<MessageEntry> entry = take_message(site, message);
    if (receipt.is_nobody) {
        write_no_peer_status(status);
        return MPI_SUCCESS;
    }
    if (!entry) return site.raise(MPI_ERR_REQUEST, "the message is already received");
    const FlightMark mark(site.surface(), record_of(Call::mrecv, *receipt.comm->core));
    MessageStatus found;
    const Status outcome = site.engine().mrecv(entry->message, receipt.transfer.target(), found);
    write_found(found, *receipt.comm->core, status);
    return outcome.ok() ? MPI_SUCCESS
                        : raise_on(receipt.comm.get(), site.function(), class_of(outcome));
}

int MPI_Imrecv(
    void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Message* message, MPI_Request* request
) {
    const Site site("MPI_Imrecv");
    if (!site.ok()) return site.error();
    Receipt receipt;
    if (const int wrong = site.require(request, "request")) return site.raise(wrong);
    const int wrong = open_receipt(site, {buf, count, datatype}, message, receipt);
    if (wrong != MPI_SUCCESS) return raise_on(receipt.comm.get(), site.function(), wrong);
    const std::optional<MessageEntry> entry = take_message(site, message);
    if (receipt.is_nobody) {
        give_request(*site.engine().without_peer(RequestKind::receive, Persistence::once), request);
        return MPI_SUCCESS;
    }
    if (!entry) return site.raise(MPI_ERR_REQUEST, "the message is already received");
    Request* const made = site.engine().imrecv(entry->message, receipt.transfer.target());
    set_comm(*made, *receipt.comm);
    give_request(*made, request);
    return MPI_SUCCESS;
}

}  // namespace dlrt::mpi
