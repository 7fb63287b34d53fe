// SPDX-License-Identifier: Apache-2.0
#include "launcher/link_cipher.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/connect/sodium.hpp"

#include <algorithm>
#include <string_view>

namespace dlrt::launcher {
namespace {

constexpr std::size_t header_bytes = crypto_secretstream_xchacha20poly1305_HEADERBYTES;
constexpr std::size_t overhead_bytes = crypto_secretstream_xchacha20poly1305_ABYTES;
constexpr std::size_t length_bytes = 4;
constexpr std::size_t plain_bytes_max = 64 * 1024;
constexpr std::size_t record_bytes_max = plain_bytes_max + overhead_bytes;
static_assert(crypto_secretstream_xchacha20poly1305_KEYBYTES == tcp::secret_bytes);

unsigned char* raw(std::byte* bytes) {
    return reinterpret_cast<unsigned char*>(bytes);
}
const unsigned char* raw(const std::byte* bytes) {
    return reinterpret_cast<const unsigned char*>(bytes);
}

tcp::Secret key_of(const tcp::Secret& session, tcp::Side sender) {
    return tcp::derive_secret(
        {reinterpret_cast<const char*>(session.data()), session.size()},
        sender == tcp::Side::opener ? "opener's records" : "owner's records"
    );
}

std::size_t length_of(Bytes bytes) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < length_bytes; ++i) {
        length |= static_cast<std::size_t>(bytes[i]) << (8 * i);
    }
    return length;
}

}  // namespace

struct LinkCipher::Streams {
    crypto_secretstream_xchacha20poly1305_state outgoing = {};
    crypto_secretstream_xchacha20poly1305_state incoming = {};
    tcp::Secret incoming_key{};
    std::vector<std::byte> header;  ///< Until it has been sent.
    bool is_incoming_begun = false;
};

LinkCipher::LinkCipher(const tcp::Secret& session, tcp::Side own_side)
    : streams_(std::make_unique<Streams>()) {
    const tcp::Side other_side = own_side == tcp::Side::opener ? tcp::Side::owner
                                                               : tcp::Side::opener;
    streams_->incoming_key = key_of(session, other_side);
    const tcp::Secret key = key_of(session, own_side);
    streams_->header.resize(header_bytes);
    tcp::sodium().stream_init_push(
        &streams_->outgoing, raw(streams_->header.data()), raw(key.data())
    );
}

LinkCipher::~LinkCipher() = default;

void LinkCipher::seal(Bytes plain, std::vector<std::byte>& wire) {
    wire.insert(wire.end(), streams_->header.begin(), streams_->header.end());
    streams_->header.clear();
    while (!plain.empty()) {
        const Bytes part = plain.first(std::min(plain.size(), plain_bytes_max));
        plain = plain.subspan(part.size());
        const std::size_t size_bytes = part.size() + overhead_bytes;
        const std::size_t at = wire.size();
        wire.resize(at + length_bytes + size_bytes);
        for (std::size_t i = 0; i < length_bytes; ++i) {
            wire[at + i] = static_cast<std::byte>(size_bytes >> (8 * i));
        }
        tcp::sodium().stream_push(
            &streams_->outgoing, raw(wire.data() + at + length_bytes), nullptr, raw(part.data()),
            part.size(), nullptr, 0, 0
        );
    }
}

Status LinkCipher::open(Bytes wire, std::vector<std::byte>& plain) {
    while (!wire.empty()) {
        std::size_t wanted = streams_->is_incoming_begun ? length_bytes : header_bytes;
        if (streams_->is_incoming_begun && kept_.size() >= length_bytes) {
            wanted += length_of(kept_);
        }
        const Bytes part = wire.first(std::min(wire.size(), wanted - kept_.size()));
        wire = wire.subspan(part.size());
        kept_.insert(kept_.end(), part.begin(), part.end());
        if (kept_.size() < wanted) return {};
        if (!streams_->is_incoming_begun) {
            streams_->is_incoming_begun = true;
            tcp::sodium().stream_init_pull(
                &streams_->incoming, raw(kept_.data()), raw(streams_->incoming_key.data())
            );
            kept_.clear();
        } else if (wanted == length_bytes) {
            const std::size_t size_bytes = length_of(kept_);
            if (size_bytes < overhead_bytes || size_bytes > record_bytes_max) {
                return fail(Errc::wireup, "a record has a bad length: {} bytes", size_bytes);
            }
        } else {
            const Status status = open_record(Bytes(kept_).subspan(length_bytes), plain);
            if (!status.ok()) return status;
            kept_.clear();
        }
    }
    return {};
}

Status LinkCipher::open_record(Bytes record, std::vector<std::byte>& plain) {
    const std::size_t at = plain.size();
    plain.resize(at + record.size() - overhead_bytes);
    const int result = tcp::sodium().stream_pull(
        &streams_->incoming, raw(plain.data() + at), nullptr, nullptr, raw(record.data()),
        record.size(), nullptr, 0
    );
    if (result == 0) return {};
    plain.resize(at);
    return fail(Errc::wireup, "a record isn't what the other end has sealed");
}

}  // namespace dlrt::launcher
