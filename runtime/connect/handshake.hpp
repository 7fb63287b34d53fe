// SPDX-License-Identifier: Apache-2.0
/// How two processes of a job prove to each other, over a connection that anybody may have opened,
/// that both know the job's secret, and say who they are. Values without I/O.
///
///   opener: Hello     who it is, whom it wants, a nonce
///   owner:  Challenge a nonce, and its proof over all of that
///   opener: Proof     its own
///
/// Proofs are keyed hashes (libsodium's crypto_auth) of the roles, both numbers and both nonces: a
/// recorded handshake proves nothing to a process with another nonce. REQUIRES of all that isn't
/// encoding: load_sodium() has succeeded.
#pragma once

#include "runtime/base/bytes.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace dlrt::tcp {

inline constexpr std::size_t secret_bytes = 32;
inline constexpr std::size_t nonce_bytes = 32;
inline constexpr std::size_t proof_bytes = 32;
using Secret = std::array<std::byte, secret_bytes>;
using Nonce = std::array<std::byte, nonce_bytes>;
using ProofBytes = std::array<std::byte, proof_bytes>;

inline constexpr std::uint32_t handshake_version = 1;

struct Hello {
    std::uint32_t opener = 0;  ///< As transports number processes.
    std::uint32_t owner = 0;   ///< Of the socket that it opens.
    Nonce nonce{};
    friend bool operator==(const Hello&, const Hello&) = default;
};
struct Challenge {
    Nonce nonce{};
    ProofBytes proof{};
    friend bool operator==(const Challenge&, const Challenge&) = default;
};

inline constexpr std::size_t hello_bytes = 8 + 4 + 4 + 4 + nonce_bytes;
inline constexpr std::size_t challenge_bytes = nonce_bytes + proof_bytes;

[[nodiscard]] std::array<std::byte, hello_bytes> encode(const Hello& hello);
/// None: not ours, or of another version.
[[nodiscard]] std::optional<Hello> decode_hello(std::span<const std::byte, hello_bytes> bytes);
[[nodiscard]] std::array<std::byte, challenge_bytes> encode(const Challenge& challenge);
[[nodiscard]] Challenge decode_challenge(std::span<const std::byte, challenge_bytes> bytes);

/// Of what all processes of the job know, and nobody else. Another purpose gives another secret.
[[nodiscard]] Secret derive_secret(std::string_view shared, std::string_view purpose);
[[nodiscard]] Nonce new_nonce();

enum class Side : std::uint8_t { opener, owner };
[[nodiscard]] ProofBytes prove(
    const Secret& secret, Side side, const Hello& hello, const Nonce& owner_nonce
);
/// Takes as long for every wrong proof.
[[nodiscard]] bool is_proof(
    const Secret& secret, Side side, const Hello& hello, const Nonce& owner_nonce,
    const ProofBytes& proof
);

}  // namespace dlrt::tcp
