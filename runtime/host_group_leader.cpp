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
void fill_tenancy(TenancyTable& tenancy, const JobMap& map) {
    for (const RankEntry& rank : map.ranks) {
        if (rank.cpus.empty()) tenancy.unbound_ranks.fetch_add(1, std::memory_order_relaxed);
        for (const std::uint32_t cpu : rank.cpus) {
            if (cpu >= cpu_count_max) continue;
            tenancy.tenants[cpu].fetch_add(1, std::memory_order_relaxed);
        }
    }
}

JobMap make_map(const std::vector<RankIdentity>& identities, std::string job_id) {
    std::set<std::uint32_t> all_cpus;
    for (const RankIdentity& identity : identities) {
        all_cpus.insert(identity.cpus.begin(), identity.cpus.end());
    }
    // A quota is that of the container that all are in.
    const UsableCpus own = find_usable_cpus();
    auto cpu_count = static_cast<std::uint32_t>(std::max<std::size_t>(all_cpus.size(), 1));
    if (own.is_quota_limited()) cpu_count = std::min(cpu_count, own.count);
    JobMap map;
    map.job_id = std::move(job_id);
    map.hosts.push_back({identities.front().host_name, cpu_count});
    for (const RankIdentity& identity : identities) {
        RankEntry rank;
        rank.local_rank = map.size();
        if (identity.cpus.size() < all_cpus.size()) rank.cpus = identity.cpus;
        map.ranks.push_back(std::move(rank));
    }
    return map;
}

}  // namespace

Result<GroupResources> create_group_resources(
    const std::vector<RankIdentity>& identities, std::string job_id
) {
    GroupResources resources;
    resources.map = make_map(identities, std::move(job_id));
    Result<Fd> map_file = create_job_map_file(resources.map);
    if (!map_file) return map_file.error();
    resources.map_file = std::move(*map_file);
    const std::vector<std::uint32_t> world_ranks = resources.map.ranks_on_host(0);
    Result<HostSegment> segment = HostSegment::create(
        {.job_id = resources.map.job_id,
         .usable_cpu_count = resources.map.hosts[0].usable_cpu_count,
         .world_ranks = world_ranks}
    );
    if (!segment) return segment.error();
    fill_tenancy(segment->tenancy(), resources.map);
    for (std::size_t i = 0; i < identities.size(); ++i) {
        resources.doorbells.emplace_back(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        if (!resources.doorbells.back().is_open()) return fail_errno(errno, "create an eventfd");
    }
    resources.segment.emplace(std::move(*segment));
    return resources;
}

GroupLeader::GroupLeader(
    Fd listener, std::vector<RankIdentity> identities, GroupResources resources
)
    : listener_(std::move(listener)),
      identities_(std::move(identities)),
      resources_(std::move(resources)),
      guests_(identities_.size()) {
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
    for (std::uint32_t rank = 1; rank < guests_.size(); ++rank) {
        if (!guests_[rank].socket.is_open()) missing.push_back(rank);
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
    const std::array<int, 3> descriptors = {
        resources_.map_file.get(), resources_.segment->descriptor(), doorbell_of(hello->rank)};
    // A rank that died since shows at once when its socket is watched.
    static_cast<void>(send_message(socket.get(), Welcome{}, descriptors));
    guests_[hello->rank].socket = std::move(socket);
}

std::string GroupLeader::objection(const Hello& hello) const {
    if (hello.protocol_version != control_protocol_version) {
        return fmt::format("it speaks version {} of the protocol", hello.protocol_version);
    }
    const std::string& secret = identities_.front().secret;
    if (!is_equal_secret(std::string_view(hello.token).substr(0, secret.size()), secret)) {
        return "its token is wrong";
    }
    if (hello.rank == 0 || hello.rank >= guests_.size()) {
        return fmt::format("there are ranks 1 to {} besides this", guests_.size() - 1);
    }
    const bool is_other_process = hello.token.substr(secret.size()) !=
                                  identities_[hello.rank].nonce;
    if (is_other_process || guests_[hello.rank].socket.is_open()) {
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
                 for (std::uint32_t rank = 0; rank < guests_.size(); ++rank) {
                     if (guests_[rank].socket.get() == entry.fd) handle(rank);
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
        const auto* question = std::get_if<GetDoorbell>(&received->message);
        if (question == nullptr) return;
        const std::array<int, 1> bell = {doorbell_of(question->local_rank)};
        const auto descriptors = std::span<const int>(bell).first(bell[0] >= 0 ? 1 : 0);
        // A rank that died since it asked shows in the next round.
        static_cast<void>(
            send_message(guest.socket.get(), DoorbellReply{question->local_rank}, descriptors)
        );
        return;
    }
    guest.socket.reset();
    const LifeCell& cell = resources_.segment->life(local_rank);
    constexpr auto finalized = static_cast<std::uint32_t>(RankLife::finalized);
    if (guest.has_left || cell.life.load(std::memory_order_acquire) == finalized) return;
    log(LogLevel::warning, "wireup", "rank {} ended without finalize", local_rank);
    resources_.segment->mark_departed(local_rank);
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
