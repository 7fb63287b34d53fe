// SPDX-License-Identifier: Apache-2.0
/// What a rank says of itself through a store, as one value without blanks. Pure.
#pragma once

#include "runtime/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dlrt {

struct RankIdentity {
    std::string host_key;  ///< HostIdentity::key
    std::string host_name;
    std::string nonce;   ///< Tells apart two processes that claim one rank.
    std::string socket;  ///< Abstract name: where it lets in the other ranks of its host.
    std::string secret;  ///< Who shows it there has read this.
    std::vector<std::uint32_t> cpus;  ///< Affinity; empty when its text would be too long.
    friend bool operator==(const RankIdentity&, const RankIdentity&) = default;
};

[[nodiscard]] std::string encode_identity(const RankIdentity& identity);
/// Errors: Errc::wireup for text that encode_identity can't have made.
[[nodiscard]] Result<RankIdentity> decode_identity(std::string_view text);

}  // namespace dlrt
