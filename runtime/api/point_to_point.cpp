// SPDX-License-Identifier: Apache-2.0
/// Point to point: blocking, nonblocking and persistent forms of send and receive.
#include "runtime/api/arguments.hpp"
#include "runtime/api/call_group.hpp"
#include "runtime/api/outcome.hpp"
#include "runtime/api/request_list.hpp"

#include <memory>

namespace dlrt::api {
namespace {

// A function of the careful way takes what its function of dlrt.h takes, in the same order: so the
// short way leaves nearly everything in its register for it.

/// What the careful way keeps until the call returns.
struct Side : Transfer {
    LayoutUse keeper;
};

/// Finds the communicator, and leaves it where the short way of the next call finds it.
Status use_comm(const Site& site, dlrt_comm comm, Use<Communicator>& use) {
    const Status found = site.use(comm, use);
    Surface& surface = site.surface();
    if (found.ok() && !surface.is_shared) surface.note_recent(comm, use.pointer);
    return found;
}

/// REQUIRES: comm is valid.
Status use_side(
    const Site& site, Direction direction, const Communicator& comm, const PeerArguments& peer,
    const BufferArguments& buffer, Side& side
) {
    if (const Status bad = use_buffer(site, buffer, side.keeper, side.size_bytes); !bad.ok()) {
        return bad;
    }
    if (const Status bad = check_peer(site, direction, peer, comm); !bad.ok()) return bad;
    side.comm = &comm;
    side.layout = side.keeper.reference;
    if (peer.rank != DLRT_PROC_NULL) side.world_rank = route_to(comm, peer).peer;
    return {};
}

ConstBuffer source_of(const BufferArguments& buffer, const Transfer& transfer) {
    return {buffer.address, static_cast<std::uint64_t>(buffer.count), transfer.layout};
}
/// REQUIRES: the caller gave the buffer to be written.
Buffer target_of(const BufferArguments& buffer, const Transfer& transfer) {
    void* const address = const_cast<void*>(buffer.address);
    return {address, static_cast<std::uint64_t>(buffer.count), transfer.layout};
}

FlightRecorder::Operation record_of(
    Call call, const PeerArguments& peer, const BufferArguments& buffer, const Transfer& transfer
) {
    return {
        .call = call,
        .place = {peer.rank, peer.tag},
        .context = static_cast<std::uint64_t>(transfer.comm->user_context()),
        .size_bytes = transfer.size_bytes,
        .arguments_hash = hash_arguments(buffer.count, **transfer.layout, peer.tag),
    };
}

const Group* translation_pointer(const Communicator& comm) {
    return comm.is_identity() ? nullptr : comm.peers().get();
}

/// The record of a call that never waits, on the short way.
void note(const FlightRecorder::Operation& operation) {
    Surface::get().flight->enter_alone(operation, FlightState::finished);
}

struct Function {
    const char* name;
    Call call;
    SendMode mode = SendMode::standard;
};
constexpr Function send_function{"dlrt_send", Call::send};
constexpr Function ssend_function{"dlrt_ssend", Call::ssend, SendMode::synchronous};
constexpr Function isend_function{"dlrt_isend", Call::isend};
constexpr Function issend_function{"dlrt_issend", Call::issend, SendMode::synchronous};
constexpr Function recv_function{"dlrt_recv", Call::recv};
constexpr Function irecv_function{"dlrt_irecv", Call::irecv};
constexpr Function send_init_function{"dlrt_send_init", Call::isend};
constexpr Function ssend_init_function{"dlrt_ssend_init", Call::issend, SendMode::synchronous};
constexpr Function recv_init_function{"dlrt_recv_init", Call::irecv};

/// An error that the engine has just decided.
[[gnu::cold, gnu::noinline]] dlrt_err pass_error(const char* function, Status outcome) {
    return to_c(Site(function).pass(outcome));
}

template<const Function& function>
inline dlrt_err do_send(
    const BufferArguments& buffer, const PeerArguments& peer, const Transfer& transfer
) {
    const Status outcome = Surface::get().engine->send(
        function.mode, transfer.route(peer.tag), source_of(buffer, transfer)
    );
    return outcome.ok() ? DLRT_OK : pass_error(function.name, outcome);
}

template<const Function& function>
[[gnu::noinline]] dlrt_err send_carefully(
    const void* address, std::int64_t count, dlrt_type type, std::int32_t target, std::int32_t tag,
    dlrt_comm comm
) {
    const Site site(function.name);
    if (!site.is_ready()) return site.error();
    const BufferArguments buffer{address, count, type};
    const PeerArguments peer{target, tag};
    Use<Communicator> use;
    Side side;
    if (const Status bad = use_comm(site, comm, use); !bad.ok()) return to_c(bad);
    const Status bad = use_side(site, Direction::send, *use.pointer, peer, buffer, side);
    if (!bad.ok()) return to_c(bad);
    if (target == DLRT_PROC_NULL) return DLRT_OK;
    const FlightMark mark(site, record_of(function.call, peer, buffer, side));
    if (CallGroup* const group = CallGroup::open(site.surface()); group != nullptr) [[unlikely]] {
        group->send(site, function.mode, side.route(tag), source_of(buffer, side));
        return DLRT_OK;
    }
    return do_send<function>(buffer, peer, side);
}

template<const Function& function>
[[gnu::always_inline]] inline dlrt_err blocking_send(
    const void* address, std::int64_t count, dlrt_type type, std::int32_t target, std::int32_t tag,
    dlrt_comm comm
) {
    const BufferArguments buffer{address, count, type};
    const PeerArguments peer{target, tag};
    const Transfer transfer = plan_transfer(Surface::get(), Direction::send, buffer, peer, comm);
    if (transfer.layout == nullptr) [[unlikely]]
        return send_carefully<function>(address, count, type, target, tag, comm);
    // The engine opens the record again should it have to wait.
    note(record_of(function.call, peer, buffer, transfer));
    return do_send<function>(buffer, peer, transfer);
}

template<typename Mark>
inline dlrt_err do_recv(
    const BufferArguments& buffer, const PeerArguments& peer, const Transfer& transfer,
    dlrt_status* status
) {
    const Surface& surface = Surface::get();
    const Mark mark(surface, record_of(Call::recv, peer, buffer, transfer));
    MessageStatus found;
    const Status outcome = surface.engine->recv(
        transfer.route(peer.tag), target_of(buffer, transfer), found
    );
    write_status(found, translation_pointer(*transfer.comm), status);
    return outcome.ok() ? DLRT_OK : pass_error(recv_function.name, outcome);
}

[[gnu::noinline]] dlrt_err recv_carefully(
    void* address, std::int64_t count, dlrt_type type, PeerArguments peer, dlrt_comm comm,
    dlrt_status* status
) {
    const Site site(recv_function.name);
    if (!site.is_ready()) return site.error();
    const BufferArguments buffer{address, count, type};
    Use<Communicator> use;
    Side side;
    if (const Status bad = use_comm(site, comm, use); !bad.ok()) return to_c(bad);
    const Status bad = use_side(site, Direction::receive, *use.pointer, peer, buffer, side);
    if (!bad.ok()) return to_c(bad);
    if (peer.rank == DLRT_PROC_NULL) {
        write_no_peer_status(status);
        return DLRT_OK;
    }
    if (CallGroup* const group = CallGroup::open(site.surface()); group != nullptr) [[unlikely]] {
        const FlightMark mark(site, record_of(Call::recv, peer, buffer, side));
        group->recv(site, side.route(peer.tag), target_of(buffer, side), {*side.comm, status});
        return DLRT_OK;
    }
    return do_recv<FlightMark>(buffer, peer, side, status);
}

/// How a nonblocking or persistent form hands over to the engine.
enum class Form : std::uint8_t { immediate, persistent };

dlrt_err give_nothing(const Site& site, RequestKind kind, Form form, dlrt_request* request) {
    const bool is_persistent = form == Form::persistent;
    Request* const made = site.engine().without_peer(
        kind, is_persistent ? Persistence::persistent : Persistence::once
    );
    give_request(*made, request);
    return DLRT_OK;
}

template<const Function& function>
inline dlrt_err start_send(
    const BufferArguments& buffer, const PeerArguments& peer, const Transfer& transfer,
    dlrt_request* request
) {
    Request* const made = Surface::get().engine->isend(
        function.mode, transfer.route(peer.tag), source_of(buffer, transfer)
    );
    give_request(*made, request);
    return DLRT_OK;
}

template<const Function& function, Form form>
[[gnu::noinline]] dlrt_err make_send(
    const void* address, std::int64_t count, dlrt_type type, PeerArguments peer, dlrt_comm comm,
    dlrt_request* request
) {
    const Site site(function.name);
    if (!site.is_ready()) return site.error();
    const BufferArguments buffer{address, count, type};
    Use<Communicator> use;
    Side side;
    if (const Status bad = site.require(request, "request"); !bad.ok()) return to_c(bad);
    if (const Status bad = use_comm(site, comm, use); !bad.ok()) return to_c(bad);
    const Status bad = use_side(site, Direction::send, *use.pointer, peer, buffer, side);
    if (!bad.ok()) return to_c(bad);
    if (peer.rank == DLRT_PROC_NULL) return give_nothing(site, RequestKind::send, form, request);
    if constexpr (form == Form::immediate) {
        const FlightMark mark(site, record_of(function.call, peer, buffer, side));
        return start_send<function>(buffer, peer, side, request);
    } else {
        Request* const made = site.engine().send_init(
            function.mode, side.route(peer.tag), source_of(buffer, side)
        );
        give_request(*made, request);
        return DLRT_OK;
    }
}

template<const Function& function>
[[gnu::always_inline]] inline dlrt_err nonblocking_send(
    const void* address, std::int64_t count, dlrt_type type, PeerArguments peer, dlrt_comm comm,
    dlrt_request* request
) {
    const BufferArguments buffer{address, count, type};
    const Transfer transfer = plan_transfer(Surface::get(), Direction::send, buffer, peer, comm);
    if (transfer.layout == nullptr || request == nullptr) [[unlikely]]
        return make_send<function, Form::immediate>(address, count, type, peer, comm, request);
    note(record_of(function.call, peer, buffer, transfer));
    return start_send<function>(buffer, peer, transfer, request);
}

inline dlrt_err start_recv(
    const BufferArguments& buffer, const PeerArguments& peer, const Transfer& transfer,
    dlrt_request* request
) {
    const Surface& surface = Surface::get();
    Request* const made = surface.engine->irecv(
        transfer.route(peer.tag), target_of(buffer, transfer)
    );
    if (!transfer.comm->is_identity()) set_translation(*made, transfer.comm->peers());
    give_request(*made, request);
    return DLRT_OK;
}

template<const Function& function, Form form>
[[gnu::noinline]] dlrt_err make_recv(
    void* address, std::int64_t count, dlrt_type type, PeerArguments peer, dlrt_comm comm,
    dlrt_request* request
) {
    const Site site(function.name);
    if (!site.is_ready()) return site.error();
    const BufferArguments buffer{address, count, type};
    Use<Communicator> use;
    Side side;
    if (const Status bad = site.require(request, "request"); !bad.ok()) return to_c(bad);
    if (const Status bad = use_comm(site, comm, use); !bad.ok()) return to_c(bad);
    const Status bad = use_side(site, Direction::receive, *use.pointer, peer, buffer, side);
    if (!bad.ok()) return to_c(bad);
    if (peer.rank == DLRT_PROC_NULL) return give_nothing(site, RequestKind::receive, form, request);
    if constexpr (form == Form::immediate) {
        const FlightMark mark(site, record_of(function.call, peer, buffer, side));
        return start_recv(buffer, peer, side, request);
    } else {
        Request* const made = site.engine().recv_init(
            side.route(peer.tag), target_of(buffer, side)
        );
        if (!use.pointer->is_identity()) set_translation(*made, use.pointer->peers());
        give_request(*made, request);
        return DLRT_OK;
    }
}

/// A send and a receive that are complete together, checked and translated.
struct Exchange {
    BufferArguments source_buffer, target_buffer;
    PeerArguments target, source;
    Side sending, receiving;
};

/// REQUIRES: everything in `exchange` is checked.
Status run_exchange(
    const Site& site, const Communicator& comm, const Exchange& exchange, dlrt_status* status
) {
    const ConstBuffer outgoing = source_of(exchange.source_buffer, exchange.sending);
    const Buffer incoming = target_of(exchange.target_buffer, exchange.receiving);
    const bool has_target = exchange.target.rank != DLRT_PROC_NULL;
    const bool has_source = exchange.source.rank != DLRT_PROC_NULL;
    const FlightMark mark(
        site,
        has_source
            ? record_of(Call::sendrecv, exchange.source, exchange.target_buffer, exchange.receiving)
            : record_of(Call::sendrecv, exchange.target, exchange.source_buffer, exchange.sending)
    );
    const Route to = exchange.sending.route(exchange.target.tag);
    const Route from = exchange.receiving.route(exchange.source.tag);
    MessageStatus found;
    Status outcome;
    if (CallGroup* const group = CallGroup::open(site.surface()); group != nullptr) [[unlikely]] {
        if (has_source) group->recv(site, from, incoming, {comm, status});
        if (!has_source) write_no_peer_status(status);
        if (has_target) group->send(site, SendMode::standard, to, outgoing);
        return {};
    }
    if (has_target && has_source) {
        outcome = site.engine().sendrecv(to, outgoing, from, incoming, found);
    } else if (has_target) {
        outcome = site.engine().send(SendMode::standard, to, outgoing);
    } else if (has_source) {
        outcome = site.engine().recv(from, incoming, found);
    }
    if (has_source) {
        write_status(found, translation_pointer(comm), status);
    } else {
        write_no_peer_status(status);
    }
    if (!outcome.ok()) [[unlikely]]
        return site.pass(outcome);
    return {};
}

}  // namespace
}  // namespace dlrt::api

