// SPDX-License-Identifier: Apache-2.0
#include "transports/tcp/connection.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

namespace dlrt::tcp {
namespace {

/// The longest frame behind one that isn't released yet.
constexpr std::size_t buffer_bytes = 2 * (fragment_bytes_max + sizeof(FrameHeader));
constexpr std::size_t segments_at_once = 16;
/// Up to here a copy costs less than telling the system of two pieces.
constexpr std::size_t joined_bytes_max = 1024;

bool is_passing(int error) {
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR || error == ENOBUFS;
}

ssize_t send_pieces(int socket, std::span<iovec> pieces) {
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces.size();
    return ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

iovec piece_of(Bytes bytes) {
    // The system only reads it.
    return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

ssize_t send_joined(int socket, const FrameHeader& header, Bytes payload) {
    std::array<std::byte, sizeof header + joined_bytes_max> joined;
    std::memcpy(joined.data(), &header, sizeof header);
    if (!payload.empty())
        std::memcpy(joined.data() + sizeof header, payload.data(), payload.size());
    return ::send(
        socket, joined.data(), sizeof header + payload.size(), MSG_NOSIGNAL | MSG_DONTWAIT
    );
}

ssize_t send_both(int socket, const FrameHeader& header, Bytes payload) {
    std::array<iovec, 2> pieces = {
        piece_of(std::as_bytes(std::span(&header, 1))), piece_of(payload)};
    return send_pieces(socket, pieces);
}

}  // namespace

// ---- Outgoing ----

void Outgoing::note_error(int error) {
    if (!is_passing(error) && failure_.empty()) failure_ = std::strerror(error);
}

/// How much of header and payload together has gone.
std::size_t Outgoing::send_now(const FrameHeader& header, Bytes payload) {
    if (!segments_.empty() || !failure_.empty()) return 0;
    const ssize_t sent = payload.size() <= joined_bytes_max ? send_joined(socket_, header, payload)
                                                            : send_both(socket_, header, payload);
    if (sent >= 0) return static_cast<std::size_t>(sent);
    note_error(errno);
    return 0;
}

void Outgoing::keep(const FrameHeader& header, Bytes payload, std::size_t sent, bool copies) {
    const Bytes front = std::as_bytes(std::span(&header, 1));
    Segment copied;
    if (sent < front.size()) {
        const Bytes rest = front.subspan(sent);
        copied.copy.assign(rest.begin(), rest.end());
    }
    const Bytes payload_rest = payload.subspan(sent < front.size() ? 0 : sent - front.size());
    if (copies) copied.copy.insert(copied.copy.end(), payload_rest.begin(), payload_rest.end());
    if (!copied.copy.empty()) {
        segments_.push_back(std::move(copied));
        segments_.back().rest = segments_.back().copy;
    }
    if (!copies) segments_.push_back({{}, payload_rest, std::nullopt});
}

void Outgoing::send(const FrameHeader& header, Bytes payload) {
    const std::size_t sent = send_now(header, payload);
    if (sent < sizeof header + payload.size()) keep(header, payload, sent, true);
}

bool Outgoing::send_in_place(const FrameHeader& header, Bytes payload, OperationId id) {
    const std::size_t sent = send_now(header, payload);
    if (sent == sizeof header + payload.size()) return true;
    keep(header, payload, sent, false);
    segments_.back().id = id;
    return false;
}

void Outgoing::send_in_place(const FrameHeader& header, Bytes payload) {
    const std::size_t sent = send_now(header, payload);
    if (sent < sizeof header + payload.size()) keep(header, payload, sent, false);
}

void Outgoing::flush(std::vector<OperationId>& gone) {
    while (!segments_.empty() && failure_.empty()) {
        std::array<iovec, segments_at_once> pieces;
        std::size_t count = 0;
        for (; count < pieces.size() && count < segments_.size(); ++count) {
            pieces[count] = piece_of(segments_[count].rest);
        }
        const ssize_t sent = send_pieces(socket_, std::span(pieces).first(count));
        if (sent < 0) return note_error(errno);
        auto left = static_cast<std::size_t>(sent);
        while (!segments_.empty() && left >= segments_.front().rest.size()) {
            left -= segments_.front().rest.size();
            if (segments_.front().id) gone.push_back(*segments_.front().id);
            segments_.pop_front();
        }
        if (segments_.empty()) return;
        segments_.front().rest = segments_.front().rest.subspan(left);
        if (left > 0) return;
    }
}

std::vector<OperationId> Outgoing::abandon() {
    std::vector<OperationId> ids;
    for (const Segment& segment : segments_) {
        if (segment.id) ids.push_back(*segment.id);
    }
    segments_.clear();
    return ids;
}

// ---- Incoming ----

std::optional<FrameHeader> Incoming::header() const {
    FrameHeader header;
    if (end_ - begin_ < sizeof header) return std::nullopt;
    std::memcpy(&header, buffer_.get() + begin_, sizeof header);
    return header;
}

std::optional<Bytes> Incoming::payload(const FrameHeader& header) const {
    const Bytes there = unread().subspan(sizeof header);
    if (there.size() < header.payload_bytes) return std::nullopt;
    return there.first(header.payload_bytes);
}

void Incoming::place(MutableBytes target) {
    begin_ += sizeof(FrameHeader);
    const std::size_t there = std::min(end_ - begin_, target.size());
    if (there > 0) std::memcpy(target.data(), buffer_.get() + begin_, there);
    begin_ += there;
    target_ = target.subspan(there);
}

bool Incoming::take_count(ssize_t count) {
    if (count > 0) return true;
    if (count == 0) {
        failure_ = "the other end has closed it";
    } else if (!is_passing(errno)) {
        failure_ = std::strerror(errno);
    }
    return false;
}

bool Incoming::read() {
    if (!failure_.empty()) return false;
    if (!target_.empty()) {
        const ssize_t count = ::recv(socket_, target_.data(), target_.size(), MSG_DONTWAIT);
        if (!take_count(count)) return false;
        target_ = target_.subspan(static_cast<std::size_t>(count));
        may_have_left_something_ = target_.empty();
        return true;
    }
    if (buffer_ == nullptr) buffer_ = std::make_unique_for_overwrite<std::byte[]>(buffer_bytes);
    if (end_ == buffer_bytes) return false;
    const ssize_t count = ::recv(socket_, buffer_.get() + end_, buffer_bytes - end_, MSG_DONTWAIT);
    if (!take_count(count)) return false;
    end_ += static_cast<std::size_t>(count);
    may_have_left_something_ = end_ == buffer_bytes;
    return true;
}

bool Incoming::drain() {
    if (buffer_ == nullptr) buffer_ = std::make_unique_for_overwrite<std::byte[]>(buffer_bytes);
    ssize_t count = 0;
    do {
        count = ::recv(socket_, buffer_.get(), buffer_bytes, MSG_DONTWAIT);
    } while (count > 0);
    return count < 0 && is_passing(errno);
}

void Incoming::release() {
    if (begin_ == end_) {
        begin_ = end_ = 0;
    } else if (begin_ > buffer_bytes / 2) {
        std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
}

bool Incoming::has_something() const {
    if (is_placing()) return false;
    const auto next = header();
    return next && (next->kind == FrameKind::data || payload(*next));
}

// ---- What the system knows of a connection ----

bool is_unanswered(int socket) {
    constexpr std::uint32_t silence_ms = 14'000;
    tcp_info info{};
    socklen_t length = sizeof info;
    if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return false;
    const bool is_repeating = info.tcpi_unacked > 0 && info.tcpi_retransmits > 0;
    return (is_repeating || info.tcpi_probes > 0) && info.tcpi_last_ack_recv >= silence_ms;
}

bool is_all_confirmed(int socket) {
    int unconfirmed_bytes = 0;
    return ::ioctl(socket, SIOCOUTQ, &unconfirmed_bytes) != 0 || unconfirmed_bytes == 0;
}

}  // namespace dlrt::tcp
