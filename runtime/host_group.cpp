// SPDX-License-Identifier: Apache-2.0
/// Exchange of identities and addresses, and the parts of a host's first rank and of the others.
#include "runtime/host_group.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/base/log.hpp"
#include "runtime/host_group_leader.hpp"
#include "runtime/host_identity.hpp"
#include "runtime/rank_identity.hpp"
#include "runtime/watch_thread.hpp"
#include "runtime/wireup/usable_cpus.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <unistd.h>
#include <utility>

namespace dlrt {
namespace {

constexpr std::size_t nonce_bytes = 8;
constexpr std::size_t secret_bytes = 32;
constexpr std::size_t socket_name_bytes = 16;
constexpr int refusal_timeout_ms = 5000;
/// Begins what stands in an address's place where there is none: why.
constexpr char no_address_mark = '!';
constexpr std::size_t reason_bytes_max = 400;

Result<RankIdentity> make_identity() {
    const HostIdentity host = find_host_identity();
    Result<std::string> nonce = random_hex(nonce_bytes);
    Result<std::string> secret = random_hex(secret_bytes);
    Result<std::string> name = random_hex(socket_name_bytes);
    if (!nonce || !secret || !name) return fail(Errc::system, "no random numbers");
    RankIdentity identity;
    identity.host_key = host.key;
    identity.host_name = host.name;
    identity.nonce = *nonce;
    identity.socket = "dlrt-" + *name;
    identity.secret = *secret;
    identity.cpus = find_usable_cpus().cpus;
    return identity;
}

/// As bytes that a store takes: two digits each.
std::string to_hex(Bytes bytes) {
    std::string text;
    for (const std::byte byte : bytes) text += fmt::format("{:02x}", std::to_integer<int>(byte));
    return text;
}

Result<std::vector<std::byte>> from_hex(std::string_view text) {
    std::vector<std::byte> bytes;
    for (; text.size() >= 2; text.remove_prefix(2)) {
        std::uint8_t value = 0;
        const auto [stop, error] = std::from_chars(text.data(), text.data() + 2, value, 16);
        if (error != std::errc{} || stop != text.data() + 2) break;
        bytes.push_back(std::byte{value});
    }
    if (text.empty()) return bytes;
    return fail(Errc::wireup, "'{}' are no bytes of an address", text);
}

Result<RankIdentity> get_identity(
    const Exchange& exchange, const std::string& prefix, std::uint32_t rank
) {
    Result<std::string> text = exchange.get(prefix + fmt::format("{}", rank));
    if (!text) return text.error();
    return decode_identity(*text);
}

std::string address_key(
    const std::string& prefix, const std::string& transport, std::uint32_t rank
) {
    return fmt::format("{}{}/{}", prefix, transport, rank);
}

}  // namespace

class HostGroup::Leader {
  public:
    /// `identities`: those of the ranks up to this one, the last is its own.
    Leader(
        const Exchange& exchange, const std::string& prefix, int timeout_ms, Fd listener,
        std::vector<RankIdentity> identities
    )
        : exchange_(exchange),
          prefix_(prefix),
          timeout_ms_(timeout_ms),
          listener_(std::move(listener)),
          identities_(std::move(identities)) {}

    Result<Membership> join() {
        Result<Membership> membership = admit();
        if (membership || leader_) return membership;
        // They wait for us at the door; whoever is in already sees our sockets close.
        const Status cause = membership.error();
        const std::string reason = last_error_text();
        refuse_all(listener_.get(), count_neighbours(), reason, refusal_timeout_ms);
        return store_failure(cause.code, 0, reason);
    }
    Status keep_addresses(const std::string& transport) {
        std::vector<std::vector<std::byte>> addresses;
        for (std::uint32_t rank = 0; rank < exchange_.size; ++rank) {
            Result<std::string> text = exchange_.get(address_key(prefix_, transport, rank));
            if (!text) return text.error();
            Result<std::vector<std::byte>> address = address_in(*text, rank);
            if (!address) return address.error();
            addresses.push_back(std::move(*address));
        }
        leader_->keep_addresses(transport, std::move(addresses));
        return {};
    }
    [[nodiscard]] std::optional<std::vector<std::byte>> address_of(
        std::uint32_t rank, const std::string& transport
    ) {
        return leader_->address_of(rank, transport);
    }
    [[nodiscard]] int doorbell_of(std::uint32_t local_rank) const {
        return leader_ ? leader_->doorbell_of(local_rank) : -1;
    }
    void close_all() noexcept {
        listener_.reset();
        if (leader_) leader_->close_all();
    }

