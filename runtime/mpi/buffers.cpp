// SPDX-License-Identifier: Apache-2.0
/// Chapter: buffered sends and their buffers.
#include "runtime/mpi/request_task.hpp"
#include "runtime/mpi/send_buffer.hpp"

#include <algorithm>
#include <mpi_functions.hpp>

namespace dlrt::mpi {
namespace {

/// The communicator's own buffer, else the process's.
int find_buffer(const Site& site, SendBufferRef& buffer) {
    buffer = site.comm().send_buffer;
    if (buffer == nullptr) buffer = process_send_buffer();
    if (buffer != nullptr) return MPI_SUCCESS;
    return site.bad(MPI_ERR_BUFFER, "no buffer is attached; call MPI_Buffer_attach first");
}

/// A message, checked and translated.
struct Outgoing {
    BufferArguments buffer;
    PeerArguments peer;
    BufferUse use;
    Transfer transfer;
};

int open(const Site& site, Outgoing& message) {
    message.transfer.comm = &site.comm();
    const int wrong = use_peer(site, Direction::send, message.peer, message.transfer);
    if (wrong != MPI_SUCCESS || message.peer.rank == MPI_PROC_NULL) return wrong;
    return use_buffer(site, message.buffer, message.use, message.transfer);
}

int send_buffered(const Site& site, const Outgoing& message) {
    if (message.peer.rank == MPI_PROC_NULL) return MPI_SUCCESS;
    SendBufferRef room;
    if (const int wrong = find_buffer(site, room)) return wrong;
    const FlightMark mark(site.surface(), record_of(Call::send, message.peer, message.transfer));
    return room->send(site, message.transfer);
}

/// A persistent buffered send: the engine has nothing to do for it.
class BufferedSend final : public RequestNote {
  public:
    BufferedSend(Comm& comm, const Outgoing& message)
        : RequestNote(comm), keeper_(comm.shared_from_this()), message_(message) {
        BufferUse& use = message_.use;
        if (message_.peer.rank == MPI_PROC_NULL) return;
        use.type.keeper = Surface::get().share(message_.buffer.type);
        message_.transfer.layout = use.moved != nullptr ? &use.moved : &use.type->layout;
    }
    [[nodiscard]] bool is_special() const override { return true; }
    [[nodiscard]] int begin() override {
        const Site site("MPI_Start", comm().handle);
        return site.ok() ? send_buffered(site, message_) : site.error();
    }

  private:
    CommRef keeper_;
    Outgoing message_;
};

int attach(const Site& site, void* base, MPI_Count size, SendBufferRef& place) {
    if (const int wrong = site.require_not_negative(size, "size", MPI_ERR_ARG)) return wrong;
    if (place != nullptr) return site.bad(MPI_ERR_BUFFER, "a buffer is attached already");
    if (base == nullptr && size > 0) return site.bad(MPI_ERR_BUFFER, "the buffer is null");
    place = std::make_shared<SendBuffer>(base, static_cast<std::uint64_t>(size));
    return MPI_SUCCESS;
}

int detach(const Site& site, void* address, const NumberResult& size, SendBufferRef& place) {
    if (const int wrong = site.require(address, "buffer_addr")) return wrong;
    if (size.is_null()) return site.bad(MPI_ERR_ARG, "size is null");
    const SendBufferRef buffer = std::move(place);
    place = nullptr;
    if (buffer != nullptr) buffer->flush(site.engine());
    *static_cast<void**>(address) = buffer != nullptr ? buffer->base() : nullptr;
    size.set(buffer != nullptr ? static_cast<std::int64_t>(buffer->size_bytes()) : 0);
    return MPI_SUCCESS;
}

int flush(const Site& site, const SendBufferRef& buffer) {
    if (buffer != nullptr) buffer->flush(site.engine());
    return MPI_SUCCESS;
}

/// Complete when all messages that were in the buffer are away.
class Flush final : public RequestTask {
  public:
    Flush(Comm& comm, const SendBufferRef& buffer)
        : RequestTask(comm, "flush of a buffer"), buffer_(buffer) {
        if (buffer_ != nullptr) requests_ = buffer_->on_their_way();
    }

