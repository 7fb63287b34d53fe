// SPDX-License-Identifier: Apache-2.0
/// How a process finds its job: one interface, several sources (daemon, PMI-1, a key-value store
/// handed in by the caller, alone), tried in the order of choose_source(). Once joined, they all
/// look the same.
///
/// Thread: the one that calls init and finalize; abort() from any thread.
#pragma once

#include "runtime/base/bytes.hpp"
#include "runtime/base/fd.hpp"
#include "runtime/base/result.hpp"
#include "runtime/wireup/host_segment.hpp"
#include "runtime/wireup/job_map.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlrt {

/// A process's place in its job, as every source delivers it.
struct Membership {
    std::uint32_t rank = 0;
    JobMap map;
    HostSegment segment;
    Fd doorbell;  ///< This rank's eventfd, for sleeping on descriptors.
};

class WireupSource {
  public:
    virtual ~WireupSource() = default;
    [[nodiscard]] virtual std::string_view name() const = 0;
    /// Joins the job; blocks until the source has answered, without a global barrier where it can.
    /// Errors: Errc::wireup with cause and remedy. Never falls back to being alone.
    [[nodiscard]] virtual Result<Membership> join() = 0;
    /// Tells the launcher that the job must end with this code, and does not return until it is
    /// told.
    virtual void abort(std::int32_t code, std::string_view text) = 0;
    /// Leaves in good order. Afterwards a new source may join in the same process.
    virtual Status leave() = 0;
    /// The eventfd of another local rank, for ringing one that sleeps on descriptors; -1 when not
    /// to be had.
    [[nodiscard]] virtual int doorbell_of(std::uint32_t local_rank) = 0;
    /// What all ranks of the job know, and nobody else. Empty where nothing is: then there are no
    /// ranks on other hosts.
    [[nodiscard]] virtual std::string shared_secret() const { return {}; }
    /// Tells ranks on other hosts where this one is by that transport. Once for each transport, by
    /// all ranks of a job that is on several hosts; may wait for them. Errors: what the source
    /// says.
    virtual Status put_address(const std::string& transport, Bytes address);
    /// Instead, by a rank that has failed before it had one: those that wait for it are told why.
    virtual void put_no_address(const std::string& /*transport*/, std::string_view /*reason*/) {}
    /// Where another rank is; nothing when it isn't known yet, and then it is asked for. By whoever
    /// makes progress; never waits.
    [[nodiscard]] virtual std::optional<std::vector<std::byte>> address_of(
        std::uint32_t rank, const std::string& transport
    );
    /// Asks a rank of another host to connect to this one by that transport, or answers one that
    /// has asked that it isn't possible. False: there is nobody to pass it on.
    virtual bool connect_back(
        std::uint32_t rank, const std::string& transport, const std::string& failure
    );
    struct ConnectBack {
        std::uint32_t rank;
        std::string failure;
    };
    /// What a rank of another host has said so. By whoever makes progress; never waits.
    [[nodiscard]] virtual std::optional<ConnectBack> take_connect_back(const std::string&) {
        return {};
    }
    /// Readable when address_of() and take_connect_back() may know more after take_news(); -1: they
    /// never learn more.
    [[nodiscard]] virtual int news_descriptor() const { return -1; }
    virtual void take_news() {}
    /// Whether somebody marks ranks of other hosts that end without finalize
    /// (HostSegment::mark_departed_elsewhere).
    [[nodiscard]] virtual bool tells_of_departures() const { return false; }
    /// In a child that the process forked: closes what tells others that this process lives.
    /// Nothing but system calls that are safe there; no other function is called afterwards.
    virtual void abandon() noexcept = 0;
};

/// A key-value store of the caller: what torch.distributed, or a test, hands in.
struct KeyValueStore {
    std::uint32_t rank = 0;
    std::uint32_t size = 1;
    std::function<Status(const std::string& key, const std::string& value)> put;
    /// Waits for the key. Errors: Errc::timeout.
    std::function<Result<std::string>(const std::string& key)> get;
};

/// Picks by the environment: DLRT_JOBID → daemon; PMI_FD or PMI_PORT → PMI-1; else alone (with one
/// line on stderr when the environment smells of a launcher that we don't understand). Errors:
/// Errc::wireup.
[[nodiscard]] Result<std::unique_ptr<WireupSource>> choose_source(int timeout_ms);
[[nodiscard]] std::unique_ptr<WireupSource> make_store_source(KeyValueStore store, int timeout_ms);

}  // namespace dlrt
