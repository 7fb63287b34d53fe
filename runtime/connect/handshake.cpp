// SPDX-License-Identifier: Apache-2.0
#include "runtime/connect/handshake.hpp"

#include "runtime/connect/sodium.hpp"

#include <cstring>
#include <string>

namespace dlrt::tcp {
namespace {

static_assert(crypto_auth_KEYBYTES == secret_bytes);
static_assert(crypto_auth_BYTES == proof_bytes);

constexpr std::array<char, 8> magic = {'d', 'l', 'r', 't', '-', 't', 'c', 'p'};

/// Numbers on the wire are little-endian, as all hosts that dlrt runs on are.
template<typename T>
std::byte* put(std::byte* place, const T& value) {
    std::memcpy(place, &value, sizeof value);
    return place + sizeof value;
}
template<typename T>
const std::byte* get(const std::byte* place, T& value) {
    std::memcpy(&value, place, sizeof value);
    return place + sizeof value;
}

unsigned char* raw(std::byte* bytes) {
    return reinterpret_cast<unsigned char*>(bytes);
}
const unsigned char* raw(const std::byte* bytes) {
    return reinterpret_cast<const unsigned char*>(bytes);
}

using Statement = std::array<std::byte, 1 + hello_bytes + nonce_bytes>;

Statement statement(Side side, const Hello& hello, const Nonce& owner_nonce) {
    Statement all;
    std::byte* place = put(all.data(), side);
    place = put(place, encode(hello));
    put(place, owner_nonce);
    return all;
}

}  // namespace

std::array<std::byte, hello_bytes> encode(const Hello& hello) {
    std::array<std::byte, hello_bytes> bytes;
    std::byte* place = put(bytes.data(), magic);
    place = put(place, handshake_version);
    place = put(place, hello.opener);
    place = put(place, hello.owner);
    put(place, hello.nonce);
    return bytes;
}

std::optional<Hello> decode_hello(std::span<const std::byte, hello_bytes> bytes) {
    std::array<char, 8> found_magic;
    std::uint32_t version = 0;
    Hello hello;
    const std::byte* place = get(bytes.data(), found_magic);
    place = get(place, version);
    place = get(place, hello.opener);
    place = get(place, hello.owner);
    get(place, hello.nonce);
    if (found_magic != magic || version != handshake_version) return std::nullopt;
    return hello;
}

std::array<std::byte, challenge_bytes> encode(const Challenge& challenge) {
    std::array<std::byte, challenge_bytes> bytes;
    put(put(bytes.data(), challenge.nonce), challenge.proof);
    return bytes;
}

Challenge decode_challenge(std::span<const std::byte, challenge_bytes> bytes) {
    Challenge challenge;
    get(get(bytes.data(), challenge.nonce), challenge.proof);
    return challenge;
}

Secret derive_secret(std::string_view shared, std::string_view purpose) {
    std::string text(purpose);
    text += '\0';
    text += shared;
    Secret secret;
    sodium().generichash(
        raw(secret.data()), secret.size(), reinterpret_cast<const unsigned char*>(text.data()),
        text.size(), nullptr, 0
    );
    return secret;
}

Nonce new_nonce() {
    Nonce nonce;
    sodium().randombytes_buf(nonce.data(), nonce.size());
    return nonce;
}

ProofBytes prove(const Secret& secret, Side side, const Hello& hello, const Nonce& owner_nonce) {
    const Statement all = statement(side, hello, owner_nonce);
    ProofBytes proof;
    sodium().auth(raw(proof.data()), raw(all.data()), all.size(), raw(secret.data()));
    return proof;
}

bool is_proof(
    const Secret& secret, Side side, const Hello& hello, const Nonce& owner_nonce,
    const ProofBytes& proof
) {
    const Statement all = statement(side, hello, owner_nonce);
    return sodium().auth_verify(
               raw(proof.data()), raw(all.data()), all.size(), raw(secret.data())
           ) == 0;
}

}  // namespace dlrt::tcp
