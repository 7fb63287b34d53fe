// SPDX-License-Identifier: Apache-2.0
#include "launcher/launch_plan.hpp"

#include "launcher/process_limits.hpp"
#include "launcher/program_path.hpp"
#include "launcher/rank_environment.hpp"
#include "launcher/rank_process.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/wireup/usable_cpus.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

constexpr int launcher_fault_status = 125;
constexpr int preferred_first_descriptor = 100;
/// A pipe for output, a socket pair and a doorbell per rank; both ends are open until the keeper
/// has its own.
constexpr rlim_t descriptors_per_rank = 5;
constexpr rlim_t descriptors_per_pipe = 2;
constexpr rlim_t descriptors_besides = 32;
/// The keeper.
constexpr std::uint64_t processes_besides = 1;

/// A pair of ends, close-on-exec.
struct Ends {
    Fd daemon_side;
    Fd rank_side;
};

Result<Ends> make_output_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno(errno, "cannot make a pipe");
    // Only our end: the rank must find an ordinary blocking descriptor.
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return Ends{Fd(ends[0]), Fd(ends[1])};
}

Result<Ends> make_input_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno(errno, "cannot make a pipe");
    ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
    return Ends{Fd(ends[1]), Fd(ends[0])};
}

Result<Ends> make_control_pair() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        return fail_errno(errno, "cannot make a socket pair");
    }
    return Ends{Fd(ends[0]), Fd(ends[1])};
}

ino_t inode_of(const Fd& descriptor) {
    struct stat facts = {};
    return ::fstat(descriptor.get(), &facts) == 0 ? facts.st_ino : 0;
}

/// Builds the two halves of a job step by step; a failed Status leaves the text in
/// last_error_text().
class Preparer {
  public:
    Preparer(StartJob& job, JobMap& map, LaunchPlan& plan) : job_(job), map_(map), plan_(plan) {}

    std::optional<HostFailed> check_programs();
    Status reserve_descriptors(std::size_t rank_count, std::size_t file_count);
    Status add_rank(std::uint32_t rank, std::uint32_t local_size, std::vector<RankEnds>& ends);

    std::vector<Fd> placeholders;

  private:
    std::string host_name() const { return map_.hosts[job_.host_index].name; }
    std::vector<std::string> identity_of(std::uint32_t rank, std::uint32_t local_size) const;
    Status add_stdin(RankPlan& plan, RankEnds& ends) const;
    Status add_memory(RankPlan& plan) const;

    StartJob& job_;
    JobMap& map_;
    LaunchPlan& plan_;
};

std::optional<HostFailed> Preparer::check_programs() {
    for (Program& program : job_.programs) {
        const std::string& folder = program.working_directory;
        struct stat facts = {};
        int error = ::stat(folder.c_str(), &facts) == 0 ? 0 : errno;
        if (error == 0 && !S_ISDIR(facts.st_mode)) error = ENOTDIR;
        if (error == 0 && ::access(folder.c_str(), X_OK) != 0) error = errno;
        if (error != 0) {
            return HostFailed{
                launcher_fault_status, fmt::format(
                                           "host {}: cannot use the working directory '{}': {}",
                                           host_name(), folder, std::strerror(error)
                                       )};
        }
        const std::string_view path = find_variable(program.environment, "PATH");
        ProgramPath found = find_program(
            program.arguments.at(0), path.empty() ? "/usr/local/bin:/usr/bin:/bin" : path, folder
        );
        if (found.exit_status != 0) {
            return HostFailed{
                found.exit_status, fmt::format("host {}: {}", host_name(), found.problem)};
        }
        if (!job_.master_address.empty()) {
            if (find_variable(program.environment, "MASTER_ADDR").empty()) {
                program.environment.push_back("MASTER_ADDR=" + job_.master_address);
            }
            if (find_variable(program.environment, "MASTER_PORT").empty()) {
                program.environment.push_back(fmt::format("MASTER_PORT={}", job_.master_port));
            }
        }
        plan_.programs.push_back(
            {std::move(found.path), program.arguments[0], folder, std::move(program.arguments),
             std::move(program.environment)}
        );
    }
    return {};
}

