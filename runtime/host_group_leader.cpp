// SPDX-License-Identifier: Apache-2.0
/// The door, the answers, and the watch over those who are in.
#include "runtime/host_group_leader.hpp"

#include "runtime/base/clock.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/base/log.hpp"
#include "runtime/wireup/control_socket.hpp"
#include "runtime/wireup/usable_cpus.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <sys/eventfd.h>
#include <utility>
#include <variant>

namespace dlrt {
namespace {

constexpr int hello_timeout_ms = 5000;
constexpr int check_interval_ms = 500;

int left_ms(std::uint64_t deadline_ns) {
    const std::uint64_t now_ns = monotonic_ns();
    if (now_ns >= deadline_ns) return 0;
    return static_cast<int>((deadline_ns - now_ns) / 1'000'000 + 1);
}

std::uint64_t deadline_after(int timeout_ms) {
    return monotonic_ns() + static_cast<std::uint64_t>(timeout_ms) * 1'000'000;
}

/// Bound ranks count on each of their cpus, the others on all.
void fill_tenancy(TenancyTable& tenancy, const JobMap& map, std::uint32_t host_index) {
    for (const RankEntry& rank : map.ranks) {
        if (rank.host_index != host_index) continue;
        if (rank.cpus.empty()) tenancy.unbound_ranks.fetch_add(1, std::memory_order_relaxed);
        for (const std::uint32_t cpu : rank.cpus) {
            if (cpu >= cpu_count_max) continue;
            tenancy.tenants[cpu].fetch_add(1, std::memory_order_relaxed);
        }
    }
}

/// A host of the job, as its ranks describe it.
struct GroupHost {
    const RankIdentity* first;
    std::set<std::uint32_t> cpus;
    std::uint32_t rank_count = 0;
};

JobMap make_map(
    const std::vector<RankIdentity>& identities, std::uint32_t own_rank, std::string job_id
) {
    std::vector<GroupHost> hosts;
    JobMap map;
    map.job_id = std::move(job_id);
    for (const RankIdentity& identity : identities) {
        auto host = std::ranges::find_if(hosts, [&](const GroupHost& known) {
            return known.first->host_key == identity.host_key;
        });
        if (host == hosts.end()) host = hosts.insert(host, {&identity, {}, 0});
        host->cpus.insert(identity.cpus.begin(), identity.cpus.end());
        RankEntry rank;
        rank.host_index = static_cast<std::uint32_t>(host - hosts.begin());
        rank.local_rank = host->rank_count++;
        map.ranks.push_back(std::move(rank));
    }
    for (std::size_t rank = 0; rank < identities.size(); ++rank) {
        const std::vector<std::uint32_t>& cpus = identities[rank].cpus;
        const GroupHost& host = hosts[map.ranks[rank].host_index];
        if (cpus.size() < host.cpus.size()) map.ranks[rank].cpus = cpus;
    }
    // A quota is that of the container that all of a host are in.
    const UsableCpus own = find_usable_cpus();
    for (const GroupHost& host : hosts) {
        auto cpu_count = static_cast<std::uint32_t>(std::max<std::size_t>(host.cpus.size(), 1));
        const bool is_own = host.first->host_key == identities[own_rank].host_key;
        if (is_own && own.is_quota_limited()) cpu_count = std::min(cpu_count, own.count);
        map.hosts.push_back({host.first->host_name, cpu_count});
    }
    return map;
}

}  // namespace

Result<GroupResources> create_group_resources(
    const std::vector<RankIdentity>& identities, std::uint32_t own_rank, std::string job_id
) {
    GroupResources resources;
    resources.map = make_map(identities, own_rank, std::move(job_id));
    const JobMap& map = resources.map;
    Result<Fd> map_file = create_job_map_file(map);
    if (!map_file) return map_file.error();
    resources.map_file = std::move(*map_file);
    const std::uint32_t host_index = map.ranks[own_rank].host_index;
    const std::vector<std::uint32_t> world_ranks = map.ranks_on_host(host_index);
    Result<HostSegment> segment = HostSegment::create(
        {.job_id = map.job_id,
         .host_index = host_index,
         .usable_cpu_count = map.hosts[host_index].usable_cpu_count,
         .world_ranks = world_ranks,
         .job_size = map.hosts.size() > 1 ? map.size() : 0}
    );
    if (!segment) return segment.error();
    fill_tenancy(segment->tenancy(), map, host_index);
    for (std::size_t i = 0; i < world_ranks.size(); ++i) {
        resources.doorbells.emplace_back(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        if (!resources.doorbells.back().is_open()) return fail_errno(errno, "create an eventfd");
    }
    resources.segment.emplace(std::move(*segment));
    return resources;
}

GroupLeader::GroupLeader(
    Fd listener, std::vector<RankIdentity> identities, std::uint32_t own_rank,
    GroupResources resources
)
    : listener_(std::move(listener)),
      identities_(std::move(identities)),
      own_rank_(own_rank),
      resources_(std::move(resources)),
      world_ranks_(resources_.map.ranks_on_host(resources_.map.ranks[own_rank].host_index)),
      guests_(world_ranks_.size()) {
    resources_.segment->set_wake_descriptor([this](std::uint32_t local_rank) {
        const std::uint64_t one = 1;
        [[maybe_unused]] const ssize_t written = ::write(doorbell_of(local_rank), &one, sizeof one);
    });
}

GroupLeader::~GroupLeader() {
    watch_.reset();
}

std::vector<std::uint32_t> GroupLeader::missing_ranks() const {
    std::vector<std::uint32_t> missing;
    for (std::size_t local_rank = 1; local_rank < guests_.size(); ++local_rank) {
        if (!guests_[local_rank].socket.is_open()) missing.push_back(world_ranks_[local_rank]);
    }
    return missing;
}

Status GroupLeader::admit_all(int timeout_ms, const std::function<Status()>& check) {
    const std::uint64_t deadline_ns = deadline_after(timeout_ms);
    for (;;) {
        const std::vector<std::uint32_t> missing = missing_ranks();
        if (missing.empty()) break;
        const int wait_ms = std::min(left_ms(deadline_ns), check_interval_ms);
        if (wait_ms == 0) {
            return fail(
                Errc::timeout, "{} of {} ranks did not come within {} s; rank {} is one of them",
                missing.size(), guests_.size(), timeout_ms / 1000, missing.front()
            );
        }
        Result<Fd> socket = accept_connection(listener_.get(), wait_ms);
        if (socket) {
            admit(std::move(*socket));
        } else if (socket.error().code != Errc::timeout) {
            return socket.error();
        } else if (Status status = check(); !status.ok()) {
            return status;
        }
    }
    listener_.reset();
    return check();
}

void GroupLeader::admit(Fd socket) {
    if (!is_same_user(socket.get())) {
        log(LogLevel::warning, "wireup", "dropped a connection of another user");
        return;
    }
    Result<ReceivedMessage> received = receive_message(socket.get(), hello_timeout_ms);
    const auto* hello = received ? std::get_if<Hello>(&received->message) : nullptr;
    if (hello == nullptr) return;
    if (const std::string reason = objection(*hello); !reason.empty()) {
        log(LogLevel::warning, "wireup", "refused rank {}: {}", hello->rank, reason);
        // Whoever has hung up already needs no reason.
        static_cast<void>(send_message(socket.get(), Refused{reason}));
        return;
    }
    const std::uint32_t local_rank = resources_.map.ranks[hello->rank].local_rank;
    const std::array<int, 3> descriptors = {
        resources_.map_file.get(), resources_.segment->descriptor(), doorbell_of(local_rank)};
    // A rank that died since shows at once when its socket is watched.
    static_cast<void>(send_message(socket.get(), Welcome{}, descriptors));
    guests_[local_rank].socket = std::move(socket);
}

std::string GroupLeader::objection(const Hello& hello) const {
    if (hello.protocol_version != control_protocol_version) {
        return fmt::format("it speaks version {} of the protocol", hello.protocol_version);
    }
    const std::string& secret = identities_[own_rank_].secret;
    if (!is_equal_secret(std::string_view(hello.token).substr(0, secret.size()), secret)) {
        return "its token is wrong";
    }
    const JobMap& map = resources_.map;
    if (hello.rank >= map.size() || hello.rank == own_rank_ ||
        map.ranks[hello.rank].host_index != map.ranks[own_rank_].host_index) {
        return fmt::format(
            "it is none of the {} ranks that are on this host besides rank {}", guests_.size() - 1,
            own_rank_
        );
    }
    const bool is_other_process = hello.token.substr(secret.size()) !=
                                  identities_[hello.rank].nonce;
    if (is_other_process || guests_[map.ranks[hello.rank].local_rank].socket.is_open()) {
        return "two processes claim this rank";
    }
    return {};
}

Status GroupLeader::start() {
    auto watch = WatchThread::start(
        {.descriptors =
             [this] {
                 std::vector<pollfd> entries;
                 for (const Guest& guest : guests_) {
                     if (guest.socket.is_open()) entries.push_back({guest.socket.get(), POLLIN, 0});
                 }
                 return entries;
             },
         .on_event =
             [this](const pollfd& entry) {
                 for (std::uint32_t local_rank = 0; local_rank < guests_.size(); ++local_rank) {
                     if (guests_[local_rank].socket.get() == entry.fd) handle(local_rank);
                 }
             }}
    );
    if (!watch) return watch.error();
    watch_ = std::move(*watch);
    return {};
}

void GroupLeader::handle(std::uint32_t local_rank) {
    Guest& guest = guests_[local_rank];
    Result<ReceivedMessage> received = receive_message(guest.socket.get(), 0);
    if (received && std::holds_alternative<Finalized>(received->message)) {
        guest.has_left = true;
        return;
    }
    if (received) {
        if (const auto* bell = std::get_if<GetDoorbell>(&received->message)) {
            answer(local_rank, *bell);
        } else if (const auto* address = std::get_if<GetAddress>(&received->message)) {
            answer(local_rank, *address);
        }
        return;
    }
    guest.socket.reset();
    const LifeCell& cell = resources_.segment->life(local_rank);
    constexpr auto finalized = static_cast<std::uint32_t>(RankLife::finalized);
    if (guest.has_left || cell.life.load(std::memory_order_acquire) == finalized) return;
    log(LogLevel::warning, "wireup", "rank {} ended without finalize", world_ranks_[local_rank]);
    resources_.segment->mark_departed(local_rank);
}

// A rank that died since it asked shows in the next round.

void GroupLeader::answer(std::uint32_t local_rank, const GetDoorbell& question) {
    const std::array<int, 1> bell = {doorbell_of(question.local_rank)};
    const auto descriptors = std::span<const int>(bell).first(bell[0] >= 0 ? 1 : 0);
    static_cast<void>(send_message(
        guests_[local_rank].socket.get(), DoorbellReply{question.local_rank}, descriptors
    ));
}

void GroupLeader::answer(std::uint32_t local_rank, const GetAddress& question) {
    std::vector<std::byte> address;
    {
        const std::lock_guard lock(addresses_mutex_);
        const auto found = addresses_.find(question.transport);
        if (found == addresses_.end()) return open_questions_.push_back({local_rank, question});
        if (question.rank < found->second.size()) address = found->second[question.rank];
    }
    static_cast<void>(send_message(
        guests_[local_rank].socket.get(),
        Address{question.rank, question.transport, std::move(address)}
    ));
}

void GroupLeader::keep_addresses(
    std::string transport, std::vector<std::vector<std::byte>> addresses
) {
    std::vector<OpenQuestion> questions;
    {
        const std::lock_guard lock(addresses_mutex_);
        addresses_[std::move(transport)] = std::move(addresses);
        questions.swap(open_questions_);
    }
    for (const OpenQuestion& one : questions) answer(one.local_rank, one.question);
}

std::optional<std::vector<std::byte>> GroupLeader::address_of(
    std::uint32_t rank, const std::string& transport
) {
    const std::lock_guard lock(addresses_mutex_);
    const auto found = addresses_.find(transport);
    if (found == addresses_.end() || rank >= found->second.size()) return std::nullopt;
    return found->second[rank];
}

int GroupLeader::doorbell_of(std::uint32_t local_rank) const {
    return local_rank < resources_.doorbells.size() ? resources_.doorbells[local_rank].get() : -1;
}

void GroupLeader::close_all() noexcept {
    listener_.reset();
    for (Guest& guest : guests_) guest.socket.reset();
}

void refuse_all(int listener, std::size_t count, const std::string& reason, int timeout_ms) {
    const std::uint64_t deadline_ns = deadline_after(timeout_ms);
    for (std::size_t i = 0; i < count; ++i) {
        Result<Fd> socket = accept_connection(listener, left_ms(deadline_ns));
        if (!socket) return;
        if (!is_same_user(socket->get())) continue;
        if (!receive_message(socket->get(), left_ms(deadline_ns))) continue;
        // Whoever has hung up already needs no reason.
        static_cast<void>(send_message(socket->get(), Refused{reason}));
    }
}

}  // namespace dlrt