using namespace dlrt;
using namespace dlrt::api;

dlrt_err dlrt_send(
    const void* buffer, int64_t count, dlrt_type type, int32_t target, int32_t tag, dlrt_comm comm
) {
    return blocking_send<send_function>(buffer, count, type, target, tag, comm);
}

dlrt_err dlrt_ssend(
    const void* buffer, int64_t count, dlrt_type type, int32_t target, int32_t tag, dlrt_comm comm
) {
    return blocking_send<ssend_function>(buffer, count, type, target, tag, comm);
}

dlrt_err dlrt_recv(
    void* buffer, int64_t count, dlrt_type type, int32_t source, int32_t tag, dlrt_comm comm,
    dlrt_status* status
) {
    const BufferArguments arguments{buffer, count, type};
    const PeerArguments peer{source, tag};
    const Transfer transfer = plan_transfer(
        Surface::get(), Direction::receive, arguments, peer, comm
    );
    if (transfer.layout == nullptr) [[unlikely]]
        return recv_carefully(buffer, count, type, peer, comm, status);
    return do_recv<LoneFlightMark>(arguments, peer, transfer, status);
}

dlrt_err dlrt_sendrecv(
    const void* send_buffer, int64_t send_count, dlrt_type send_type, int32_t target,
    int32_t send_tag, void* recv_buffer, int64_t recv_count, dlrt_type recv_type, int32_t source,
    int32_t recv_tag, dlrt_comm comm, dlrt_status* status
) {
    const Site site("dlrt_sendrecv");
    if (!site.is_ready()) return site.error();
    Exchange exchange{
        {send_buffer, send_count, send_type},
        {recv_buffer, recv_count, recv_type},
        {target, send_tag},
        {source, recv_tag},
        {},
        {},
    };
    Use<Communicator> use;
    if (const Status bad = site.use(comm, use); !bad.ok()) return to_c(bad);
    Status bad = use_side(
        site, Direction::send, *use.pointer, exchange.target, exchange.source_buffer,
        exchange.sending
    );
    if (!bad.ok()) return to_c(bad);
    bad = use_side(
        site, Direction::receive, *use.pointer, exchange.source, exchange.target_buffer,
        exchange.receiving
    );
    if (!bad.ok()) return to_c(bad);
    return to_c(run_exchange(site, *use.pointer, exchange, status));
}