Status Preparer::reserve_descriptors(std::size_t rank_count, std::size_t file_count) {
    rlim_t per_rank = descriptors_per_rank;
    if (!job_.output.merges_stderr) per_rank += descriptors_per_pipe;
    if (job_.stdin_kind == StdinKind::forwarded_to_all) per_rank += descriptors_per_pipe;
    const rlim_t needed = rank_count * per_rank + file_count + descriptors_besides;
    if (const Status status = raise_descriptor_limit(needed); !status.ok()) return status;
    plan_.null_device = Fd(::open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!plan_.null_device.is_open()) return fail_errno(errno, "cannot open /dev/null");
    // The limit that a rank is given back must lie above its four descriptors.
    const auto soft_limit = static_cast<int>(
        std::min<rlim_t>(plan_.defaults.descriptor_limit.rlim_cur, preferred_first_descriptor * 2)
    );
    const int count = static_cast<int>(rank_descriptor_count);
    plan_.first_descriptor = std::max(3, std::min(preferred_first_descriptor, soft_limit - count));
    // Nothing of ours may land on these numbers, or passing one descriptor would overwrite another.
    for (int i = 0; i < count; ++i) {
        const int number = ::fcntl(
            plan_.null_device.get(), F_DUPFD_CLOEXEC, plan_.first_descriptor + i
        );
        if (number < 0) return fail_errno(errno, "cannot reserve a descriptor");
        placeholders.emplace_back(number);
        if (i == 0) plan_.first_descriptor = number;
        if (number != plan_.first_descriptor + i) {
            return fail(Errc::limit, "descriptors from {} on are in use", plan_.first_descriptor);
        }
    }
    return {};
}

std::vector<std::string> Preparer::identity_of(std::uint32_t rank, std::uint32_t local_size) const {
    const std::string socket_name = daemon_socket_name(map_.job_id, job_.host_index);
    RankIdentity identity;
    identity.job_id = map_.job_id;
    identity.token = job_.token;
    identity.daemon_socket = socket_name;
    identity.rank = rank;
    identity.size = map_.size();
    identity.local_rank = map_.ranks[rank].local_rank;
    identity.local_size = local_size;
    identity.host_index = job_.host_index;
    identity.host_count = static_cast<std::uint32_t>(map_.hosts.size());
    for (std::size_t i = 0; i < identity.descriptors.size(); ++i) {
        identity.descriptors[i] = plan_.first_descriptor + static_cast<int>(i);
    }
    const std::uint32_t machine_size = job_.are_hosts_simulated ? map_.size() : local_size;
    identity.is_oversubscribed = machine_size > map_.hosts[job_.host_index].usable_cpu_count;
    return identity_environment(identity);
}

Status Preparer::add_stdin(RankPlan& plan, RankEnds& ends) const {
    const bool is_for_all = job_.stdin_kind == StdinKind::forwarded_to_all;
    if (job_.stdin_kind == StdinKind::none) return {};
    if (!is_for_all && job_.stdin_rank != plan.rank) return {};
    if (job_.stdin_kind == StdinKind::descriptor) {
        plan.takes_own_stdin = true;
        return {};
    }
    Result<Ends> input = make_input_pipe();
    if (!input) return input.error();
    plan.stdin_source = std::move(input->rank_side);
    ends.stdin_target = std::move(input->daemon_side);
    return {};
}

Status Preparer::add_memory(RankPlan& plan) const {
    if (job_.memory_binding == MemoryBinding::first_touch) return {};
    const bool is_bound = !plan.cpus.empty();
    Result<MemoryPolicy> memory = memory_policy_of(
        job_.memory_binding, is_bound ? plan.cpus : find_usable_cpus().cpus, ""
    );
    if (!memory) return memory.error();
    plan.memory = std::move(*memory);
    return {};
}

Status Preparer::add_rank(
    std::uint32_t rank, std::uint32_t local_size, std::vector<RankEnds>& ends
) {
    Result<Ends> output = make_output_pipe();
    if (!output) return output.error();
    Result<Ends> error_output = Ends{};
    if (!job_.output.merges_stderr) error_output = make_output_pipe();
    if (!error_output) return error_output.error();
    Result<Ends> control = make_control_pair();
    if (!control) return control.error();
    RankEnds& end = ends.emplace_back();
    end.rank = rank;
    end.program_index = job_.program_of_rank[rank];
    end.output = std::move(output->daemon_side);
    end.error_output = std::move(error_output->daemon_side);
    end.control = std::move(control->daemon_side);
    end.doorbell = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!end.doorbell.is_open()) return fail_errno(errno, "cannot make an eventfd");
    end.output_pipe = inode_of(end.output);
    end.error_pipe = inode_of(end.error_output);
    RankPlan& plan = plan_.ranks.emplace_back();
    plan.rank = rank;
    plan.program_index = job_.program_of_rank[rank];
    plan.identity = identity_of(rank, local_size);
    plan.cpus = map_.ranks[rank].cpus;
    if (const Status status = add_memory(plan); !status.ok()) return status;
    plan.output = std::move(output->rank_side);
    plan.error_output = std::move(error_output->rank_side);
    plan.control = std::move(control->rank_side);
    plan.doorbell = end.doorbell.get();
    return add_stdin(plan, end);
}

