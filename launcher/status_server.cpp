// SPDX-License-Identifier: Apache-2.0
#include "launcher/status_server.hpp"

#include "launcher/frame.hpp"
#include "launcher/process_tree.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/wireup/control_socket.hpp"

#include <cerrno>
#include <sys/socket.h>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

constexpr std::uint32_t records_shown = 4;
/// One datagram; the rest of a larger answer follows in further ones.
constexpr std::size_t part_bytes = 32 * 1024;
constexpr std::size_t askers_max = 16;

std::string_view describe_process(pid_t pid) {
    if (pid == 0) return "not running";
    const auto state = read_process_state(pid);
    if (!state || state->letter == 'Z') return "ended";
    switch (state->letter) {
        case 'T':
            return "stopped";
        case 't':
            return "stopped by a debugger";
        case 'D':
            return "running (waits for a device)";
        case 'S':
            return "running (sleeps)";
        default:
            return "running";
    }
}

std::string_view describe_life(std::uint32_t life) {
    switch (static_cast<RankLife>(life)) {
        case RankLife::absent:
            return "has not called dlrt";
        case RankLife::initialized:
            return "initialised";
        case RankLife::finalized:
            return "finalized";
        case RankLife::departed:
            return "gone without finalize";
    }
    return "unknown";
}

}  // namespace

std::string describe_ranks(
    const PreparedJob& job, const std::vector<pid_t>& pids, std::uint64_t now_ns
) {
    const std::string& host = job.map.hosts[job.host_index].name;
    std::string text = fmt::format(
        "job {}: {} ranks, {} on {}\n", job.map.job_id, job.map.size(), job.ends.size(), host
    );
    for (std::uint32_t local_rank = 0; local_rank < job.ends.size(); ++local_rank) {
        const std::uint32_t life = job.segment.life(local_rank)
                                       .life.load(std::memory_order_acquire);
        text += fmt::format(
            "rank {} ({}, pid {}): {}, {}\n", job.ends[local_rank].rank, host, pids[local_rank],
            describe_process(pids[local_rank]), describe_life(life)
        );
        for (const FlightEntry& entry :
             read_flight_ring(job.segment.flight_ring(local_rank), records_shown)) {
            text += fmt::format("  {}\n", describe(entry, now_ns));
        }
    }
    return text;
}

Status StatusServer::listen() {
    Result<Fd> listener = listen_abstract(status_socket_name(job_.map.job_id, job_.host_index));
    if (!listener) return listener.error();
    listener_ = std::make_unique<DescriptorWatch>(loop_, listener->release());
    listener_->when_readable([this] { accept(); });
    return {};
}

void StatusServer::accept() {
    std::erase_if(askers_, [](const auto& asker) { return !asker->watch.is_open(); });
    Result<Fd> accepted = accept_connection(listener_->get(), 0);
    if (accepted && pids_ != nullptr && askers_.size() < askers_max &&
        is_same_user(accepted->get())) {
        Asker& asker = *askers_.emplace_back(std::make_unique<Asker>(loop_, accepted->release()));
        asker.text = describe_ranks(job_, *pids_, monotonic_ns());
        answer(asker);
    }
    listener_->when_readable([this] { accept(); });
}

void StatusServer::answer(Asker& asker) {
    while (asker.sent_bytes < asker.text.size()) {
        const std::string_view part = std::string_view(asker.text)
                                          .substr(asker.sent_bytes, part_bytes);
        const ssize_t sent = ::send(
            asker.watch.get(), part.data(), part.size(), MSG_DONTWAIT | MSG_NOSIGNAL
        );
        if (sent < 0 && (errno == EAGAIN || errno == EINTR)) {
            asker.watch.when_writable([this, &asker] { answer(asker); });
            return;
        }
        if (sent < 0) break;
        asker.sent_bytes += static_cast<std::size_t>(sent);
    }
    asker.watch.close();
}

}  // namespace dlrt::launcher