dlrt_err dlrt_sendrecv_replace(
    void* buffer, int64_t count, dlrt_type type, int32_t target, int32_t send_tag, int32_t source,
    int32_t recv_tag, dlrt_comm comm, dlrt_status* status
) {
    const Site site("dlrt_sendrecv_replace");
    if (!site.is_ready()) return site.error();
    const BufferArguments whole{buffer, count, type};
    Exchange exchange{whole, whole, {target, send_tag}, {source, recv_tag}, {}, {}};
    Use<Communicator> use;
    if (const Status bad = site.use(comm, use); !bad.ok()) return to_c(bad);
    Status bad = use_side(
        site, Direction::send, *use.pointer, exchange.target, whole, exchange.sending
    );
    if (!bad.ok()) return to_c(bad);
    bad = use_side(
        site, Direction::receive, *use.pointer, exchange.source, whole, exchange.receiving
    );
    if (!bad.ok()) return to_c(bad);

    // The copy that leaves is packed; as bytes it has the same packed stream.
    const std::uint64_t size_bytes = exchange.sending.size_bytes;
    std::unique_ptr<std::byte[]> copy(new (std::nothrow) std::byte[size_bytes]);
    if (!copy)
        return to_c(site.fail(Errc::no_memory, "no memory for a copy of {} bytes", size_bytes));
    pack(
        **exchange.sending.layout, static_cast<std::uint64_t>(count), buffer, 0,
        {copy.get(), size_bytes}
    );
    exchange.source_buffer = {copy.get(), static_cast<std::int64_t>(size_bytes), DLRT_BYTE};
    exchange.sending.layout = site.surface().elements[DLRT_BYTE.index];
    const Status outcome = run_exchange(site, *use.pointer, exchange, status);
    if (CallGroup* const group = CallGroup::open(site.surface()); group != nullptr) {
        group->keep(std::move(copy));
    }
    return to_c(outcome);
}

