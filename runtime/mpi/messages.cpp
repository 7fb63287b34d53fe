// SPDX-License-Identifier: Apache-2.0
/// Chapter: point to point. Send, receive and both together, each blocking, nonblocking,
/// persistent.
#include "runtime/mpi/arguments.hpp"
#include "runtime/mpi/exchange.hpp"
#include "runtime/mpi/request_site.hpp"

#include <mpi_functions.hpp>

namespace dlrt::mpi {
namespace {

struct Function {
    const char* name;
    Call call;
    SendMode mode = SendMode::standard;
};
constexpr Function send_function{"MPI_Send", Call::send};
constexpr Function ssend_function{"MPI_Ssend", Call::ssend, SendMode::synchronous};
constexpr Function rsend_function{"MPI_Rsend", Call::send};
constexpr Function isend_function{"MPI_Isend", Call::isend};
constexpr Function issend_function{"MPI_Issend", Call::issend, SendMode::synchronous};
constexpr Function irsend_function{"MPI_Irsend", Call::isend};
constexpr Function send_init_function{"MPI_Send_init", Call::isend};
constexpr Function ssend_init_function{"MPI_Ssend_init", Call::issend, SendMode::synchronous};
constexpr Function rsend_init_function{"MPI_Rsend_init", Call::isend};

/// The record of a call that never waits, on the short way.
void note(const FlightRecorder::Operation& operation) {
    Surface::get().flight->enter_alone(operation, FlightState::finished);
}

/// One side of a message as its caller describes it, and what of it is kept until the call returns.
struct Side {
    BufferArguments buffer;
    PeerArguments peer;
    BufferUse use;
    Transfer transfer;

