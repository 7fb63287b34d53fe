// SPDX-License-Identifier: Apache-2.0
/// Ranks that no daemon has introduced to each other. They exchange identities through whatever
/// store their launcher offers; the first rank of each host then makes the host segment and hands
/// it out over an abstract socket, whose name and secret travelled with its identity, in the words
/// of format.md. These sockets stay open: their end tells of a death. Where there are several
/// hosts, ranks exchange addresses as well; a host's first rank tells the others.
///
/// The death of a rank marks it departed on its host. The death of a first rank raises the abort
/// there as well, since nobody is left to notice the next one.
///
/// Thread: the one that calls init and finalize; doorbell_of() from whoever makes progress. A
/// helper thread of its own sleeps in poll.
#pragma once

#include "runtime/control_client.hpp"
#include "runtime/wireup_source.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dlrt {

/// What a launcher's store can do. Values have no blanks and at most 1000 bytes.
struct Exchange {
    std::uint32_t rank = 0;
    std::uint32_t size = 1;
    std::function<Status(const std::string& key, const std::string& value)> put;
    /// Returns when all ranks have put what is got afterwards; may be empty where get() waits.
    std::function<Status()> fence;
    std::function<Result<std::string>(const std::string& key)> get;
};

class HostGroup {
  public:
    /// `prefix` begins all keys; all ranks pass the same, another one for every join.
    HostGroup(Exchange exchange, std::string prefix, int timeout_ms);
    ~HostGroup();
    HostGroup(const HostGroup&) = delete;
    HostGroup& operator=(const HostGroup&) = delete;

    /// Blocks until all ranks of this host are in. Errors: Errc::wireup; what the store says.
    [[nodiscard]] Result<Membership> join();
    /// As WireupSource has them; put_address() waits until all ranks have put theirs.
    Status put_address(const std::string& transport, Bytes address);
    /// Where get() waits.
    void put_no_address(const std::string& transport, std::string_view reason);
    [[nodiscard]] std::optional<std::vector<std::byte>> address_of(
        std::uint32_t rank, const std::string& transport
    );
    [[nodiscard]] const std::string& shared_secret() const { return shared_secret_; }
    [[nodiscard]] int news_descriptor() const;
    void take_news();
    /// In good order. REQUIRES: the rank's life says finalized, or it never began.
    void leave();
    [[nodiscard]] int doorbell_of(std::uint32_t local_rank);
    void abandon() noexcept;

  private:
    class Leader;
    class Member;

    Exchange exchange_;
    std::string prefix_;
    int timeout_ms_;
    std::string shared_secret_;
    std::unique_ptr<Leader> leader_;  ///< In a host's first rank.
    std::unique_ptr<Member> member_;  ///< In the others.
};

}  // namespace dlrt
