// SPDX-License-Identifier: Apache-2.0
/// An established connection: what is on its way out, what has come in and how far it has been
/// looked at. Never blocks. A failure stays: the connection is of no use any more.
#pragma once

#include "runtime/base/fd.hpp"
#include "transports/tcp/wire.hpp"
#include "transports/transport.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dlrt::tcp {

/// Why a connection has failed; empty while it hasn't.
using Failure = std::string;

class Outgoing {
  public:
    explicit Outgoing(int socket) : socket_(socket) {}

    /// What the socket doesn't take at once is copied.
    void send(const FrameHeader& header, Bytes payload);
    /// What the socket doesn't take at once is sent from where it lies: false, and `id` comes out
    /// of flush() when all of it has gone. True: all has gone.
    [[nodiscard]] bool send_in_place(const FrameHeader& header, Bytes payload, OperationId id);
    /// The same, and nobody wants to know when.
    void send_in_place(const FrameHeader& header, Bytes payload);

    /// Sends on; appends what has gone.
    void flush(std::vector<OperationId>& gone);
    [[nodiscard]] bool is_idle() const { return segments_.empty(); }
    [[nodiscard]] std::size_t segment_count() const { return segments_.size(); }
    [[nodiscard]] const Failure& failure() const { return failure_; }
    /// Nothing more is to go over it.
    void fail_because(Failure failure) {
        if (failure_.empty()) failure_ = std::move(failure);
    }
    /// The ids that will not come out of flush() any more.
    [[nodiscard]] std::vector<OperationId> abandon();

  private:
    struct Segment {
        std::vector<std::byte> copy;
        Bytes rest;
        std::optional<OperationId> id;
    };
    [[nodiscard]] std::size_t send_now(const FrameHeader& header, Bytes payload);
    void keep(const FrameHeader& header, Bytes payload, std::size_t sent, bool copies);
    void note_error(int error);

    int socket_;
    std::deque<Segment> segments_;
    Failure failure_;
};

class Incoming {
  public:
    explicit Incoming(int socket) : socket_(socket) {}

    /// The next frame if its header is there. REQUIRES: no data is being placed.
    [[nodiscard]] std::optional<FrameHeader> header() const;
    /// The payload of the next frame, if all of it is there.
    [[nodiscard]] std::optional<Bytes> payload(const FrameHeader& header) const;
    /// Behind the frame. Its payload stays where it is until release().
    void skip(const FrameHeader& header) { begin_ += sizeof header + header.payload_bytes; }

    /// The payload of the next frame goes there, as it comes. Behind the header already.
    void place(MutableBytes target);
    [[nodiscard]] bool is_placing() const { return !target_.empty(); }

    /// Reads what is there and fits; false: nothing came.
    [[nodiscard]] bool read();
    /// Whether the last read() has left something, as far as it could tell.
    [[nodiscard]] bool may_have_left_something() const { return may_have_left_something_; }
    /// What came makes no sense.
    void fail_because(Failure failure) { failure_ = std::move(failure); }
    /// Payloads handed out aren't looked at any more.
    void release();
    /// Whether a frame of a message, or a piece of data, is there already.
    [[nodiscard]] bool has_something() const;
    /// Reads and forgets what is there. False: nothing will come any more.
    [[nodiscard]] bool drain();
    [[nodiscard]] const Failure& failure() const { return failure_; }

  private:
    [[nodiscard]] Bytes unread() const { return {buffer_.get() + begin_, end_ - begin_}; }
    [[nodiscard]] bool take_count(ssize_t count);

    int socket_;
    std::unique_ptr<std::byte[]> buffer_;  ///< Made by the first read.
    std::size_t begin_ = 0;                ///< Of what hasn't been looked at,
    std::size_t end_ = 0;                  ///< and its end.
    MutableBytes target_;
    bool may_have_left_something_ = false;
    Failure failure_;
};

/// Whether the other host answers nothing any more of what it is sent or asked. A process that
/// doesn't read is something else: its system answers for it.
[[nodiscard]] bool is_unanswered(int socket);
/// Whether the other host has confirmed all that was sent.
[[nodiscard]] bool is_all_confirmed(int socket);

struct Connection {
    Connection(Fd connected, std::uint32_t number, std::string both_ends)
        : socket(std::move(connected)),
          out(socket.get()),
          in(socket.get()),
          peer(number),
          ends(std::move(both_ends)) {}

    Fd socket;
    Outgoing out;
    Incoming in;
    std::uint32_t peer;
    std::string ends;  ///< "from … to …"; the system forgets them when the connection ends.
    bool has_lent_payloads = false;  ///< Among the arrivals of the last poll.
    std::uint32_t quiet_polls = 0;   ///< Since something came.
    bool is_watched_for_room = false;
    bool is_lane = false;            ///< It carries nothing but data.
    std::uint32_t silent_looks = 0;  ///< In a row at which the other host answered nothing.
    bool has_said_goodbye = false;   ///< The other end.
    bool is_shut = false;            ///< Nothing more is sent.
    bool is_read_empty = false;      ///< The last look found no more than was taken.
    /// Of the data that is being placed.
    std::uint64_t placed_get = 0;
    std::uint64_t placed_bytes = 0;
    [[nodiscard]] const Failure& failure() const {
        return in.failure().empty() ? out.failure() : in.failure();
    }
};

}  // namespace dlrt::tcp
