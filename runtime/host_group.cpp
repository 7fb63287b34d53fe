// SPDX-License-Identifier: Apache-2.0
/// Exchange of identities, and the parts of rank 0 and of the others.
#include "runtime/host_group.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/base/log.hpp"
#include "runtime/host_group_leader.hpp"
#include "runtime/host_identity.hpp"
#include "runtime/rank_identity.hpp"
#include "runtime/watch_thread.hpp"
#include "runtime/wireup/usable_cpus.hpp"

#include <algorithm>
#include <optional>
#include <unistd.h>
#include <utility>

namespace dlrt {
namespace {

constexpr std::size_t nonce_bytes = 8;
constexpr std::size_t secret_bytes = 32;
constexpr std::size_t socket_name_bytes = 16;
constexpr int refusal_timeout_ms = 5000;

Result<RankIdentity> make_identity() {
    const HostIdentity host = find_host_identity();
    Result<std::string> nonce = random_hex(nonce_bytes);
    if (!nonce) return nonce.error();
    RankIdentity identity;
    identity.host_key = host.key;
    identity.host_name = host.name;
    identity.nonce = *nonce;
    identity.cpus = find_usable_cpus().cpus;
    return identity;
}

/// "a: ranks 0, 1; b: rank 2", at most a few of each.
std::string describe_hosts(const std::vector<RankIdentity>& identities) {
    struct Host {
        const RankIdentity* identity;
        std::vector<std::size_t> ranks;
    };
    constexpr std::size_t shown_max = 8;
    std::vector<Host> hosts;
    for (std::size_t rank = 0; rank < identities.size(); ++rank) {
        auto host = std::ranges::find_if(hosts, [&](const Host& known) {
            return known.identity->host_key == identities[rank].host_key;
        });
        if (host == hosts.end()) host = hosts.insert(hosts.end(), {&identities[rank], {}});
        host->ranks.push_back(rank);
    }
    std::string text;
    for (std::size_t i = 0; i < std::min(hosts.size(), shown_max); ++i) {
        const Host& host = hosts[i];
        const bool is_ambiguous = std::ranges::any_of(hosts, [&](const Host& other) {
            return &other != &host && other.identity->host_name == host.identity->host_name;
        });
        text += fmt::format("{}{}", i == 0 ? "" : "; ", host.identity->host_name);
        if (is_ambiguous) text += fmt::format(" ({})", host.identity->host_key);
        text += host.ranks.size() == 1 ? ": rank " : ": ranks ";
        for (std::size_t j = 0; j < std::min(host.ranks.size(), shown_max); ++j) {
            text += fmt::format("{}{}", j == 0 ? "" : ", ", host.ranks[j]);
        }
        if (host.ranks.size() > shown_max) text += ", ...";
    }
    if (hosts.size() > shown_max) text += "; ...";
    return text;
}

}  // namespace

class HostGroup::Leader {
  public:
    Leader(const Exchange& exchange, const std::string& prefix, int timeout_ms)
        : exchange_(exchange), prefix_(prefix), timeout_ms_(timeout_ms) {}

    Result<Membership> join() {
        if (Status status = announce(); !status.ok()) return status;
        Result<Membership> membership = admit();
        if (membership || leader_) return membership;
        // They wait for us at the door; whoever is in already sees our sockets close.
        const Status cause = membership.error();
        const std::string reason = last_error_text();
        refuse_all(listener_.get(), count_neighbours(), reason, refusal_timeout_ms);
        return store_failure(cause.code, 0, reason);
    }
    [[nodiscard]] int doorbell_of(std::uint32_t local_rank) const {
        return leader_ ? leader_->doorbell_of(local_rank) : -1;
    }
    void close_all() noexcept {
        listener_.reset();
        if (leader_) leader_->close_all();
    }

