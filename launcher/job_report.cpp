// SPDX-License-Identifier: Apache-2.0
#include "launcher/job_report.hpp"

#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace dlrt::launcher {
namespace {

using Json = nlohmann::ordered_json;
constexpr int report_format = 1;
constexpr std::uint64_t ns_per_s = 1'000'000'000;
constexpr std::uint64_t ns_per_us = 1000;

std::uint64_t unix_time_ns() {
    timespec now = {};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * ns_per_s +
           static_cast<std::uint64_t>(now.tv_nsec);
}

/// "2026-01-31T23:59:59.123456Z"
std::string time_text(std::uint64_t unix_ns) {
    const auto seconds = static_cast<std::time_t>(unix_ns / ns_per_s);
    std::tm parts = {};
    ::gmtime_r(&seconds, &parts);
    return fmt::format(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", parts.tm_year + 1900, parts.tm_mon + 1,
        parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, unix_ns % ns_per_s / ns_per_us
    );
}

double seconds_of_ns(std::uint64_t time_ns) {
    return static_cast<double>(time_ns) / static_cast<double>(ns_per_s);
}

double seconds_of_us(std::uint64_t time_us) {
    return static_cast<double>(time_us) * 1e-6;
}

std::string_view kind_text(CauseKind kind) {
    switch (kind) {
        case CauseKind::none:
            return "none";
        case CauseKind::rank_exited:
            return "rank exited";
        case CauseKind::rank_killed:
            return "rank killed";
        case CauseKind::rank_left:
            return "rank left";
        case CauseKind::rank_aborted:
            return "rank aborted";
        case CauseKind::host_failed:
            return "launcher failed";
        case CauseKind::timed_out:
            return "timed out";
        case CauseKind::signalled:
            return "signalled";
        case CauseKind::reader_gone:
            return "reader gone";
    }
    return "?";
}

bool is_of_rank(CauseKind kind) {
    return kind == CauseKind::rank_exited || kind == CauseKind::rank_killed ||
           kind == CauseKind::rank_left || kind == CauseKind::rank_aborted;
}

Json cause_json(const Cause& cause) {
    if (cause.kind == CauseKind::none) return nullptr;
    Json json = {{"kind", kind_text(cause.kind)}};
    if (is_of_rank(cause.kind)) {
        json["rank"] = cause.rank;
        json["host"] = cause.host;
        json["pid"] = cause.pid;
    }
    json["text"] = describe(cause, {});
    return json;
}

Json hosts_json(const JobMap& map) {
    Json hosts = Json::array();
    for (std::uint32_t i = 0; i < map.hosts.size(); ++i) {
        hosts.push_back(
            {{"name", map.hosts[i].name},
             {"usable_cpus", map.hosts[i].usable_cpu_count},
             {"ranks", map.ranks_on_host(i).size()}}
        );
    }
    return hosts;
}

Json program_json(const Block& block) {
    Json wraps = Json::array();
    for (const Wrap& wrap : block.wraps) {
        wraps.push_back(
            {{"ranks", wrap.ranks.is_empty() ? "all" : wrap.ranks.text()},
             {"command", wrap.command}}
        );
    }
    return {{"arguments", block.arguments}, {"wraps", std::move(wraps)}};
}

/// How a rank ended, by what waitpid() reported.
void add_end(Json& json, const RankEnded& end) {
    json["started_at"] = time_text(end.usage.started_at_unix_ns);
    json["ended_at"] = time_text(end.usage.started_at_unix_ns + end.lifetime_ns);
    json["seconds"] = seconds_of_ns(end.lifetime_ns);
    if (WIFSIGNALED(end.wait_status)) {
        json["exit_status"] = nullptr;
        json["signal"] = WTERMSIG(end.wait_status);
    } else {
        json["exit_status"] = WEXITSTATUS(end.wait_status);
        json["signal"] = nullptr;
    }
    json["finalized"] = !end.is_unfinalized;
    json["terminated"] = end.was_told_to_end;
    if (!end.remark.empty()) json["remark"] = end.remark;
    if (!end.last_calls.empty()) json["last_calls"] = end.last_calls;
    json["max_rss_kib"] = end.usage.max_rss_kib;
    json["user_seconds"] = seconds_of_us(end.usage.user_us);
    json["system_seconds"] = seconds_of_us(end.usage.system_us);
}

Status write_fully(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(file, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return Status{Errc::system};
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

}  // namespace

JobReport::JobReport(const Options& options, Fd file)
    : path_(options.report_file),
      file_(std::move(file)),
      command_(options.words),
      blocks_(options.blocks),
      started_at_unix_ns_(unix_time_ns()) {
}

Result<std::optional<JobReport>> JobReport::open(const Options& options) {
    const std::string& path = options.report_file;
    if (path.empty()) return std::optional<JobReport>();
    // A pipe that nobody reads must not stop us here.
    constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK;
    Fd file(::open(path.c_str(), flags, 0666));
    if (!file.is_open()) {
        return fail_errno(errno, "--report: cannot write '{}'", path);
    }
    ::fcntl(file.get(), F_SETFL, ::fcntl(file.get(), F_GETFL) & ~O_NONBLOCK);
    return std::optional<JobReport>(JobReport(options, std::move(file)));
}

void JobReport::note_started(const RanksStarted& started, std::uint32_t host_index) {
    const std::vector<std::uint32_t> ranks = map_.ranks_on_host(host_index);
    for (std::size_t i = 0; i < std::min(ranks.size(), started.pids.size()); ++i) {
        ranks_[ranks[i]].pid = started.pids[i];
    }
}

void JobReport::note_ended(const RankEnded& end) {
    if (end.rank >= ranks_.size()) return;
    ranks_[end.rank].pid = end.pid;
    ranks_[end.rank].end = end;
}

std::string JobReport::text(const Cause& cause) const {
    const std::uint64_t now_ns = unix_time_ns();
    Json json = {
        {"format", report_format},
        {"job", map_.job_id},
        {"command", command_},
        {"started_at", time_text(started_at_unix_ns_)},
        {"ended_at", time_text(now_ns)},
        {"seconds", seconds_of_ns(now_ns - started_at_unix_ns_)},
        {"exit_status", exit_status_of(cause)},
        {"cause", cause_json(cause)},
        {"hosts", hosts_json(map_)},
        {"programs", Json::array()},
        {"ranks", Json::array()}};
    for (const Block& block : blocks_) json["programs"].push_back(program_json(block));
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
        const RankEntry& place = map_.ranks[i];
        Json entry = {
            {"rank", i},
            {"host", map_.hosts[place.host_index].name},
            {"local_rank", place.local_rank},
            {"program", place.block_index},
            {"cpus", place.cpus}};
        entry["pid"] = ranks_[i].pid == 0 ? Json(nullptr) : Json(ranks_[i].pid);
        if (ranks_[i].end) add_end(entry, *ranks_[i].end);
        json["ranks"].push_back(std::move(entry));
    }
    // Arguments needn't be UTF-8, but JSON must.
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Status JobReport::write(const Cause& cause) {
    if (write_fully(file_.get(), text(cause)).ok()) return {};
    return fail_errno(errno, "--report: cannot write '{}'", path_);
}

}  // namespace dlrt::launcher
