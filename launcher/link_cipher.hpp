// SPDX-License-Identifier: Apache-2.0
/// What lies between two daemons' TCP connection and their frames: bytes go out in records that are
/// encrypted and authenticated in their order (libsodium's secretstream), each direction with a key
/// of its own. Values without I/O.
///
/// A direction begins with 24 bytes, the stream's header; a record is a 4-byte length and so many
/// bytes. REQUIRES: load_sodium() has succeeded.
#pragma once

#include "runtime/base/bytes.hpp"
#include "runtime/base/status.hpp"
#include "runtime/connect/handshake.hpp"

#include <memory>
#include <vector>

namespace dlrt::launcher {

class LinkCipher {
  public:
    /// `session`: see tcp::Opening; `own_side`: which end of it this is.
    LinkCipher(const tcp::Secret& session, tcp::Side own_side);
    LinkCipher(const LinkCipher&) = delete;
    LinkCipher& operator=(const LinkCipher&) = delete;
    ~LinkCipher();

    /// Appends to `wire` what says `plain` to the other end.
    void seal(Bytes plain, std::vector<std::byte>& wire);
    /// `wire` is what came next, cut anywhere; appends to `plain` what it says. Errors:
    /// Errc::wireup for what the other end hasn't sealed, or not in this order.
    Status open(Bytes wire, std::vector<std::byte>& plain);
    /// Kept until a record is complete; never more than one.
    [[nodiscard]] std::size_t kept_bytes() const { return kept_.size(); }

  private:
    struct Streams;
    Status open_record(Bytes record, std::vector<std::byte>& plain);

    std::unique_ptr<Streams> streams_;
    std::vector<std::byte> kept_;
};

}  // namespace dlrt::launcher
