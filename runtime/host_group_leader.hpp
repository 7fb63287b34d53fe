// SPDX-License-Identifier: Apache-2.0
/// The part of a host's first rank in a host group: lets the others in, then watches over them and
/// tells them where ranks on other hosts are. Private to
/// host_group.cpp.
///
/// Thread: the one that calls init and finalize; handle() is the helper thread's.
#pragma once

#include "runtime/base/fd.hpp"
#include "runtime/base/result.hpp"
#include "runtime/rank_identity.hpp"
#include "runtime/watch_thread.hpp"
#include "runtime/wireup/host_segment.hpp"
#include "runtime/wireup/job_map.hpp"
#include "runtime/wireup/message.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace dlrt {

/// What the first rank hands out. `doorbells` by local rank.
struct GroupResources {
    JobMap map;
    Fd map_file;
    std::optional<HostSegment> segment;
    std::vector<Fd> doorbells;
};

/// For the host of that rank. Errors: Errc::system, Errc::limit.
[[nodiscard]] Result<GroupResources> create_group_resources(
    const std::vector<RankIdentity>& identities, std::uint32_t own_rank, std::string job_id
);

class GroupLeader {
  public:
    /// `identities` by rank.
    GroupLeader(
        Fd listener, std::vector<RankIdentity> identities, std::uint32_t own_rank,
        GroupResources resources
    );
    ~GroupLeader();
    GroupLeader(const GroupLeader&) = delete;
    GroupLeader& operator=(const GroupLeader&) = delete;

    /// Until all other ranks are in. `check` is called now and then; its failure ends the wait.
    /// Errors: Errc::timeout with the missing ranks.
    Status admit_all(int timeout_ms, const std::function<Status()>& check);
    /// Begins to answer and to watch; from now on the helper thread owns the connections.
    Status start();
    [[nodiscard]] int doorbell_of(std::uint32_t local_rank) const;
    /// By rank. Who has asked before is answered now.
    void keep_addresses(std::string transport, std::vector<std::vector<std::byte>> addresses);
    [[nodiscard]] std::optional<std::vector<std::byte>> address_of(
        std::uint32_t rank, const std::string& transport
    );
    [[nodiscard]] const GroupResources& resources() const { return resources_; }
    void close_all() noexcept;

  private:
    struct Guest {
        Fd socket;
        bool has_left = false;
    };
    void admit(Fd socket);
    [[nodiscard]] std::string objection(const Hello& hello) const;
    [[nodiscard]] std::vector<std::uint32_t> missing_ranks() const;
    void handle(std::uint32_t local_rank);
    void answer(std::uint32_t local_rank, const GetDoorbell& question);
    void answer(std::uint32_t local_rank, const GetAddress& question);

    struct OpenQuestion {
        std::uint32_t local_rank;
        GetAddress question;
    };
    Fd listener_;
    std::vector<RankIdentity> identities_;
    std::uint32_t own_rank_;
    GroupResources resources_;
    std::vector<std::uint32_t> world_ranks_;  ///< By local rank.
    std::vector<Guest> guests_;               ///< By local rank; ours stays empty.
    std::mutex addresses_mutex_;
    std::map<std::string, std::vector<std::vector<std::byte>>> addresses_;  ///< By transport.
    std::vector<OpenQuestion> open_questions_;
    std::unique_ptr<WatchThread> watch_;
};

/// Tells everybody who comes within the time, at most `count`, that the job will not be.
void refuse_all(int listener, std::size_t count, const std::string& reason, int timeout_ms);

}  // namespace dlrt