  private:
    Status announce() {
        Result<RankIdentity> identity = make_identity();
        Result<std::string> secret = random_hex(secret_bytes);
        Result<std::string> name = random_hex(socket_name_bytes);
        if (!identity || !secret || !name) return fail(Errc::system, "no random numbers");
        identity->secret = *secret;
        identity->socket = "dlrt-" + *name;
        Result<Fd> listener = listen_abstract(identity->socket);
        if (!listener) return listener.error();
        listener_ = std::move(*listener);
        own_text_ = encode_identity(*identity);
        identities_.push_back(std::move(*identity));
        if (Status status = exchange_.put(prefix_ + "0", own_text_); !status.ok()) return status;
        return exchange_.fence ? exchange_.fence() : Status{};
    }

    Status collect() {
        for (std::uint32_t rank = 1; rank < exchange_.size; ++rank) {
            Result<std::string> text = exchange_.get(prefix_ + fmt::format("{}", rank));
            if (!text) return text.error();
            Result<RankIdentity> identity = decode_identity(*text);
            if (!identity) return identity.error();
            identities_.push_back(std::move(*identity));
        }
        const bool is_one_host = std::ranges::all_of(identities_, [&](const RankIdentity& other) {
            return other.host_key == identities_.front().host_key;
        });
        if (is_one_host) return {};
        return fail(
            Errc::unsupported,
            "the ranks are on several hosts ({}); this build connects ranks of "
            "one host only",
            describe_hosts(identities_)
        );
    }

    /// Ranks known to be on this host besides us.
    [[nodiscard]] std::size_t count_neighbours() const {
        const auto count = std::ranges::count_if(identities_, [&](const RankIdentity& other) {
            return other.host_key == identities_.front().host_key;
        });
        return static_cast<std::size_t>(std::max<std::ptrdiff_t>(count - 1, 0));
    }

    /// Another process that calls itself rank 0 has put its own identity over ours.
    Status check_own() {
        Result<std::string> text = exchange_.get(prefix_ + "0");
        if (!text) return text.error();
        if (*text == own_text_) return {};
        return fail(Errc::wireup, "two processes claim rank 0");
    }

    Result<Membership> admit() {
        if (Status status = collect(); !status.ok()) return status;
        Result<GroupResources> resources = create_group_resources(
            identities_, "group-" + identities_.front().nonce
        );
        if (!resources) return resources.error();
        leader_.emplace(std::move(listener_), identities_, std::move(*resources));
        const Status admitted = leader_->admit_all(timeout_ms_, [this] { return check_own(); });
        if (!admitted.ok()) return admitted;
        const GroupResources& made = leader_->resources();
        Result<Membership> membership = open_membership(
            0, {made.map_file.get(), made.segment->descriptor(), made.doorbells[0].get()}
        );
        if (!membership) return membership;
        if (Status status = leader_->start(); !status.ok()) return status;
        return membership;
    }

    const Exchange& exchange_;
    const std::string& prefix_;
    int timeout_ms_;
    Fd listener_;
    std::string own_text_;
    std::vector<RankIdentity> identities_;
    std::optional<GroupLeader> leader_;
};

class HostGroup::Member {
  public:
    Member(const Exchange& exchange, const std::string& prefix, int timeout_ms)
        : exchange_(exchange), prefix_(prefix), timeout_ms_(timeout_ms) {}

    Result<Membership> join() {
        Result<RankIdentity> own = make_identity();
        if (!own) return own.error();
        const std::string own_key = prefix_ + fmt::format("{}", exchange_.rank);
        if (Status status = exchange_.put(own_key, encode_identity(*own)); !status.ok()) {
            return status;
        }
        if (exchange_.fence) {
            if (Status status = exchange_.fence(); !status.ok()) return status;
        }
        Result<std::string> text = exchange_.get(prefix_ + "0");
        if (!text) return text.error();
        Result<RankIdentity> leader = decode_identity(*text);
        if (!leader) return leader.error();
        if (leader->host_key != own->host_key) {
            return fail(
                Errc::unsupported,
                "rank {} is on host {}, rank 0 on host {} ({} and {}); this "
                "build connects ranks of one host only",
                exchange_.rank, own->host_name, leader->host_name, own->host_key, leader->host_key
            );
        }
        return enter(*leader, own->nonce);
    }
    void leave() {
        watch_.reset();
        // Rank 0 may have closed its end already, after all have agreed to leave.
        if (client_) static_cast<void>(client_->tell(Finalized{}));
    }
    [[nodiscard]] int doorbell_of(std::uint32_t local_rank) {
        return client_ ? client_->doorbell_of(local_rank) : -1;
    }
    void close_all() noexcept {
        if (client_) client_->close_all();
    }

