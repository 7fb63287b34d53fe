// SPDX-License-Identifier: Apache-2.0
#include "launcher/status_query.hpp"

#include "launcher/head.hpp"
#include "launcher/launch_plan.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/wireup/control_socket.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

constexpr int no_answer_status = 125;
constexpr std::size_t part_bytes = 64 * 1024;
constexpr timeval answer_time{5, 0};

std::string join(const FoundJobs& jobs) {
    std::string text;
    for (const auto& [id, hosts] : jobs) text += (text.empty() ? "" : " ") + id;
    return text;
}

void write_fully(std::string_view text) {
    while (!text.empty()) {
        const ssize_t put = ::write(STDOUT_FILENO, text.data(), text.size());
        if (put < 0 && errno != EINTR) return;
        if (put > 0) text.remove_prefix(static_cast<std::size_t>(put));
    }
}

int ask(const std::string& job_id, std::uint32_t host_index) {
    const Result<Fd> daemon = connect_abstract(status_socket_name(job_id, host_index));
    if (!daemon) {
        print_own_line(
            fmt::format("--status: job {} does not answer: {}", job_id, last_error_text())
        );
        return no_answer_status;
    }
    ::setsockopt(daemon->get(), SOL_SOCKET, SO_RCVTIMEO, &answer_time, sizeof answer_time);
    std::array<char, part_bytes> part;
    ssize_t got = 0;
    while ((got = ::recv(daemon->get(), part.data(), part.size(), 0)) > 0) {
        write_fully({part.data(), static_cast<std::size_t>(got)});
    }
    if (got == 0) return 0;
    print_own_line(fmt::format("--status: the daemon of job {} does not answer", job_id));
    return no_answer_status;
}

int ask_all(const FoundJobs::value_type& job) {
    int status = 0;
    for (const std::uint32_t host_index : job.second) {
        status = std::max(status, ask(job.first, host_index));
    }
    return status;
}

}  // namespace

FoundJobs find_jobs(std::string_view proc_net_unix, unsigned user) {
    const std::string prefix = fmt::format("@dlrt-{}-", user);
    constexpr std::string_view suffix = ".status";
    FoundJobs jobs;
    while (!proc_net_unix.empty()) {
        const std::size_t end = proc_net_unix.find('\n');
        const std::string_view line = proc_net_unix.substr(0, end);
        proc_net_unix.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
        const std::size_t name_at = line.rfind(' ');
        if (name_at == std::string_view::npos) continue;
        const std::string_view name = line.substr(name_at + 1);
        if (!name.starts_with(prefix) || !name.ends_with(suffix)) continue;
        const std::string_view job = name.substr(
            prefix.size(), name.size() - prefix.size() - suffix.size()
        );
        const std::size_t dot = std::min(job.find('.'), job.size());
        std::uint32_t host_index = 0;
        if (dot < job.size()) {
            const char* const job_end = job.data() + job.size();
            const auto [stop, error] = std::from_chars(job.data() + dot + 1, job_end, host_index);
            if (error != std::errc() || stop != job_end) continue;
        }
        // Connections to a daemon carry its name as well.
        jobs[std::string(job.substr(0, dot))].insert(host_index);
    }
    return jobs;
}

int show_status(std::string_view job_id) {
    std::ifstream sockets("/proc/net/unix");
    const std::string text(std::istreambuf_iterator<char>(sockets), {});
    const FoundJobs jobs = find_jobs(text, ::getuid());
    if (!job_id.empty()) {
        if (const auto found = jobs.find(job_id); found != jobs.end()) return ask_all(*found);
        print_own_line(fmt::format(
            "--status: you have no job {} on this host; {}", job_id,
            jobs.empty() ? "none is running" : fmt::format("running: {}", join(jobs))
        ));
        return no_answer_status;
    }
    if (jobs.size() == 1) return ask_all(*jobs.begin());
    print_own_line(
        jobs.empty()
            ? "--status: you have no running job on this host"
            : fmt::format("--status: you have several jobs here; name one of: {}", join(jobs))
    );
    return no_answer_status;
}

}  // namespace dlrt::launcher
