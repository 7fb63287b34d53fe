// SPDX-License-Identifier: Apache-2.0
#include "runtime/mpi/send_buffer.hpp"

#include <new>

namespace dlrt::mpi {

SendBufferRef& process_send_buffer() {
    static auto* const buffer = new SendBufferRef;
    return *buffer;
}

void flush_all_send_buffers(Surface& surface) {
    SendBufferRef& process = process_send_buffer();
    if (process != nullptr) process->flush(*surface.engine);
    process = nullptr;
    surface.comms.for_each([&](Handle, const CommRef& comm) {
        if (comm->send_buffer != nullptr) comm->send_buffer->flush(*surface.engine);
    });
    for (const CommRef& comm : {surface.world, surface.self}) {
        if (comm->send_buffer != nullptr) comm->send_buffer->flush(*surface.engine);
    }
}

void SendBuffer::reclaim(Engine& engine) {
    std::erase_if(pieces_, [&](const Piece& piece) {
        const bool is_away = is_complete(*piece.request);
        if (is_away) engine.release(piece.request);
        return is_away;
    });
}

std::byte* SendBuffer::take_room(std::uint64_t bytes, std::size_t& place) {
    if (base_ == MPI_BUFFER_AUTOMATIC) {
        place = pieces_.size();
        Piece& piece = pieces_.emplace_back();
        piece.own.reset(new (std::nothrow) std::byte[bytes]);
        std::byte* const memory = piece.own.get();
        if (memory == nullptr) pieces_.pop_back();
        return memory;
    }
    std::uint64_t begin = 0;
    for (place = 0; place < pieces_.size(); ++place) {
        if (pieces_[place].begin_bytes - begin >= bytes) break;
        begin = pieces_[place].begin_bytes + pieces_[place].size_bytes;
    }
    if (begin > size_bytes_ || size_bytes_ - begin < bytes) return nullptr;
    Piece piece;
    piece.begin_bytes = begin;
    piece.size_bytes = bytes;
    pieces_.insert(pieces_.begin() + static_cast<std::ptrdiff_t>(place), std::move(piece));
    return static_cast<std::byte*>(base_) + begin;
}

int SendBuffer::send(const Site& site, const Transfer& transfer) {
    Engine& engine = site.engine();
    const std::uint64_t bytes = transfer.size_bytes;
    const LayoutRef& byte = Layout::of(ElementType::byte);
    if (bytes == 0) {
        engine.release(engine.isend(SendMode::standard, transfer.route(), {nullptr, 0, &byte}));
        return MPI_SUCCESS;
    }
    const std::scoped_lock guard(mutex_);
    reclaim(engine);
    std::size_t place = 0;
    std::byte* room = take_room(bytes, place);
    if (room == nullptr) {
        engine.progress();
        reclaim(engine);
        room = take_room(bytes, place);
    }
    if (room == nullptr) {
        return site.bad(
            MPI_ERR_BUFFER, "no room for {} bytes in the attached buffer of {} bytes, {} messages",
            bytes, size_bytes_, pieces_.size()
        );
    }
    pack(**transfer.layout, transfer.count, transfer.address, 0, {room, bytes});
    pieces_[place].request = engine.isend(
        SendMode::standard, transfer.route(), {room, bytes, &byte}
    );
    return MPI_SUCCESS;
}

void SendBuffer::flush(Engine& engine) {
    const std::scoped_lock guard(mutex_);
    for (const Piece& piece : pieces_) engine.wait(piece.request);
    reclaim(engine);
}

std::vector<RequestSeen> SendBuffer::on_their_way() {
    const std::scoped_lock guard(mutex_);
    std::vector<RequestSeen> requests;
    for (const Piece& piece : pieces_) requests.emplace_back(*piece.request);
    return requests;
}

}  // namespace dlrt::mpi
