// SPDX-License-Identifier: Apache-2.0
/// Control messages to bytes and back, as format.md says. Pure.
#include "runtime/wireup/message.hpp"

#include "runtime/base/byte_io.hpp"
#include "runtime/base/check.hpp"
#include "runtime/base/error_text.hpp"

namespace dlrt {
namespace {

constexpr std::uint32_t message_magic = 0x4d524c44;  // "DLRM"

/// On the wire; fixed for ever, so they don't follow the order of the variant.
enum class MessageType : std::uint16_t {
    hello = 1,
    welcome = 2,
    refused = 3,
    abort = 4,
    finalized = 5,
    put_address = 6,
    get_address = 7,
    address = 8,
    get_doorbell = 9,
    doorbell_reply = 10,
    connect_back = 11,
};

MessageType type_of(const Hello&) {
    return MessageType::hello;
}
MessageType type_of(const Welcome&) {
    return MessageType::welcome;
}
MessageType type_of(const Refused&) {
    return MessageType::refused;
}
MessageType type_of(const Abort&) {
    return MessageType::abort;
}
MessageType type_of(const Finalized&) {
    return MessageType::finalized;
}
MessageType type_of(const PutAddress&) {
    return MessageType::put_address;
}
MessageType type_of(const GetAddress&) {
    return MessageType::get_address;
}
MessageType type_of(const Address&) {
    return MessageType::address;
}
MessageType type_of(const GetDoorbell&) {
    return MessageType::get_doorbell;
}
MessageType type_of(const DoorbellReply&) {
    return MessageType::doorbell_reply;
}
MessageType type_of(const ConnectBack&) {
    return MessageType::connect_back;
}

void write(ByteWriter& out, const Hello& message) {
    out.number(message.protocol_version);
    out.number(message.rank);
    out.number(static_cast<std::uint32_t>(message.pid));
    out.text(message.token);
    out.boolean(message.reattach);
}
void write(ByteWriter& out, const Welcome& message) {
    out.number(message.protocol_version);
}
void write(ByteWriter& out, const Refused& message) {
    out.text(message.reason);
}
void write(ByteWriter& out, const Abort& message) {
    out.number(static_cast<std::uint32_t>(message.code));
    out.text(message.text);
}
void write(ByteWriter&, const Finalized&) {
}
void write(ByteWriter& out, const PutAddress& message) {
    out.text(message.transport);
    out.blob(message.address);
}
void write(ByteWriter& out, const GetAddress& message) {
    out.number(message.rank);
    out.text(message.transport);
}
void write(ByteWriter& out, const Address& message) {
    out.number(message.rank);
    out.text(message.transport);
    out.blob(message.address);
}
void write(ByteWriter& out, const GetDoorbell& message) {
    out.number(message.local_rank);
}
void write(ByteWriter& out, const DoorbellReply& message) {
    out.number(message.local_rank);
}
void write(ByteWriter& out, const ConnectBack& message) {
    out.number(message.rank);
    out.text(message.transport);
    out.text(message.failure);
}

Hello read_hello(ByteReader& in) {
    Hello message;
    message.protocol_version = in.number<std::uint32_t>();
    message.rank = in.number<std::uint32_t>();
    message.pid = static_cast<std::int32_t>(in.number<std::uint32_t>());
    message.token = in.text();
    message.reattach = in.boolean();
    return message;
}

Abort read_abort(ByteReader& in) {
    Abort message;
    message.code = static_cast<std::int32_t>(in.number<std::uint32_t>());
    message.text = in.text();
    return message;
}

PutAddress read_put_address(ByteReader& in) {
    PutAddress message;
    message.transport = in.text();
    message.address = in.blob();
    return message;
}

GetAddress read_get_address(ByteReader& in) {
    GetAddress message;
    message.rank = in.number<std::uint32_t>();
    message.transport = in.text();
    return message;
}

Address read_address(ByteReader& in) {
    Address message;
    message.rank = in.number<std::uint32_t>();
    message.transport = in.text();
    message.address = in.blob();
    return message;
}

ConnectBack read_connect_back(ByteReader& in) {
    ConnectBack message;
    message.rank = in.number<std::uint32_t>();
    message.transport = in.text();
    message.failure = in.text();
    return message;
}

Result<ControlMessage> read_body(std::uint16_t type, ByteReader& in) {
    switch (static_cast<MessageType>(type)) {
        case MessageType::hello:
            return ControlMessage{read_hello(in)};
        case MessageType::welcome:
            return ControlMessage{Welcome{in.number<std::uint32_t>()}};
        case MessageType::refused:
            return ControlMessage{Refused{in.text()}};
        case MessageType::abort:
            return ControlMessage{read_abort(in)};
        case MessageType::finalized:
            return ControlMessage{Finalized{}};
        case MessageType::put_address:
            return ControlMessage{read_put_address(in)};
        case MessageType::get_address:
            return ControlMessage{read_get_address(in)};
        case MessageType::address:
            return ControlMessage{read_address(in)};
        case MessageType::get_doorbell:
            return ControlMessage{GetDoorbell{in.number<std::uint32_t>()}};
        case MessageType::doorbell_reply:
            return ControlMessage{DoorbellReply{in.number<std::uint32_t>()}};
        case MessageType::connect_back:
            return ControlMessage{read_connect_back(in)};
    }
    return fail(Errc::wireup, "control message of unknown type {}", type);
}

}  // namespace

std::vector<std::byte> encode_message(const ControlMessage& message) {
    ByteWriter out;
    out.number(message_magic);
    std::visit(
        [&](const auto& value) {
            out.number(static_cast<std::uint16_t>(type_of(value)));
            write(out, value);
        },
        message
    );
    std::vector<std::byte> bytes = out.take();
    DLRT_ASSERT(bytes.size() <= control_message_bytes_max);
    return bytes;
}

Result<ControlMessage> decode_message(Bytes bytes) {
    if (bytes.size() > control_message_bytes_max) {
        return fail(
            Errc::wireup, "control message of {} bytes; the limit is {}", bytes.size(),
            control_message_bytes_max
        );
    }
    ByteReader in(bytes);
    const auto magic = in.number<std::uint32_t>();
    const auto type = in.number<std::uint16_t>();
    if (!in.ok())
        return fail(Errc::wireup, "control message of {} bytes is too short", bytes.size());
    if (magic != message_magic) {
        return fail(Errc::wireup, "not a control message: it starts with {:#010x}", magic);
    }
    Result<ControlMessage> message = read_body(type, in);
    if (message.has_value() && !in.is_at_end()) {
        return fail(
            Errc::wireup, "control message of type {} and {} bytes is {}", type, bytes.size(),
            in.ok() ? "too long" : "damaged"
        );
    }
    return message;
}

}  // namespace dlrt