    [[nodiscard]] bool is_nobody() const { return peer.rank == MPI_PROC_NULL; }
};

int use_side(const Site& site, Direction direction, Side& side) {
    side.transfer.comm = &site.comm();
    if (const int wrong = use_peer(site, direction, side.peer, side.transfer)) return wrong;
    if (side.is_nobody()) return MPI_SUCCESS;
    return use_buffer(site, side.buffer, side.use, side.transfer);
}

template<const Function& function>
inline int do_send(const Transfer& transfer) {
    const Status outcome = Surface::get().engine->send(
        function.mode, transfer.route(), transfer.source()
    );
    if (outcome.ok()) [[likely]]
        return MPI_SUCCESS;
    return raise_on(transfer.comm, function.name, class_of(outcome));
}

template<const Function& function>
[[gnu::noinline]] int send_carefully(
    const BufferArguments& buffer, const PeerArguments& peer, MPI_Comm comm
) {
    const Site site(function.name, comm);
    if (!site.ok()) return site.error();
    Side side{buffer, peer, {}, {}};
    if (const int wrong = use_side(site, Direction::send, side)) return site.raise(wrong);
    if (side.is_nobody()) return MPI_SUCCESS;
    const FlightMark mark(site.surface(), record_of(function.call, peer, side.transfer));
    return do_send<function>(side.transfer);
}

template<const Function& function>
[[gnu::always_inline]] inline int blocking_send(
    const BufferArguments& buffer, const PeerArguments& peer, MPI_Comm comm
) {
    const Transfer transfer = plan_transfer(Surface::get(), Direction::send, buffer, peer, comm);
    if (transfer.layout == nullptr) [[unlikely]]
        return send_carefully<function>(buffer, peer, comm);
    // The engine opens the record again should it have to wait.
    note(record_of(function.call, peer, transfer));
    return do_send<function>(transfer);
}

int do_recv(const Transfer& transfer, MPI_Status* status) {
    MessageStatus found;
    const Status outcome = Surface::get().engine->recv(transfer.route(), transfer.target(), found);
    write_found(found, *transfer.comm->core, status);
    if (outcome.ok()) [[likely]]
        return MPI_SUCCESS;
    return raise_on(transfer.comm, "MPI_Recv", class_of(outcome));
}

[[gnu::noinline]] int recv_carefully(
    const BufferArguments& buffer, const PeerArguments& peer, MPI_Comm comm, MPI_Status* status
) {
    const Site site("MPI_Recv", comm);
    if (!site.ok()) return site.error();
    Side side{buffer, peer, {}, {}};
    if (const int wrong = use_side(site, Direction::receive, side)) return site.raise(wrong);
    if (side.is_nobody()) {
        write_no_peer_status(status);
        return MPI_SUCCESS;
    }
    const FlightMark mark(site.surface(), record_of(Call::recv, peer, side.transfer));
    return do_recv(side.transfer, status);
}

int give_nothing(
    const Site& site, RequestKind kind, Persistence persistence, MPI_Request* request
) {
    Request* const made = site.engine().without_peer(kind, persistence);
    set_comm(*made, site.comm());
    give_request(*made, request);
    return MPI_SUCCESS;
}

template<const Function& function>
inline int start_send(const Transfer& transfer, MPI_Request* request) {
    Request* const made = Surface::get().engine->isend(
        function.mode, transfer.route(), transfer.source()
    );
    set_comm(*made, *transfer.comm);
    give_request(*made, request);
    return MPI_SUCCESS;
}

template<const Function& function, Persistence persistence>
[[gnu::noinline]] int make_send(
    const BufferArguments& buffer, const PeerArguments& peer, MPI_Comm comm, MPI_Request* request
) {
    const Site site(function.name, comm);
    if (!site.ok()) return site.error();
    Side side{buffer, peer, {}, {}};
    if (const int wrong = site.require(request, "request")) return site.raise(wrong);
    if (const int wrong = use_side(site, Direction::send, side)) return site.raise(wrong);
    if (side.is_nobody()) return give_nothing(site, RequestKind::send, persistence, request);
    if constexpr (persistence == Persistence::once) {
        const FlightMark mark(site.surface(), record_of(function.call, peer, side.transfer));
        return start_send<function>(side.transfer, request);
    } else {
        Request* const made = site.engine().send_init(
            function.mode, side.transfer.route(), side.transfer.source()
        );
        set_comm(*made, site.comm());
        give_request(*made, request);
        return MPI_SUCCESS;
    }
}

template<const Function& function>
[[gnu::always_inline]] inline int nonblocking_send(
    const BufferArguments& buffer, const PeerArguments& peer, MPI_Comm comm, MPI_Request* request
) {
    const Transfer transfer = plan_transfer(Surface::get(), Direction::send, buffer, peer, comm);
    if (transfer.layout == nullptr || request == nullptr) [[unlikely]]
        return make_send<function, Persistence::once>(buffer, peer, comm, request);
    note(record_of(function.call, peer, transfer));
    return start_send<function>(transfer, request);
}

inline int start_recv(const Transfer& transfer, MPI_Request* request) {
    Request* const made = Surface::get().engine->irecv(transfer.route(), transfer.target());
    set_comm(*made, *transfer.comm);
    give_request(*made, request);
    return MPI_SUCCESS;
}

template<Persistence persistence>
[[gnu::noinline]] int make_recv(
    const BufferArguments& buffer, const PeerArguments& peer, MPI_Comm comm, MPI_Request* request
) {
    constexpr bool is_once = persistence == Persistence::once;
    const Site site(is_once ? "MPI_Irecv" : "MPI_Recv_init", comm);
    if (!site.ok()) return site.error();
    Side side{buffer, peer, {}, {}};
    if (const int wrong = site.require(request, "request")) return site.raise(wrong);
    if (const int wrong = use_side(site, Direction::receive, side)) return site.raise(wrong);
    if (side.is_nobody()) return give_nothing(site, RequestKind::receive, persistence, request);
    if constexpr (is_once) {
        const FlightMark mark(site.surface(), record_of(Call::irecv, peer, side.transfer));
        return start_recv(side.transfer, request);
    } else {
        Request* const made = site.engine().recv_init(
            side.transfer.route(), side.transfer.target()
        );
        set_comm(*made, site.comm());
        give_request(*made, request);
        return MPI_SUCCESS;
    }
}

/// A send and a receive that are complete together.
struct Pair {
    Side sending, receiving;
};

int use_pair(const Site& site, Pair& pair) {
    if (const int wrong = use_side(site, Direction::send, pair.sending)) return wrong;
    return use_side(site, Direction::receive, pair.receiving);
}

int run_pair(const Site& site, const Pair& pair, MPI_Status* status) {
    const Transfer& out = pair.sending.transfer;
    const Transfer& in = pair.receiving.transfer;
    const bool has_target = !pair.sending.is_nobody();
    const bool has_source = !pair.receiving.is_nobody();
    const FlightMark mark(
        site.surface(), has_source ? record_of(Call::sendrecv, pair.receiving.peer, in)
                                   : record_of(Call::sendrecv, pair.sending.peer, out)
    );
    MessageStatus found;
    Status outcome;
    if (has_target && has_source) {
        outcome = site.engine().sendrecv(out.route(), out.source(), in.route(), in.target(), found);
    } else if (has_target) {
        outcome = site.engine().send(SendMode::standard, out.route(), out.source());
    } else if (has_source) {
        outcome = site.engine().recv(in.route(), in.target(), found);
    }
    if (has_source) {
        write_found(found, site.core(), status);
    } else {
        write_no_peer_status(status);
    }
    return site.raise(outcome);
}

[[gnu::noinline]] int sendrecv_carefully(
    const Side& sending, const Side& receiving, MPI_Comm comm, MPI_Status* status
) {
    const Site site("MPI_Sendrecv", comm);
    if (!site.ok()) return site.error();
    Pair pair{sending, receiving};
    if (const int wrong = use_pair(site, pair)) return site.raise(wrong);
    return run_pair(site, pair, status);
}

int start_pair(
    const Site& site, const Pair& pair, std::unique_ptr<std::byte[]> copy, MPI_Request* request
) {
    ExchangeSides sides;
    if (!pair.sending.is_nobody()) {
        sides.target = pair.sending.transfer.route();
        sides.source_buffer = pair.sending.transfer.source();
    }
    if (!pair.receiving.is_nobody()) {
        sides.source = pair.receiving.transfer.route();
        sides.target_buffer = pair.receiving.transfer.target();
    }
    const FlightMark mark(site.surface(), record_of(Call::sendrecv, site.core()));
    Request* const made = start_exchange(site.comm(), sides, std::move(copy));
    give_request(*made, request);
    return MPI_SUCCESS;
}

/// What leaves a buffer that is received into meanwhile: a packed copy. As bytes it has the same
/// stream.
int copy_outgoing(const Site& site, Pair& pair, std::unique_ptr<std::byte[]>& copy) {
    Transfer& out = pair.sending.transfer;
    if (pair.sending.is_nobody() || out.size_bytes == 0) return MPI_SUCCESS;
    copy.reset(new (std::nothrow) std::byte[out.size_bytes]);
    if (copy == nullptr) {
        return site.bad(MPI_ERR_NO_MEM, "no memory for a copy of {} bytes", out.size_bytes);
    }
    pack(**out.layout, out.count, out.address, 0, {copy.get(), out.size_bytes});
    out.address = copy.get();
    out.count = out.size_bytes;
    out.layout = &Layout::of(ElementType::byte);
    return MPI_SUCCESS;
}

}  // namespace

int MPI_Send(
    const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm
) {
    return blocking_send<send_function>({buf, count, datatype}, {dest, tag}, comm);
}

int MPI_Ssend(
    const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm
) {
    return blocking_send<ssend_function>({buf, count, datatype}, {dest, tag}, comm);
}

int MPI_Rsend(
    const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm
) {
    return blocking_send<rsend_function>({buf, count, datatype}, {dest, tag}, comm);
}

int MPI_Recv(
    void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
    MPI_Status* status
) {
    const BufferArguments buffer{buf, count, datatype};
    const PeerArguments peer{source, tag};
    Surface& surface = Surface::get();
    const Transfer transfer = plan_transfer(surface, Direction::receive, buffer, peer, comm);
    if (transfer.layout == nullptr) [[unlikely]]
        return recv_carefully(buffer, peer, comm, status);
    FlightRecorder& flight = *surface.flight;
    const std::uint64_t sequence = flight.enter_alone(record_of(Call::recv, peer, transfer));
    const int code = do_recv(transfer, status);
    flight.finish_alone(sequence);
    return code;
}

int MPI_Isend(
    const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request* request
) {
    return nonblocking_send<isend_function>({buf, count, datatype}, {dest, tag}, comm, request);
}

int MPI_Issend(
    const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request* request
) {
    return nonblocking_send<issend_function>({buf, count, datatype}, {dest, tag}, comm, request);
}

int MPI_Irsend(
    const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request* request
) {
    return nonblocking_send<irsend_function>({buf, count, datatype}, {dest, tag}, comm, request);
}

int MPI_Irecv(
    void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
    MPI_Request* request
) {
    const BufferArguments buffer{buf, count, datatype};
    const PeerArguments peer{source, tag};
    const Transfer transfer = plan_transfer(Surface::get(), Direction::receive, buffer, peer, comm);
    if (transfer.layout == nullptr || request == nullptr) [[unlikely]]
        return make_recv<Persistence::once>(buffer, peer, comm, request);
    note(record_of(Call::irecv, peer, transfer));
    return start_recv(transfer, request);
}

int MPI_Send_init(
    const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request* request
) {
    return make_send<send_init_function, Persistence::persistent>(
        {buf, count, datatype}, {dest, tag}, comm, request
    );
}

int MPI_Ssend_init(
    const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request* request
) {
    return make_send<ssend_init_function, Persistence::persistent>(
        {buf, count, datatype}, {dest, tag}, comm, request
    );
}

int MPI_Rsend_init(
    const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request* request
) {
    return make_send<rsend_init_function, Persistence::persistent>(
        {buf, count, datatype}, {dest, tag}, comm, request
    );
}

int MPI_Recv_init(
    void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
    MPI_Request* request
) {
    return make_recv<Persistence::persistent>({buf, count, datatype}, {source, tag}, comm, request);
}

int MPI_Sendrecv(
    const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
    MPI_Comm comm, MPI_Status* status
) {
    const BufferArguments input{sendbuf, sendcount, sendtype};
    const BufferArguments output{recvbuf, recvcount, recvtype};
    const PeerArguments target{dest, sendtag};
    const PeerArguments sender{source, recvtag};
    Surface& surface = Surface::get();
    const Transfer out = plan_transfer(surface, Direction::send, input, target, comm);
    const Transfer in = plan_transfer(surface, Direction::receive, output, sender, comm);
    if (out.layout == nullptr || in.layout == nullptr) [[unlikely]] {
        return sendrecv_carefully({input, target, {}, {}}, {output, sender, {}, {}}, comm, status);
    }
    FlightRecorder& flight = *surface.flight;
    const std::uint64_t sequence = flight.enter_alone(record_of(Call::sendrecv, sender, in));
    MessageStatus found;
    const Status outcome = surface.engine->sendrecv(
        out.route(), out.source(), in.route(), in.target(), found
    );
    write_found(found, *in.comm->core, status);
    flight.finish_alone(sequence);
    return outcome.ok() ? MPI_SUCCESS : raise_on(in.comm, "MPI_Sendrecv", class_of(outcome));
}

int MPI_Isendrecv(
    const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
    void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
    MPI_Comm comm, MPI_Request* request
) {
    const Site site("MPI_Isendrecv", comm);
    if (!site.ok()) return site.error();
    if (const int wrong = site.require(request, "request")) return site.raise(wrong);
    Pair pair{
        {{sendbuf, sendcount, sendtype}, {dest, sendtag}, {}, {}},
        {{recvbuf, recvcount, recvtype}, {source, recvtag}, {}, {}}};
    if (const int wrong = use_pair(site, pair)) return site.raise(wrong);
    return start_pair(site, pair, nullptr, request);
}

int MPI_Sendrecv_replace(
    void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source,
    int recvtag, MPI_Comm comm, MPI_Status* status
) {
    const Site site("MPI_Sendrecv_replace", comm);
    if (!site.ok()) return site.error();
    const BufferArguments whole{buf, count, datatype};
    Pair pair{{whole, {dest, sendtag}, {}, {}}, {whole, {source, recvtag}, {}, {}}};
    std::unique_ptr<std::byte[]> copy;
    if (const int wrong = use_pair(site, pair)) return site.raise(wrong);
    if (const int wrong = copy_outgoing(site, pair, copy)) return site.raise(wrong);
    return run_pair(site, pair, status);
}

int MPI_Isendrecv_replace(
    void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source,
    int recvtag, MPI_Comm comm, MPI_Request* request
) {
    const Site site("MPI_Isendrecv_replace", comm);
    if (!site.ok()) return site.error();
    if (const int wrong = site.require(request, "request")) return site.raise(wrong);
    const BufferArguments whole{buf, count, datatype};
    Pair pair{{whole, {dest, sendtag}, {}, {}}, {whole, {source, recvtag}, {}, {}}};
    std::unique_ptr<std::byte[]> copy;
    if (const int wrong = use_pair(site, pair)) return site.raise(wrong);
    if (const int wrong = copy_outgoing(site, pair, copy)) return site.raise(wrong);
    return start_pair(site, pair, std::move(copy), request);
}

}  // namespace dlrt::mpi
