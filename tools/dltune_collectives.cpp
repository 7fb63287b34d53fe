// SPDX-License-Identifier: Apache-2.0
#include "tools/dltune_collectives.hpp"

#include "runtime/base/error_text.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dlrt::tune {
namespace {

using coll::Collective;

/// A line for each collective that the library has a call for and dlperf a test.
struct Test {
    Collective collective;
    std::string_view name;
    bool has_blocks = false;
};
constexpr std::array tests = {
    Test{Collective::barrier, "barrier"},
    Test{Collective::bcast, "broadcast"},
    Test{Collective::reduce, "reduce"},
    Test{Collective::allreduce, "all_reduce"},
    Test{Collective::gather, "gather", true},
    Test{Collective::scatter, "scatter", true},
    Test{Collective::allgather, "all_gather", true},
};

constexpr std::int32_t ranks_by_default[] = {2, 4, 8};
constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t sizes_by_default[] = {8, kib, 16 * kib, 64 * kib, 512 * kib, 4096 * kib};

/// The program beside this one, or where the build has it, else as the shell finds it.
std::string program(std::string_view name, std::string_view build_folder) {
    std::array<char, 4096> own{};
    const ssize_t length = ::readlink("/proc/self/exe", own.data(), own.size());
    if (length > 0) {
        const std::string path(own.data(), static_cast<std::size_t>(length));
        const std::string folder = path.substr(0, path.rfind('/'));
        for (const std::string& candidate :
             {fmt::format("{}/{}", folder, name),
              fmt::format("{}/{}/{}", folder, build_folder, name)}) {
            struct stat facts {};
            const bool is_file = ::stat(candidate.c_str(), &facts) == 0 && S_ISREG(facts.st_mode);
            if (is_file && ::access(candidate.c_str(), X_OK) == 0) return candidate;
        }
    }
    return std::string(name);
}

std::string shell_word(std::string_view word) {
    std::string text = "'";
    for (const char letter : word) text += letter == '\'' ? "'\\''" : std::string(1, letter);
    return text + "'";
}

struct Job {
    const Test& test;
    const coll::Algorithm& algorithm;
    std::int32_t ranks;
    std::uint64_t size_bytes;
};

Result<double> measure(const Job& job) {
    const std::string rule = fmt::format("{}:{}", name_of(job.test.collective), job.algorithm.name);
    const std::string command = fmt::format(
        "DLRT_ALGO={} {} -np {} {} --json --batches 3 --sizes {}:{} {}", rule,
        shell_word(program("dlrun", "../launcher")), job.ranks,
        shell_word(program("dlperf", "dlperf")), job.size_bytes, job.size_bytes, job.test.name
    );
    FILE* const output = ::popen(command.c_str(), "r");
    if (output == nullptr) return fail_errno(errno, "no shell can be started");
    std::string text;
    std::array<char, 4096> piece;
    while (const std::size_t count = std::fread(piece.data(), 1, piece.size(), output))
        text.append(piece.data(), count);
    const int status = ::pclose(output);
    const nlohmann::json line = nlohmann::json::parse(text.substr(0, text.find('\n')), {}, false);
    const bool has_value = line.is_object() && line.contains("value") && line["value"].is_number();
    if (status != 0 || !has_value) {
        return fail(Errc::system, "this job gave no time, status {}: {}", status, command);
    }
    return line["value"].get<double>();
}

}  // namespace

std::vector<std::string_view> measurable_collectives() {
    std::vector<std::string_view> names;
    for (const Test& test : tests) names.push_back(name_of(test.collective));
    return names;
}

Result<std::vector<AlgorithmSample>> measure_collectives(const CollectiveOptions& options) {
    std::vector<std::int32_t> all_ranks = options.ranks;
    if (all_ranks.empty())
        all_ranks.assign(std::begin(ranks_by_default), std::end(ranks_by_default));
    std::vector<std::uint64_t> sizes = options.sizes_bytes;
    if (sizes.empty()) sizes.assign(std::begin(sizes_by_default), std::end(sizes_by_default));
    std::vector<AlgorithmSample> samples;
    for (const Test& test : tests) {
        if (!options.only.empty() && options.only != name_of(test.collective)) continue;
        for (const std::int32_t ranks : all_ranks) {
            fmt::print(stderr, "{} on {} ranks\n", name_of(test.collective), ranks);
            for (const coll::Algorithm& algorithm : coll::algorithms()) {
                if (algorithm.collective != test.collective) continue;
                // On the one host that is measured there are no groups.
                if (algorithm.groups_need != coll::GroupsNeed::none) continue;
                for (const std::uint64_t size : sizes) {
                    const bool is_barrier = test.collective == Collective::barrier;
                    if (is_barrier && size != sizes.front()) continue;
                    const auto time_us = measure({test, algorithm, ranks, size});
                    if (!time_us) return time_us.error();
                    const auto blocks = static_cast<std::uint64_t>(test.has_blocks ? ranks : 1);
                    samples.push_back({&algorithm, ranks, is_barrier ? 0 : size * blocks, *time_us}
                    );
                }
            }
        }
    }
    return samples;
}

}  // namespace dlrt::tune
