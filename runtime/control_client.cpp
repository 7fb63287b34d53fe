// SPDX-License-Identifier: Apache-2.0
/// The dialogue of format.md from a rank's side.
#include "runtime/control_client.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/base/log.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <unistd.h>
#include <utility>

namespace dlrt {
namespace {

/// Questions on their way: more could fill the socket in both directions.
constexpr std::size_t unanswered_max = 64;

bool is_eventfd(int descriptor) {
    std::array<char, 64> text{};
    const std::string path = fmt::format("/proc/self/fd/{}", descriptor);
    const ssize_t length = ::readlink(path.c_str(), text.data(), text.size() - 1);
    return length > 0 && std::string_view(text.data()) == "anon_inode:[eventfd]";
}

/// The place of the rank in the map and in the segment, compared.
Status check_place(std::uint32_t rank, const JobMap& map, const HostSegment& segment) {
    const SegmentHeader& header = segment.header();
    if (map.job_id != std::string_view(header.job_id)) {
        return fail(
            Errc::wireup, "the job map is of job '{}', the host segment of job '{}'", map.job_id,
            static_cast<const char*>(header.job_id)
        );
    }
    if (rank >= map.size()) {
        return fail(Errc::wireup, "rank {} in a job of {} ranks", rank, map.size());
    }
    const RankEntry& place = map.ranks[rank];
    const bool is_same = place.host_index == header.host_index &&
                         place.local_rank < header.local_size &&
                         segment.life(place.local_rank).world_rank == rank;
    if (is_same) return {};
    return fail(Errc::wireup, "the host segment is another host's than that of rank {}", rank);
}

}  // namespace

ControlClient::ControlClient(Fd socket, std::string served_by, int timeout_ms)
    : socket_(std::move(socket)), served_by_(std::move(served_by)), timeout_ms_(timeout_ms) {
}

Result<std::vector<Fd>> ControlClient::greet(const Hello& hello) {
    if (Status status = tell(hello); !status.ok()) return status;
    for (;;) {
        Result<ReceivedMessage> answer = receive_message(socket_.get(), timeout_ms_);
        if (!answer) {
            const std::string reason = last_error_text();
            return fail(
                Errc::wireup, "{} does not answer rank {}: {}", served_by_, hello.rank, reason
            );
        }
        if (const auto* refused = std::get_if<Refused>(&answer->message)) {
            return fail(
                Errc::wireup, "{} refuses rank {}: {}", served_by_, hello.rank, refused->reason
            );
        }
        const auto* welcome = std::get_if<Welcome>(&answer->message);
        // An answer to a question of a process that held this rank before: nobody waits for it.
        if (welcome == nullptr) continue;
        if (welcome->protocol_version != control_protocol_version) {
            return fail(
                Errc::wireup, "{} speaks version {} of the protocol, this library version {}",
                served_by_, welcome->protocol_version, control_protocol_version
            );
        }
        return std::move(answer->descriptors);
    }
}

Status ControlClient::tell(const ControlMessage& message) {
    return send_message(socket_.get(), message);
}

int ControlClient::doorbell_of(std::uint32_t local_rank) {
    const std::lock_guard lock(mutex_);
    if (const auto known = doorbells_.find(local_rank); known != doorbells_.end()) {
        return known->second.get();
    }
    Fd& doorbell = doorbells_[local_rank];
    if (!tell(GetDoorbell{local_rank}).ok()) return -1;
    for (;;) {
        Result<ReceivedMessage> answer = receive_message(socket_.get(), timeout_ms_);
        if (!answer) break;
        const auto* reply = std::get_if<DoorbellReply>(&answer->message);
        if (reply == nullptr) {
            // An answer to an earlier question.
            keep(std::move(*answer));
            continue;
        }
        if (reply->local_rank == local_rank && answer->descriptors.size() == 1) {
            doorbell = std::move(answer->descriptors.front());
        }
        break;
    }
    if (!doorbell.is_open()) {
        log(LogLevel::warning, "wireup", "no doorbell of local rank {}", local_rank);
    }
    return doorbell.get();
}

std::optional<std::vector<std::byte>> ControlClient::address_of(
    std::uint32_t rank, const std::string& transport
) {
    const std::lock_guard lock(mutex_);
    Question& question = addresses_[{rank, transport}];
    if (question.answer || question.is_asked || unanswered_ >= unanswered_max) {
        return question.answer;
    }
    question.is_asked = tell(GetAddress{rank, transport}).ok();
    if (question.is_asked) ++unanswered_;
    return std::nullopt;
}

void ControlClient::take_news() {
    const std::lock_guard lock(mutex_);
    for (;;) {
        // That nothing is there is no failure to be told of.
        pollfd entry{socket_.get(), POLLIN, 0};
        if (::poll(&entry, 1, 0) <= 0) return;
        Result<ReceivedMessage> received = receive_message(socket_.get(), 0);
        if (!received) return;
        keep(std::move(*received));
    }
}

void ControlClient::keep(ReceivedMessage&& received) {
    if (auto* const request = std::get_if<ConnectBack>(&received.message)) {
        connect_backs_.push_back(std::move(*request));
        connect_back_count_.store(connect_backs_.size(), std::memory_order_relaxed);
        return;
    }
    auto* const address = std::get_if<Address>(&received.message);
    if (address == nullptr) return;
    const auto asked = addresses_.find({address->rank, address->transport});
    if (asked == addresses_.end() || asked->second.answer) return;
    asked->second.answer = std::move(address->address);
    --unanswered_;
}

std::optional<ConnectBack> ControlClient::take_connect_back(const std::string& transport) {
    if (connect_back_count_.load(std::memory_order_relaxed) == 0) return std::nullopt;
    const std::lock_guard lock(mutex_);
    // Those for another round of init and finalize are of no use to anybody.
    std::erase_if(connect_backs_, [&](const ConnectBack& request) {
        return request.transport != transport;
    });
    std::optional<ConnectBack> first;
    if (!connect_backs_.empty()) {
        first = std::move(connect_backs_.front());
        connect_backs_.pop_front();
    }
    connect_back_count_.store(connect_backs_.size(), std::memory_order_relaxed);
    return first;
}

void ControlClient::close_all() noexcept {
    socket_.reset();
    for (auto& [local_rank, doorbell] : doorbells_) doorbell.reset();
}

Result<Membership> open_membership(std::uint32_t rank, const JobDescriptors& descriptors) {
    Result<JobMap> map = read_job_map_file(descriptors.map);
    if (!map) return map.error();
    Result<HostSegment> segment = HostSegment::open(descriptors.segment);
    if (!segment) return segment.error();
    if (Status status = check_place(rank, *map, *segment); !status.ok()) return status;
    if (!is_eventfd(descriptors.doorbell)) {
        return fail(
            Errc::wireup, "doorbell: descriptor {} is not an eventfd", descriptors.doorbell
        );
    }
    Fd doorbell(::fcntl(descriptors.doorbell, F_DUPFD_CLOEXEC, 3));
    if (!doorbell.is_open()) return fail_errno(errno, "duplicate the doorbell's descriptor");
    return Membership{rank, std::move(*map), std::move(*segment), std::move(doorbell)};
}

}  // namespace dlrt
