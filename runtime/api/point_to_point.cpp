// SPDX-License-Identifier: Apache-2.0
/// Point to point: blocking, nonblocking and persistent forms of send and receive.
#include "runtime/api/arguments.hpp"
#include "runtime/api/outcome.hpp"

#include <memory>

namespace dlrt::api {
namespace {

/// One side of a transfer, checked and translated.
struct Side {
    LayoutUse layout;
    std::uint64_t size_bytes = 0;
    Route route;
};

/// REQUIRES: comm is valid.
[[gnu::always_inline]] inline Status use_side(
    const Site& site, Direction direction, const Communicator& comm, const PeerArguments& peer,
    const BufferArguments& buffer, Side& side
) {
    if (const Status bad = use_buffer(site, buffer, side.layout, side.size_bytes); !bad.ok()) {
        return bad;
    }
    if (const Status bad = check_peer(site, direction, peer, comm); !bad.ok()) return bad;
    if (peer.rank != DLRT_PROC_NULL) side.route = route_to(comm, peer);
    return {};
}

ConstBuffer source_of(const BufferArguments& buffer, const Side& side) {
    return {buffer.address, static_cast<std::uint64_t>(buffer.count), side.layout.reference};
}
/// REQUIRES: the caller gave the buffer to be written.
Buffer target_of(const BufferArguments& buffer, const Side& side) {
    void* const address = const_cast<void*>(buffer.address);
    return {address, static_cast<std::uint64_t>(buffer.count), side.layout.reference};
}

FlightRecorder::Operation record_of(
    Call call, const PeerArguments& peer, const BufferArguments& buffer, const Side& side
) {
    return {
        .call = call,
        .peer = peer.rank,
        .tag = peer.tag,
        .context = static_cast<std::uint64_t>(side.route.context),
        .size_bytes = side.size_bytes,
        .arguments_hash = hash_arguments(buffer.count, side.layout.layout(), peer.tag),
    };
}

struct Function {
    const char* name;
    Call call;
    SendMode mode = SendMode::standard;
};

inline dlrt_err blocking_send(
    const Function& function, const BufferArguments& buffer, const PeerArguments& peer,
    dlrt_comm comm
) {
    const Site site(function.name);
    if (!site.is_ready()) return site.error();
    Use<Communicator> use;
    Side side;
    if (const Status bad = site.use(comm, use); !bad.ok()) return to_c(bad);
    const Status bad = use_side(site, Direction::send, *use.pointer, peer, buffer, side);
    if (!bad.ok()) return to_c(bad);
    if (peer.rank == DLRT_PROC_NULL) return DLRT_OK;

    const FlightMark mark(site, record_of(function.call, peer, buffer, side));
    const Status outcome = site.engine().send(function.mode, side.route, source_of(buffer, side));
    if (!outcome.ok()) [[unlikely]]
        return to_c(site.pass(outcome));
    return DLRT_OK;
}

/// How a nonblocking or persistent form hands over to the engine.
enum class Form : std::uint8_t { immediate, persistent };

/// Puts a request behind a handle; null for DLRT_PROC_NULL.
dlrt_err give_request(const Site& site, RequestEntry entry, dlrt_request* request) {
    Request* const made = entry.request;
    const Status bad = site.give(std::move(entry), request);
    if (!bad.ok() && made != nullptr) site.engine().release(made);
    return to_c(bad);
}

inline dlrt_err make_send(
    const Function& function, Form form, const BufferArguments& buffer, const PeerArguments& peer,
    dlrt_comm comm, dlrt_request* request
) {
    const Site site(function.name);
    if (!site.is_ready()) return site.error();
    Use<Communicator> use;
    Side side;
    if (const Status bad = site.require(request, "request"); !bad.ok()) return to_c(bad);
    if (const Status bad = site.use(comm, use); !bad.ok()) return to_c(bad);
    const Status bad = use_side(site, Direction::send, *use.pointer, peer, buffer, side);
    if (!bad.ok()) return to_c(bad);

    RequestEntry entry;
    entry.is_persistent = form == Form::persistent;
    entry.is_active = form == Form::immediate;
    if (peer.rank == DLRT_PROC_NULL) return give_request(site, std::move(entry), request);
    if (form == Form::persistent) {
        entry.request = site.engine().send_init(function.mode, side.route, source_of(buffer, side));
    } else {
        const FlightMark mark(site, record_of(function.call, peer, buffer, side));
        entry.request = site.engine().isend(function.mode, side.route, source_of(buffer, side));
    }
    return give_request(site, std::move(entry), request);
}

inline dlrt_err make_recv(
    const Function& function, Form form, const BufferArguments& buffer, const PeerArguments& peer,
    dlrt_comm comm, dlrt_request* request
) {
    const Site site(function.name);
    if (!site.is_ready()) return site.error();
    Use<Communicator> use;
    Side side;
    if (const Status bad = site.require(request, "request"); !bad.ok()) return to_c(bad);
    if (const Status bad = site.use(comm, use); !bad.ok()) return to_c(bad);
    const Status bad = use_side(site, Direction::receive, *use.pointer, peer, buffer, side);
    if (!bad.ok()) return to_c(bad);

    RequestEntry entry;
    entry.direction = Direction::receive;
    entry.is_persistent = form == Form::persistent;
    entry.is_active = form == Form::immediate;
    if (peer.rank == DLRT_PROC_NULL) return give_request(site, std::move(entry), request);
    entry.translation = translation_of(*use.pointer);
    if (form == Form::persistent) {
        entry.request = site.engine().recv_init(side.route, target_of(buffer, side));
    } else {
        const FlightMark mark(site, record_of(function.call, peer, buffer, side));
        entry.request = site.engine().irecv(side.route, target_of(buffer, side));
    }
    return give_request(site, std::move(entry), request);
}

const Group* translation_pointer(const Communicator& comm) {
    return comm.is_identity() ? nullptr : comm.group().get();
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
    MessageStatus found;
    Status outcome;
    if (has_target && has_source) {
        outcome = site.engine().sendrecv(
            exchange.sending.route, outgoing, exchange.receiving.route, incoming, found
        );
    } else if (has_target) {
        outcome = site.engine().send(SendMode::standard, exchange.sending.route, outgoing);
    } else if (has_source) {
        outcome = site.engine().recv(exchange.receiving.route, incoming, found);
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
    return blocking_send({"dlrt_send", Call::send}, {buffer, count, type}, {target, tag}, comm);
}

dlrt_err dlrt_ssend(
    const void* buffer, int64_t count, dlrt_type type, int32_t target, int32_t tag, dlrt_comm comm
) {
    return blocking_send(
        {"dlrt_ssend", Call::ssend, SendMode::synchronous}, {buffer, count, type}, {target, tag},
        comm
    );
}

dlrt_err dlrt_recv(
    void* buffer, int64_t count, dlrt_type type, int32_t source, int32_t tag, dlrt_comm comm,
    dlrt_status* status
) {
    const Site site("dlrt_recv");
    if (!site.is_ready()) return site.error();
    const BufferArguments arguments{buffer, count, type};
    const PeerArguments peer{source, tag};
    Use<Communicator> use;
    Side side;
    if (const Status bad = site.use(comm, use); !bad.ok()) return to_c(bad);
    const Status bad = use_side(site, Direction::receive, *use.pointer, peer, arguments, side);
    if (!bad.ok()) return to_c(bad);
    if (source == DLRT_PROC_NULL) {
        write_no_peer_status(status);
        return DLRT_OK;
    }
    const FlightMark mark(site, record_of(Call::recv, peer, arguments, side));
    MessageStatus found;
    const Status outcome = site.engine().recv(side.route, target_of(arguments, side), found);
    write_status(found, translation_pointer(*use.pointer), status);
    if (!outcome.ok()) [[unlikely]]
        return to_c(site.pass(outcome));
    return DLRT_OK;
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
    const std::unique_ptr<std::byte[]> copy(new (std::nothrow) std::byte[size_bytes]);
    if (!copy)
        return to_c(site.fail(Errc::no_memory, "no memory for a copy of {} bytes", size_bytes));
    pack(
        exchange.sending.layout.layout(), static_cast<std::uint64_t>(count), buffer, 0,
        {copy.get(), size_bytes}
    );
    exchange.source_buffer = {copy.get(), static_cast<std::int64_t>(size_bytes), DLRT_BYTE};
    exchange.sending.layout.reference = site.surface().elements[DLRT_BYTE.index];
    return to_c(run_exchange(site, *use.pointer, exchange, status));
}

dlrt_err dlrt_isend(
    const void* buffer, int64_t count, dlrt_type type, int32_t target, int32_t tag, dlrt_comm comm,
    dlrt_request* request
) {
    return make_send(
        {"dlrt_isend", Call::isend}, Form::immediate, {buffer, count, type}, {target, tag}, comm,
        request
    );
}

dlrt_err dlrt_issend(
    const void* buffer, int64_t count, dlrt_type type, int32_t target, int32_t tag, dlrt_comm comm,
    dlrt_request* request
) {
    return make_send(
        {"dlrt_issend", Call::issend, SendMode::synchronous}, Form::immediate,
        {buffer, count, type}, {target, tag}, comm, request
    );
}

dlrt_err dlrt_irecv(
    void* buffer, int64_t count, dlrt_type type, int32_t source, int32_t tag, dlrt_comm comm,
    dlrt_request* request
) {
    return make_recv(
        {"dlrt_irecv", Call::irecv}, Form::immediate, {buffer, count, type}, {source, tag}, comm,
        request
    );
}

dlrt_err dlrt_send_init(
    const void* buffer, int64_t count, dlrt_type type, int32_t target, int32_t tag, dlrt_comm comm,
    dlrt_request* request
) {
    return make_send(
        {"dlrt_send_init", Call::isend}, Form::persistent, {buffer, count, type}, {target, tag},
        comm, request
    );
}

dlrt_err dlrt_ssend_init(
    const void* buffer, int64_t count, dlrt_type type, int32_t target, int32_t tag, dlrt_comm comm,
    dlrt_request* request
) {
    return make_send(
        {"dlrt_ssend_init", Call::issend, SendMode::synchronous}, Form::persistent,
        {buffer, count, type}, {target, tag}, comm, request
    );
}

dlrt_err dlrt_recv_init(
    void* buffer, int64_t count, dlrt_type type, int32_t source, int32_t tag, dlrt_comm comm,
    dlrt_request* request
) {
    return make_recv(
        {"dlrt_recv_init", Call::irecv}, Form::persistent, {buffer, count, type}, {source, tag},
        comm, request
    );
}