  private:
    [[nodiscard]] std::uint32_t own_rank() const { return exchange_.rank; }

    [[nodiscard]] Result<std::vector<std::byte>> address_in(
        std::string_view text, std::uint32_t rank
    ) const {
        if (!text.starts_with(no_address_mark)) return from_hex(text);
        const Result<std::vector<std::byte>> reason = from_hex(text.substr(1));
        if (!reason) return reason.error();
        return fail(
            Errc::wireup, "rank {} on host '{}' has failed to start: {}", rank,
            identities_[rank].host_name,
            std::string_view(reinterpret_cast<const char*>(reason->data()), reason->size())
        );
    }

    Status collect() {
        while (identities_.size() < exchange_.size) {
            Result<RankIdentity> identity = get_identity(
                exchange_, prefix_, static_cast<std::uint32_t>(identities_.size())
            );
            if (!identity) return identity.error();
            identities_.push_back(std::move(*identity));
        }
        return {};
    }

    /// Ranks known to be on this host besides us.
    [[nodiscard]] std::size_t count_neighbours() const {
        const auto count = std::ranges::count_if(identities_, [&](const RankIdentity& other) {
            return other.host_key == identities_[own_rank()].host_key;
        });
        return static_cast<std::size_t>(std::max<std::ptrdiff_t>(count - 1, 0));
    }

    /// Another process that calls itself this rank has put its own identity over ours.
    Status check_own() {
        Result<RankIdentity> own = get_identity(exchange_, prefix_, own_rank());
        if (!own) return own.error();
        if (own->nonce == identities_[own_rank()].nonce) return {};
        return fail(Errc::wireup, "two processes claim rank {}", own_rank());
    }

    Result<Membership> admit() {
        if (Status status = collect(); !status.ok()) return status;
        Result<GroupResources> resources = create_group_resources(
            identities_, own_rank(), "group-" + identities_.front().nonce
        );
        if (!resources) return resources.error();
        leader_.emplace(std::move(listener_), identities_, own_rank(), std::move(*resources));
        const Status admitted = leader_->admit_all(timeout_ms_, [this] { return check_own(); });
        if (!admitted.ok()) return admitted;
        const GroupResources& made = leader_->resources();
        Result<Membership> membership = open_membership(
            own_rank(), {made.map_file.get(), made.segment->descriptor(), made.doorbells[0].get()}
        );
        if (!membership) return membership;
        if (Status status = leader_->start(); !status.ok()) return status;
        return membership;
    }

    const Exchange& exchange_;
    const std::string& prefix_;
    int timeout_ms_;
    Fd listener_;
    std::vector<RankIdentity> identities_;
    std::optional<GroupLeader> leader_;
};

class HostGroup::Member {
  public:
    /// `leader`: the first rank of this host.
    Member(const Exchange& exchange, int timeout_ms, std::uint32_t leader)
        : exchange_(exchange), timeout_ms_(timeout_ms), leader_(leader) {}

    Result<Membership> enter(const RankIdentity& leader, const std::string& nonce) {
        Result<Fd> socket = connect_abstract(leader.socket);
        if (!socket) {
            const std::string reason = last_error_text();
            return fail(
                Errc::wireup, "rank {} does not let rank {} in: {}", leader_, exchange_.rank, reason
            );
        }
        client_.emplace(std::move(*socket), fmt::format("rank {}", leader_), timeout_ms_);
        Result<std::vector<Fd>> files = client_->greet(
            {control_protocol_version, exchange_.rank, ::getpid(), leader.secret + nonce, true}
        );
        if (!files) return files.error();
        if (files->size() != 3) {
            return fail(Errc::wireup, "rank {} sent {} descriptors, not 3", leader_, files->size());
        }
        Result<Membership> membership = open_membership(
            exchange_.rank, {(*files)[0].get(), (*files)[1].get(), (*files)[2].get()}
        );
        if (!membership) return membership;
        doorbell_ = std::move((*files)[2]);
        if (Status status = watch(membership->segment.descriptor()); !status.ok()) return status;
        return membership;
    }
    void leave() {
        watch_.reset();
        // The first rank may have closed its end already, after all have agreed to leave.
        if (client_) static_cast<void>(client_->tell(Finalized{}));
    }
    [[nodiscard]] int doorbell_of(std::uint32_t local_rank) {
        return client_ ? client_->doorbell_of(local_rank) : -1;
    }
    void close_all() noexcept {
        if (client_) client_->close_all();
    }

