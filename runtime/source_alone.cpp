// SPDX-License-Identifier: Apache-2.0
/// A segment for one rank, and the nose for other launchers.
#include "runtime/source_alone.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/base/log.hpp"
#include "runtime/host_identity.hpp"
#include "runtime/wireup/usable_cpus.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace dlrt {
namespace {

/// A variable that holds a number of ranks; it tells of others when above 1 and, where `also` isn't
/// null, that one is set too.
struct Hint {
    const char* size;
    const char* also;
};
constexpr std::array<Hint, 8> hints = {{
    {"OMPI_COMM_WORLD_SIZE", nullptr},
    {"MV2_COMM_WORLD_SIZE", nullptr},
    {"PMI_SIZE", nullptr},
    {"PALS_SIZE", nullptr},
    {"FLUX_JOB_SIZE", "FLUX_TASK_RANK"},
    {"JSM_NAMESPACE_SIZE", nullptr},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
    {"WORLD_SIZE", "TORCHELASTIC_RUN_ID"},
}};

bool is_above_one(const char* text) {
    unsigned long value = 0;
    const auto [stop, error] = std::from_chars(text, text + std::strlen(text), value);
    return error == std::errc{} && *stop == '\0' && value > 1;
}

class AloneSource final : public WireupSource {
  public:
    [[nodiscard]] std::string_view name() const override { return "alone"; }
    [[nodiscard]] Result<Membership> join() override;
    void abort(std::int32_t, std::string_view) override {}
    Status leave() override { return {}; }
    [[nodiscard]] int doorbell_of(std::uint32_t) override { return -1; }
    void abandon() noexcept override {}
};

Result<Membership> AloneSource::join() {
    if (const char* variable = find_foreign_launcher(); variable != nullptr) {
        log(LogLevel::warning, "wireup",
            "{} says that this process is one of several, but dlrt does not understand that "
            "launcher: this process runs alone. Start it with dlrun, or with a launcher that "
            "offers "
            "PMI-1",
            variable);
    }
    const std::uint32_t cpu_count = find_usable_cpus().count;
    JobMap map;
    map.job_id = fmt::format("alone-{}", ::getpid());
    map.hosts.push_back({find_host_identity().name, cpu_count});
    map.ranks.push_back({});
    const std::array<std::uint32_t, 1> world_ranks = {0};
    Result<HostSegment> segment = HostSegment::create(
        {.job_id = map.job_id, .usable_cpu_count = cpu_count, .world_ranks = world_ranks}
    );
    if (!segment) return segment.error();
    segment->tenancy().unbound_ranks.store(1, std::memory_order_relaxed);
    Fd doorbell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!doorbell.is_open()) return fail_errno(errno, "create an eventfd");
    return Membership{0, std::move(map), std::move(*segment), std::move(doorbell)};
}

}  // namespace

std::unique_ptr<WireupSource> make_alone_source() {
    return std::make_unique<AloneSource>();
}

const char* find_foreign_launcher() {
    for (const Hint& hint : hints) {
        const char* size = std::getenv(hint.size);
        if (size == nullptr || !is_above_one(size)) continue;
        if (hint.also == nullptr || std::getenv(hint.also) != nullptr) return hint.size;
    }
    // PMIx tells the size only to those who ask its server; Open MPI tells it beside.
    const bool is_size_unknown = std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr;
    return is_size_unknown && std::getenv("PMIX_RANK") != nullptr ? "PMIX_RANK" : nullptr;
}

}  // namespace dlrt