    void restart(EngineInside&) override {}
    Progress advance(EngineInside&) override {
        const bool are_away = std::ranges::all_of(requests_, [](const RequestSeen& seen) {
            return seen.is_away();
        });
        return are_away ? Progress::over : Progress::waiting;
    }
    [[nodiscard]] Status outcome() const override { return {}; }

  private:
    SendBufferRef buffer_;
    std::vector<RequestSeen> requests_;
};

Request* start_flush(Comm& comm, const SendBufferRef& buffer) {
    return start_task(std::make_shared<Flush>(comm, buffer));
}

}  // namespace

int MPI_Bsend(
    const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm
) {
    const Site site("MPI_Bsend", comm);
    if (!site.ok()) return site.error();
    Outgoing message{{buf, count, datatype}, {dest, tag}, {}, {}};
    int wrong = open(site, message);
    if (wrong == MPI_SUCCESS) wrong = send_buffered(site, message);
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

int MPI_Ibsend(
    const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request* request
) {
    const Site site("MPI_Ibsend", comm);
    if (!site.ok()) return site.error();
    if (const int wrong = site.require(request, "request")) return site.raise(wrong);
    Outgoing message{{buf, count, datatype}, {dest, tag}, {}, {}};
    int wrong = open(site, message);
    if (wrong == MPI_SUCCESS) wrong = send_buffered(site, message);
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    Request* const made = site.engine().without_peer(RequestKind::send, Persistence::once);
    set_comm(*made, site.comm());
    give_request(*made, request);
    return MPI_SUCCESS;
}

int MPI_Bsend_init(
    const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request* request
) {
    const Site site("MPI_Bsend_init", comm);
    if (!site.ok()) return site.error();
    Outgoing message{{buf, count, datatype}, {dest, tag}, {}, {}};
    int wrong = site.require(request, "request");
    if (wrong == MPI_SUCCESS) wrong = open(site, message);
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    Request* const made = site.engine().without_peer(RequestKind::send, Persistence::persistent);
    set_note(*made, std::make_shared<BufferedSend>(site.comm(), message));
    give_request(*made, request);
    return MPI_SUCCESS;
}

int MPI_Buffer_attach(void* buffer, MPI_Count size) {
    const Site site("MPI_Buffer_attach");
    if (!site.ok()) return site.error();
    const int wrong = attach(site, buffer, size, process_send_buffer());
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

int MPI_Comm_attach_buffer(MPI_Comm comm, void* buffer, MPI_Count size) {
    const Site site("MPI_Comm_attach_buffer", comm);
    if (!site.ok()) return site.error();
    const int wrong = attach(site, buffer, size, site.comm().send_buffer);
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

int MPI_Buffer_detach(void* buffer_addr, NumberResult size) {
    const Site site("MPI_Buffer_detach");
    if (!site.ok()) return site.error();
    const int wrong = detach(site, buffer_addr, size, process_send_buffer());
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

int MPI_Comm_detach_buffer(MPI_Comm comm, void* buffer_addr, NumberResult size) {
    const Site site("MPI_Comm_detach_buffer", comm);
    if (!site.ok()) return site.error();
    const int wrong = detach(site, buffer_addr, size, site.comm().send_buffer);
    return wrong != MPI_SUCCESS ? site.raise(wrong) : MPI_SUCCESS;
}

int MPI_Buffer_flush() {
    const Site site("MPI_Buffer_flush");
    return site.ok() ? flush(site, process_send_buffer()) : site.error();
}

int MPI_Comm_flush_buffer(MPI_Comm comm) {
    const Site site("MPI_Comm_flush_buffer", comm);
    return site.ok() ? flush(site, site.comm().send_buffer) : site.error();
}

int MPI_Buffer_iflush(MPI_Request* request) {
    const Site site("MPI_Buffer_iflush");
    if (!site.ok()) return site.error();
    if (const int wrong = site.require(request, "request")) return site.raise(wrong);
    give_request(*start_flush(*site.surface().world, process_send_buffer()), request);
    return MPI_SUCCESS;
}

int MPI_Comm_iflush_buffer(MPI_Comm comm, MPI_Request* request) {
    const Site site("MPI_Comm_iflush_buffer", comm);
    if (!site.ok()) return site.error();
    if (const int wrong = site.require(request, "request")) return site.raise(wrong);
    give_request(*start_flush(site.comm(), site.comm().send_buffer), request);
    return MPI_SUCCESS;
}

}  // namespace dlrt::mpi