  private:
    Result<Membership> enter(const RankIdentity& leader, const std::string& nonce) {
        Result<Fd> socket = connect_abstract(leader.socket);
        if (!socket) {
            const std::string reason = last_error_text();
            return fail(Errc::wireup, "rank 0 does not let rank {} in: {}", exchange_.rank, reason);
        }
        client_.emplace(std::move(*socket), "rank 0", timeout_ms_);
        Result<std::vector<Fd>> files = client_->greet(
            {control_protocol_version, exchange_.rank, ::getpid(), leader.secret + nonce, true}
        );
        if (!files) return files.error();
        if (files->size() != 3) {
            return fail(Errc::wireup, "rank 0 sent {} descriptors, not 3", files->size());
        }
        Result<Membership> membership = open_membership(
            exchange_.rank, {(*files)[0].get(), (*files)[1].get(), (*files)[2].get()}
        );
        if (!membership) return membership;
        doorbell_ = std::move((*files)[2]);
        if (Status status = watch(membership->segment.descriptor()); !status.ok()) return status;
        return membership;
    }

    Status watch(int segment_descriptor) {
        Result<HostSegment> segment = HostSegment::open(segment_descriptor);
        if (!segment) return segment.error();
        segment_.emplace(std::move(*segment));
        // Every other rank has such a thread: each wakes its own sleeper.
        segment_->set_wake_descriptor([this](std::uint32_t) {
            const std::uint64_t one = 1;
            [[maybe_unused]] const ssize_t written = ::write(doorbell_.get(), &one, sizeof one);
        });
        auto watch = WatchThread::start(
            {.descriptors =
                 [this] {
                     // Only its end is of interest; answers belong to whoever has asked.
                     const int socket = has_ended_ ? -1 : client_->socket();
                     return std::vector<pollfd>{{socket, 0, 0}};
                 },
             .on_event = [this](const pollfd&) { on_end(); }}
        );
        if (!watch) return watch.error();
        watch_ = std::move(*watch);
        return {};
    }

    void on_end() {
        has_ended_ = true;
        constexpr auto finalized = static_cast<std::uint32_t>(RankLife::finalized);
        if (segment_->life(0).life.load(std::memory_order_acquire) == finalized) return;
        segment_->mark_departed(0);
        segment_->raise_abort(1, 0, "rank 0, which holds the job together, ended without finalize");
    }

    const Exchange& exchange_;
    const std::string& prefix_;
    int timeout_ms_;
    std::optional<ControlClient> client_;
    Fd doorbell_;
    std::optional<HostSegment> segment_;  ///< The watch's own mapping.
    bool has_ended_ = false;
    std::unique_ptr<WatchThread> watch_;
};

HostGroup::HostGroup(Exchange exchange, std::string prefix, int timeout_ms)
    : exchange_(std::move(exchange)), prefix_(std::move(prefix)), timeout_ms_(timeout_ms) {
}

HostGroup::~HostGroup() = default;

Result<Membership> HostGroup::join() {
    if (exchange_.size == 0 || exchange_.rank >= exchange_.size) {
        return fail(Errc::argument, "rank {} of {} ranks", exchange_.rank, exchange_.size);
    }
    if (exchange_.rank == 0) {
        leader_ = std::make_unique<Leader>(exchange_, prefix_, timeout_ms_);
        return leader_->join();
    }
    member_ = std::make_unique<Member>(exchange_, prefix_, timeout_ms_);
    return member_->join();
}

void HostGroup::leave() {
    if (member_) member_->leave();
    member_.reset();
    leader_.reset();
}

int HostGroup::doorbell_of(std::uint32_t local_rank) {
    if (leader_) return leader_->doorbell_of(local_rank);
    return member_ ? member_->doorbell_of(local_rank) : -1;
}

void HostGroup::abandon() noexcept {
    if (leader_) leader_->close_all();
    if (member_) member_->close_all();
}

}  // namespace dlrt