    [[nodiscard]] ControlClient& client() { return *client_; }

  private:
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
        segment_->raise_abort(
            1, leader_,
            fmt::format(
                "rank {}, which holds this host's ranks together, ended without finalize", leader_
            )
        );
    }

    const Exchange& exchange_;
    int timeout_ms_;
    std::uint32_t leader_;
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
    Result<RankIdentity> own = make_identity();
    if (!own) return own.error();
    // Before anybody reads where it is: whoever does may come at once.
    Result<Fd> listener = listen_abstract(own->socket);
    if (!listener) return listener.error();
    const std::string own_key = prefix_ + fmt::format("{}", exchange_.rank);
    if (Status status = exchange_.put(own_key, encode_identity(*own)); !status.ok()) return status;
    if (exchange_.fence) {
        if (Status status = exchange_.fence(); !status.ok()) return status;
    }
    // As others see it: another process that calls itself this rank may have put its own over it.
    Result<RankIdentity> seen = get_identity(exchange_, prefix_, exchange_.rank);
    if (!seen) return seen.error();
    if (seen->nonce != own->nonce) {
        return fail(Errc::wireup, "two processes claim rank {}", exchange_.rank);
    }
    // The first rank of this host is the one to go to.
    std::vector<RankIdentity> identities;
    std::uint32_t first = 0;
    for (; first < exchange_.rank; ++first) {
        Result<RankIdentity> other = get_identity(exchange_, prefix_, first);
        if (!other) return other.error();
        identities.push_back(std::move(*other));
        if (identities.back().host_key == seen->host_key) break;
    }
    if (first == exchange_.rank) identities.push_back(*seen);
    shared_secret_ = identities.front().secret;
    if (first < exchange_.rank) {
        listener->reset();
        member_ = std::make_unique<Member>(exchange_, timeout_ms_, first);
        return member_->enter(identities.back(), own->nonce);
    }
    leader_ = std::make_unique<Leader>(
        exchange_, prefix_, timeout_ms_, std::move(*listener), std::move(identities)
    );
    return leader_->join();
}

Status HostGroup::put_address(const std::string& transport, Bytes address) {
    const std::string key = address_key(prefix_, transport, exchange_.rank);
    if (Status status = exchange_.put(key, to_hex(address)); !status.ok()) return status;
    if (exchange_.fence) {
        if (Status status = exchange_.fence(); !status.ok()) return status;
    }
    return leader_ ? leader_->keep_addresses(transport) : Status{};
}

void HostGroup::put_no_address(const std::string& transport, std::string_view reason) {
    // A sentence is enough, and a store takes no more than its values' limit.
    const std::string_view told = reason.substr(0, reason_bytes_max);
    const std::string key = address_key(prefix_, transport, exchange_.rank);
    const std::string value = no_address_mark + to_hex(std::as_bytes(std::span(told)));
    if (const Status status = exchange_.put(key, value); !status.ok()) {
        log(LogLevel::info, "wireup", "the other hosts can't be told: {}", last_error_text());
    }
}

std::optional<std::vector<std::byte>> HostGroup::address_of(
    std::uint32_t rank, const std::string& transport
) {
    if (leader_) return leader_->address_of(rank, transport);
    return member_ ? member_->client().address_of(rank, transport) : std::nullopt;
}

int HostGroup::news_descriptor() const {
    return member_ ? member_->client().socket() : -1;
}

void HostGroup::take_news() {
    if (member_) member_->client().take_news();
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