/// `others` are ranks that share the machine but not the segment.
void fill_tenancy(const HostSegment& segment, const LaunchPlan& plan, std::uint32_t others) {
    TenancyTable& tenancy = segment.tenancy();
    tenancy.unbound_ranks.fetch_add(others, std::memory_order_relaxed);
    for (const RankPlan& rank : plan.ranks) {
        if (rank.cpus.empty()) tenancy.unbound_ranks.fetch_add(1, std::memory_order_relaxed);
        for (const std::uint32_t cpu : rank.cpus) {
            if (cpu >= cpu_count_max) continue;
            tenancy.tenants[cpu].fetch_add(1, std::memory_order_relaxed);
        }
    }
}

HostFailed failure_of(std::string_view host_name) {
    return {launcher_fault_status, fmt::format("host {}: {}", host_name, last_error_text())};
}

}  // namespace

std::string daemon_socket_name(std::string_view job_id, std::uint32_t host_index) {
    const std::string name = fmt::format("dlrt-{}-{}", ::getuid(), job_id);
    return host_index == 0 ? name : fmt::format("{}.{}", name, host_index);
}

std::string status_socket_name(std::string_view job_id, std::uint32_t host_index) {
    return daemon_socket_name(job_id, host_index) + ".status";
}

std::variant<PreparedJob, HostFailed> prepare_job(StartJob job, const ProcessDefaults& defaults) {
    Result<JobMap> map = decode_job_map(job.job_map);
    if (!map || job.host_index >= map->hosts.size()) return failure_of("?");
    const std::string host_name = map->hosts[job.host_index].name;
    const bool has_programs = job.program_of_rank.size() == map->size() &&
                              std::ranges::all_of(job.program_of_rank, [&](std::uint32_t index) {
                                  return index < job.programs.size();
                              });
    if (!has_programs) {
        return HostFailed{launcher_fault_status, "the head names no program for some rank"};
    }
    const std::vector<std::uint32_t> world_ranks = map->ranks_on_host(job.host_index);
    LaunchPlan plan;
    plan.defaults = defaults;
    plan.outlives_failures = job.outlives_failures;
    plan.heartbeat_ms = std::clamp<std::uint64_t>(job.heartbeat_ms, 10, 3'600'000);
    if (!job.start_gate.empty())
        plan.start_gate = Fd(::open(job.start_gate.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
    Preparer preparer(job, *map, plan);
    if (auto failure = preparer.check_programs()) return std::move(*failure);
    Result<OutputFiles> files = OutputFiles::plan(job.output, *map, job.host_index);
    if (!files) return failure_of(host_name);
    if (!preparer.reserve_descriptors(world_ranks.size(), files->files().size()).ok() ||
        !check_process_limits(world_ranks.size() + processes_besides).ok()) {
        return failure_of(host_name);
    }
    Result<Fd> map_file = create_job_map_file(*map);
    if (!map_file) return failure_of(host_name);
    const bool has_other_hosts = world_ranks.size() < map->size();
    Result<HostSegment> segment = HostSegment::create(
        {map->job_id, job.host_index, map->hosts[job.host_index].usable_cpu_count, world_ranks,
         has_other_hosts ? map->size() : 0}
    );
    if (!segment) return failure_of(host_name);
    const auto local_size = static_cast<std::uint32_t>(world_ranks.size());
    std::vector<RankEnds> ends;
    for (const std::uint32_t rank : world_ranks) {
        if (!preparer.add_rank(rank, local_size, ends).ok()) return failure_of(host_name);
    }
    // Last: a job that can't be started leaves an earlier one's files as they are.
    if (!files->open().ok()) return failure_of(host_name);
    // Nobody but the head holds an input that no rank was given itself.
    if (job.stdin_kind != StdinKind::descriptor) redirect_to_null(STDIN_FILENO);
    plan.job_map = map_file->get();
    plan.segment = segment->descriptor();
    fill_tenancy(*segment, plan, job.are_hosts_simulated ? map->size() - local_size : 0);
    std::string socket_name = daemon_socket_name(map->job_id, job.host_index);
    return PreparedJob{std::move(*map),        job.host_index,       std::move(job.token),
                       std::move(socket_name), std::move(*map_file), std::move(*segment),
                       std::move(ends),        std::move(plan),      std::move(job.output),
                       std::move(*files),      job.lends_cpus};
}

}  // namespace dlrt::launcher
