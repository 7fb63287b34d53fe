// SPDX-License-Identifier: Apache-2.0
#include "launcher/head_talk.hpp"

#include "launcher/heartbeat.hpp"
#include "launcher/host_facts.hpp"
#include "runtime/base/error_text.hpp"

#include <poll.h>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

constexpr int launcher_fault_status = 125;
constexpr auto silence_limit_ms = static_cast<int>(heartbeat_default_ms * silent_beats_max);

}  // namespace

Result<Frame> HeadTalk::receive() {
    while (true) {
        pollfd entry{stream_.input.get(), POLLIN, 0};
        if (::poll(&entry, 1, silence_limit_ms) == 0) {
            return fail(Errc::timeout, "the head says nothing");
        }
        Result<Frame> frame = receive_frame(stream_.input.get());
        if (!frame || !std::holds_alternative<Heartbeat>(*frame)) return frame;
        if (const Status status = send(Heartbeat{}); !status.ok()) return status;
    }
}

Result<StartJob> HeadTalk::receive_job(CpuClaim& claim) {
    TopologyDetail detail = TopologyDetail::quick;
    while (true) {
        Result<HostFacts> facts = find_host_facts(detail, claim.busy_cpus());
        if (!facts) {
            const std::string text = fmt::format(
                "host {}: {}", local_host_name(), last_error_text()
            );
            static_cast<void>(send(HostFailed{launcher_fault_status, text}));
            return facts.error();
        }
        if (place_.kind == DaemonPlace::Kind::other_host) add_ssh_addresses(*facts);
        if (place_.kind == DaemonPlace::Kind::simulated_host) play_host(*facts, place_.name);
        if (const Status status = send(*facts); !status.ok()) return status;
        Result<Frame> frame = receive();
        if (!frame) return frame.error();
        if (auto* job = std::get_if<StartJob>(&*frame)) return std::move(*job);
        const auto* question = std::get_if<DescribeHost>(&*frame);
        if (question == nullptr) {
            return fail(Errc::wireup, "the head said something else than StartJob");
        }
        detail = question->detail;
        claim.borrow(question->wanted_cpus, facts->cpus);
    }
}

bool HeadTalk::may_begin() {
    if (!send(JobPrepared{}).ok()) return false;
    while (true) {
        const Result<Frame> frame = receive();
        if (!frame) return false;
        if (std::holds_alternative<BeginRanks>(*frame)) return true;
        // Signals are for ranks that run.
        if (!std::holds_alternative<Terminate>(*frame)) continue;
        static_cast<void>(send(JobEnded{}));
        return false;
    }
}

void HeadTalk::give_up(const HostFailed& failure) {
    static_cast<void>(send(failure));
    static_cast<void>(send(JobEnded{}));
}

}  // namespace dlrt::launcher
