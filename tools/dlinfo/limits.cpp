// SPDX-License-Identifier: Apache-2.0
#include "runtime/wireup/host_heap.hpp"
#include "tools/dlinfo/facts.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sys/resource.h>

#include <fmt/format.h>

namespace dlrt::info {
namespace {

// The daemon holds so many for a rank (two pipes, control socket, doorbell), and for itself.
constexpr std::uint64_t descriptors_per_rank = 6;
constexpr std::uint64_t descriptors_of_daemon = 64;
constexpr std::uint64_t ranks_that_most_jobs_have = 128;

std::string text_of(rlim_t value) {
    return value == RLIM_INFINITY ? "unlimited" : fmt::format("{}", value);
}

std::optional<std::uint64_t> number_in(const char* path) {
    std::ifstream file(path);
    std::uint64_t number = 0;
    if (file >> number) return number;
    return {};
}

Limit descriptors() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    Limit found{"descriptors", text_of(limit.rlim_max), "any number of ranks", false};
    if (limit.rlim_max == RLIM_INFINITY) return found;
    const std::uint64_t rest = limit.rlim_max -
                               std::min<rlim_t>(limit.rlim_max, descriptors_of_daemon);
    const std::uint64_t ranks = rest / descriptors_per_rank;
    found.meaning = fmt::format("about {} ranks on this host (hard limit; ulimit -Hn)", ranks);
    found.will_bite = ranks < ranks_that_most_jobs_have;
    return found;
}

Limit processes() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NPROC, &limit);
    Limit found{"processes", text_of(limit.rlim_cur), "any number of ranks", false};
    std::optional<std::uint64_t> least;
    if (limit.rlim_cur != RLIM_INFINITY) least = limit.rlim_cur;
    for (const char* path : {"/sys/fs/cgroup/pids.max", "/sys/fs/cgroup/pids/pids.max"}) {
        const auto number = number_in(path);
        if (!number || (least && *least <= *number)) continue;
        least = number;
        found.value = fmt::format("{} (pids.max of the cgroup)", *number);
    }
    if (!least) return found;
    found.meaning = fmt::format("{} processes and threads of the user together", *least);
    found.will_bite = *least < ranks_that_most_jobs_have * 2;
    return found;
}

Limit locked_memory() {
    rlimit limit{};
    ::getrlimit(RLIMIT_MEMLOCK, &limit);
    return {"locked memory", text_of(limit.rlim_cur), "not needed on one host", false};
}

Limit cpus(std::uint32_t usable_cpu_count) {
    return {
        "cpus", fmt::format("{}", usable_cpu_count),
        fmt::format("more than {} ranks share cpus: they sleep while they wait", usable_cpu_count),
        false};
}

Limit heap(std::uint64_t limit_bytes) {
    constexpr std::uint64_t few_bytes = std::uint64_t{64} << 20;
    Limit found{
        "shared heap", fmt::format("{}", limit_bytes),
        "bytes of dlrt_alloc for each rank (DLRT_HEAP_BYTES)", limit_bytes < few_bytes};
    rlimit file{};
    ::getrlimit(RLIMIT_FSIZE, &file);
    if (file.rlim_cur == RLIM_INFINITY) return found;
    found.will_bite = file.rlim_cur < file_bytes_with_heap(0, local_rank_count_max);
    if (found.will_bite) found.meaning += "; perhaps none, since 'ulimit -f' limits files";
    return found;
}

}  // namespace

std::vector<Limit> find_limits(std::uint32_t usable_cpu_count, std::uint64_t heap_limit_bytes) {
    return {
        cpus(usable_cpu_count), descriptors(), processes(), locked_memory(),
        heap(heap_limit_bytes)};
}

}  // namespace dlrt::info
