// SPDX-License-Identifier: Apache-2.0
/// This process's membership of dlrt, which its groups share.
///
/// Under dlrun there is one for the life of the process: a group that is destroyed gives back its
/// communicators only, and the next begins at once. Elsewhere it lives as long as its groups, and
/// the next group joins anew. Nobody waits for others when he leaves.
/// Threads: any.
#pragma once

#include "runtime/torch/completer.hpp"
#include "runtime/torch/meeting.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace dlrt_torch {

/// As the variables of dlrun say; empty in a process that dlrun has not started.
struct JobPlace {
    int rank = 0;
    int size = 1;
};
[[nodiscard]] std::optional<JobPlace> place_in_job();

class World {
  public:
    /// Joins the job of dlrun, or finds it joined. Throws Failure.
    [[nodiscard]] static std::shared_ptr<World> of_job();
    /// The world that holds the members of a group, joined through their meeting where there is
    /// none yet. `global_ranks` are torch's. Throws Failure.
    [[nodiscard]] static std::shared_ptr<World> of_group(
        Meeting& meeting, const std::vector<std::int64_t>& global_ranks
    );
    /// At the end of the process. Groups that are left can do nothing any more.
    static void leave_all();

    ~World();
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    /// A communicator of those members, by torch's ranks. Throws Failure.
    [[nodiscard]] dlrt_comm make_communicator(
        const std::vector<std::int64_t>& global_ranks, const std::string& name
    ) const;
    [[nodiscard]] const std::shared_ptr<Completer>& completer() const { return completer_; }
    /// False once it has been left, and in a forked child.
    [[nodiscard]] bool is_open() const;
    /// A number of rank 0 for all ranks of the job. Throws Failure, with those who don't come.
    [[nodiscard]] static std::int64_t tell_all(std::int64_t value, Milliseconds timeout);

  private:
    enum class Owner { us, somebody_else };
    World(Owner owner, std::string id, std::vector<std::int64_t> global_ranks);
    void leave();
    static std::shared_ptr<World> join_job();
    static std::shared_ptr<World> join_by(
        Meeting& meeting, const std::vector<std::int64_t>& global_ranks
    );

    Owner owner_;
    std::string id_;  ///< The same in all its members, and of no other world.
    bool is_open_ = true;
    std::vector<std::int64_t> global_ranks_;  ///< torch's rank by that in the world.
    std::shared_ptr<Completer> completer_;
};

}  // namespace dlrt_torch