dlrt_err dlrt_isend(
    const void* buffer, int64_t count, dlrt_type type, int32_t target, int32_t tag, dlrt_comm comm,
    dlrt_request* request
) {
    return nonblocking_send<isend_function>(buffer, count, type, {target, tag}, comm, request);
}

dlrt_err dlrt_issend(
    const void* buffer, int64_t count, dlrt_type type, int32_t target, int32_t tag, dlrt_comm comm,
    dlrt_request* request
) {
    return nonblocking_send<issend_function>(buffer, count, type, {target, tag}, comm, request);
}

dlrt_err dlrt_irecv(
    void* buffer, int64_t count, dlrt_type type, int32_t source, int32_t tag, dlrt_comm comm,
    dlrt_request* request
) {
    const BufferArguments arguments{buffer, count, type};
    const PeerArguments peer{source, tag};
    const Transfer transfer = plan_transfer(
        Surface::get(), Direction::receive, arguments, peer, comm
    );
    if (transfer.layout == nullptr || request == nullptr) [[unlikely]]
        return make_recv<irecv_function, Form::immediate>(
            buffer, count, type, {source, tag}, comm, request
        );
    note(record_of(irecv_function.call, peer, arguments, transfer));
    return start_recv(arguments, peer, transfer, request);
}

dlrt_err dlrt_send_init(
    const void* buffer, int64_t count, dlrt_type type, int32_t target, int32_t tag, dlrt_comm comm,
    dlrt_request* request
) {
    return make_send<send_init_function, Form::persistent>(
        buffer, count, type, {target, tag}, comm, request
    );
}

dlrt_err dlrt_ssend_init(
    const void* buffer, int64_t count, dlrt_type type, int32_t target, int32_t tag, dlrt_comm comm,
    dlrt_request* request
) {
    return make_send<ssend_init_function, Form::persistent>(
        buffer, count, type, {target, tag}, comm, request
    );
}

dlrt_err dlrt_recv_init(
    void* buffer, int64_t count, dlrt_type type, int32_t source, int32_t tag, dlrt_comm comm,
    dlrt_request* request
) {
    return make_recv<recv_init_function, Form::persistent>(
        buffer, count, type, {source, tag}, comm, request
    );
}
