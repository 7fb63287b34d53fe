// SPDX-License-Identifier: Apache-2.0
/// dlrt-topology: what this host is made of, by hwloc, for the daemon that started it.
///
/// A program of its own because of what hwloc costs (5 ms, half of a job's start) and does: it may
/// load drivers and start threads, and the daemon forks. Its answer on standard output is the
/// daemon's frame HostFacts, of which only the topology is filled, or HostFailed.
#include "launcher/frame.hpp"
#include "launcher/topology_hwloc.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/wireup/usable_cpus.hpp"

#include <csignal>
#include <optional>
#include <string_view>
#include <sys/prctl.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

constexpr int wrong_usage_status = 125;

std::optional<TopologyQuestion> question_of(int argument_count, char** arguments) {
    if (argument_count != 3 || ::isatty(STDOUT_FILENO) == 1) return {};
    TopologyQuestion question;
    const std::string_view detail = arguments[1];
    if (detail == "devices") question.detail = TopologyDetail::devices;
    if (detail != "devices" && detail != "full") return {};
    question.usable_cpus = parse_cpu_list(arguments[2]);
    if (!question.usable_cpus) return {};
    return question;
}

Frame answer_to(const TopologyQuestion& question) {
    Result<HostTopology> topology = read_hwloc_topology(question);
    if (!topology) return HostFailed{wrong_usage_status, last_error_text()};
    HostFacts facts;
    facts.topology = std::move(*topology);
    return facts;
}

}  // namespace
}  // namespace dlrt::launcher

int main(int argument_count, char** arguments) {
    using namespace dlrt::launcher;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const auto question = question_of(argument_count, arguments);
    if (!question) {
        fmt::print(stderr, "dlrt-topology: is started by dlrun; see dlrun --display topo\n");
        return wrong_usage_status;
    }
    return send_frame(STDOUT_FILENO, answer_to(*question)).ok() ? 0 : wrong_usage_status;
}
