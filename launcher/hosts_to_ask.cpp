// SPDX-License-Identifier: Apache-2.0
#include "launcher/hosts_to_ask.hpp"

#include "launcher/preamble.hpp"
#include "launcher/rank_environment.hpp"
#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <unistd.h>
#include <utility>

namespace dlrt::launcher {
namespace {

constexpr std::uint64_t connect_timeout_max_s = 30;

/// A step of one task beside all others.
constexpr std::array srun_words = {"srun",         "--nodes=1", "--ntasks=1", "--nodelist={host}",
                                   "--unbuffered", "--overlap", "--mpi=none", "--cpu-bind=none",
                                   "--quiet"};

Result<std::string> daemon_path() {
    std::array<char, 4096> own_path{};
    const ssize_t length = ::readlink("/proc/self/exe", own_path.data(), own_path.size() - 1);
    if (length <= 0) return fail_errno(errno, "cannot find the program dlrund");
    std::string path(own_path.data(), static_cast<std::size_t>(length));
    path.resize(path.rfind('/') + 1);
    return path + "dlrund";
}

}  // namespace

std::vector<bool> hosts_to_ask(const Options& options, const Allocation& allocation) {
    const std::vector<AllocatedHost>& hosts = allocation.hosts;
    std::vector<bool> is_asked(hosts.size(), true);
    if (options.is_dry_run) {
        for (std::size_t i = 0; i < hosts.size(); ++i) is_asked[i] = hosts[i].is_own;
        return is_asked;
    }
    const std::optional<std::uint32_t> wanted = options.rank_count();
    if (options.mapping.kind != MappingChoice::Kind::slot || options.ranks_per_host || !wanted) {
        return is_asked;
    }
    std::uint64_t slots = 0;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        is_asked[i] = slots < *wanted;
        // A host says itself how many it has where the list doesn't; it may be none too many.
        slots += std::min(hosts[i].slots.value_or(0), hosts[i].max_slots.value_or(UINT32_MAX));
    }
    return is_asked;
}

bool is_own_host_asked(const Options& options, const Allocation& allocation) {
    const std::vector<bool> is_asked = hosts_to_ask(options, allocation);
    for (std::size_t i = 0; i < is_asked.size(); ++i) {
        if (is_asked[i] && allocation.hosts[i].is_own) return true;
    }
    return false;
}

Result<RemoteWay> remote_way(
    const Options& options, const CallerContext& context, std::string_view version,
    const ProcessDefaults& defaults
) {
    RemoteWay way;
    way.defaults = &defaults;
    const std::vector<AllocatedHost>& hosts = context.allocation.hosts;
    if (std::ranges::all_of(hosts, &AllocatedHost::is_own)) return way;
    Result<std::string> path = daemon_path();
    if (!path) return path.error();
    way.daemon_path = std::move(*path);
    way.version = daemon_version(version);
    way.launcher.is_simulation = options.simulated_hosts > 0;
    if (way.launcher.is_simulation) return way;
    way.launcher.words = options.launcher_words;
    if (const std::string agent = foreign_agent(context.environment);
        way.launcher.words.empty() && !agent.empty()) {
        Result<LauncherTemplate> launcher = parse_launcher_template(agent);
        if (!launcher) {
            const std::string problem(last_error_text());
            return fail(Errc::argument, "the environment's rsh agent '{}': {}", agent, problem);
        }
        way.launcher = std::move(*launcher);
    }
    if (way.launcher.words.empty() && context.allocation.manager == ResourceManager::slurm) {
        way.launcher.words.assign(srun_words.begin(), srun_words.end());
    }
    way.connect_timeout_s = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(options.start_timeout_ms / 1000, 1, connect_timeout_max_s)
    );
    // Pods of a job come to life one after the other, and their names with them.
    way.awaits_hosts = !find_variable(context.environment, "KUBERNETES_SERVICE_HOST").empty();
    return way;
}

}  // namespace dlrt::launcher
