// SPDX-License-Identifier: Apache-2.0
/// The memory of buffered sends: messages lie there, packed, until they are away. Any thread.
#pragma once

#include "runtime/mpi/arguments.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace dlrt::mpi {

/// A message that may have gone, and its request with it, when it is looked at again.
class RequestSeen {
  public:
    explicit RequestSeen(const Request& request) : request_(&request), token_(request.token()) {}
    [[nodiscard]] bool is_away() const {
        return request_->token() != token_ || is_complete(*request_);
    }

  private:
    const Request* request_;
    RequestToken token_;
};

class SendBuffer {
  public:
    /// The caller's memory; MPI_BUFFER_AUTOMATIC: of the library's own, without a limit.
    SendBuffer(void* base, std::uint64_t size_bytes) : base_(base), size_bytes_(size_bytes) {}
    SendBuffer(const SendBuffer&) = delete;
    SendBuffer& operator=(const SendBuffer&) = delete;

    [[nodiscard]] void* base() const { return base_; }
    [[nodiscard]] std::uint64_t size_bytes() const { return size_bytes_; }

    /// Packs the data and sends it. Errors: MPI_ERR_BUFFER when there is no room.
    int send(const Site& site, const Transfer& transfer);
    /// Waits until all is away.
    void flush(Engine& engine);
    [[nodiscard]] std::vector<RequestSeen> on_their_way();

  private:
    struct Piece {
        std::uint64_t begin_bytes = 0;
        std::uint64_t size_bytes = 0;
        std::unique_ptr<std::byte[]> own;  ///< With MPI_BUFFER_AUTOMATIC.
        Request* request = nullptr;
    };

    void reclaim(Engine& engine);
    [[nodiscard]] std::byte* take_room(std::uint64_t bytes, std::size_t& place);

    void* base_;
    std::uint64_t size_bytes_;
    std::mutex mutex_;
    std::vector<Piece> pieces_;  ///< By where they begin.
};
using SendBufferRef = std::shared_ptr<SendBuffer>;

/// The process's; null where none is attached.
[[nodiscard]] SendBufferRef& process_send_buffer();
/// Before the end.
void flush_all_send_buffers(Surface& surface);

}  // namespace dlrt::mpi
