// SPDX-License-Identifier: Apache-2.0
#include "launcher/remote_daemon.hpp"

#include "launcher/preamble.hpp"
#include "launcher/program_path.hpp"
#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fcntl.h>
#include <string_view>
#include <sys/socket.h>
#include <sys/wait.h>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

constexpr std::uint32_t busy_try_count_max = 6;
constexpr std::chrono::milliseconds first_pause{100};
constexpr std::chrono::milliseconds last_pause{2000};
/// Of remote_command(), behind those of the user's.
constexpr std::size_t daemon_word_count = 2;
constexpr std::size_t noise_kept_bytes = 1024;
constexpr std::string_view usual_search_path = "/usr/local/bin:/usr/bin:/bin";

int exit_status_of(int wait_status) {
    return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

/// The first line that isn't empty.
std::string first_line(std::string_view text) {
    while (!text.empty() && (text.front() == '\n' || text.front() == '\r')) text.remove_prefix(1);
    return std::string(text.substr(0, text.find_first_of("\r\n")));
}

}  // namespace

RemoteDaemon::RemoteDaemon(
    EventLoop& loop, const RemoteWay& way, HostMention host, DaemonRole role, Handlers handlers
)
    : loop_(loop),
      way_(way),
      host_(std::move(host)),
      handlers_(std::move(handlers)),
      words_(remote_command(way.launcher, host_, way.daemon_path, role, way.connect_timeout_s)),
      retry_(loop) {
}

void RemoteDaemon::start() {
    ++try_count_;
    const char* search_path = ::getenv("PATH");
    const ProgramPath program = find_program(
        words_[0], search_path == nullptr ? usual_search_path : search_path, "."
    );
    if (program.exit_status != 0) {
        return fail(fmt::format("cannot start the daemon on {}: {}", host_.name, program.problem));
    }
    auto process = RemoteProcess::start(loop_, program.path, words_, *way_.defaults);
    if (!process) {
        return fail(fmt::format("cannot start the daemon on {}: {}", host_.name, last_error_text())
        );
    }
    process_ = std::move(*process);
    stream_ = std::make_unique<DescriptorWatch>(loop_, process_->take_stream().release());
    process_->when_ended([this] { on_ended(); });
    look();
}

void RemoteDaemon::look() {
    stream_->when_readable([this] { read_preamble(); });
}

void RemoteDaemon::read_preamble() {
    // Only looked at: what follows the preamble belongs to whoever reads the stream then.
    std::array<char, 4096> bytes{};
    const ssize_t got = ::recv(stream_->get(), bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
    // How the command ends says more.
    if (got <= 0) return;
    const PreambleLook found = look_for_preamble({bytes.data(), static_cast<std::size_t>(got)});
    if (noise_.size() < noise_kept_bytes) noise_.append(bytes.data(), found.noise_bytes);
    const std::size_t used = found.noise_bytes + found.preamble_bytes;
    if (used > 0) static_cast<void>(::recv(stream_->get(), bytes.data(), used, MSG_DONTWAIT));
    if (found.preamble_bytes == 0) {
        // The rest of it is on its way: what lies there already would be reported for ever.
        if (used == 0) {
            return retry_.start(first_pause, [this] { look(); });
        }
        return look();
    }
    if (found.version != way_.version) {
        return fail(fmt::format(
            "the dlrund on {} is of version {}, this dlrun of version {}: install the same on "
            "both, or say with prefix= in the hostfile where it is",
            host_.name, found.version, way_.version
        ));
    }
    is_settled_ = true;
    if (!noise_.empty()) handlers_.on_noise(first_line(noise_));
    Fd stream(::fcntl(stream_->get(), F_DUPFD_CLOEXEC, 3));
    stream_->close();
    handlers_.on_ready(std::move(stream));
}

void RemoteDaemon::on_ended() {
    if (is_settled_) return;
    // What it wrote at last may not have been looked at yet.
    read_preamble();
    if (is_settled_) return;
    stream_->close();
    const RemoteFailure failure{
        exit_status_of(process_->wait_status()), process_->words_said(),
        host_.prefix.empty() ? way_.daemon_path : host_.prefix + "/bin/dlrund"};
    const bool may_try = (is_worth_another_try(failure) && try_count_ < busy_try_count_max) ||
                         (way_.awaits_hosts && is_host_absent(failure));
    if (!may_try) return fail(explain_remote_failure(way_.launcher, host_, failure));
    const auto pause = std::min(first_pause * (1u << std::min(try_count_, 10u)), last_pause);
    retry_.start(pause, [this] { start(); });
}

void RemoteDaemon::fail(const std::string& problem) {
    if (std::exchange(is_settled_, true)) return;
    retry_.cancel();
    if (stream_ != nullptr) stream_->close();
    if (process_ != nullptr) process_->kill();
    handlers_.on_failed(problem);
}

std::string RemoteDaemon::explain_silence(std::uint64_t waited_ms) {
    const std::string said = process_ == nullptr ? "" : first_line(process_->words_said());
    std::string command;
    for (std::size_t i = 0; i + daemon_word_count < words_.size(); ++i) command += words_[i] + " ";
    return fmt::format(
        "no daemon of {} has spoken within the --start-timeout of {:g} s: does '{}true' end there?"
        "{}",
        host_.name, static_cast<double>(waited_ms) / 1000, command,
        said.empty() ? "" : fmt::format(" ({}: {})", words_[0], said)
    );
}

std::string RemoteDaemon::end_lost(int limit_ms) {
    if (process_ == nullptr) return "";
    const bool has_ended = process_->wait(limit_ms);
    const std::string said = first_line(process_->words_said());
    process_->kill();
    if (!has_ended) return "";
    if (!said.empty()) return fmt::format("{}: {}", words_[0], said);
    return fmt::format(
        "{} ended with status {}", words_[0], exit_status_of(process_->wait_status())
    );
}

void RemoteDaemon::finish(int limit_ms) {
    const bool is_starting = !std::exchange(is_settled_, true);
    retry_.cancel();
    if (stream_ != nullptr) stream_->close();
    if (process_ == nullptr) return;
    if (!is_starting) static_cast<void>(process_->wait(limit_ms));
    process_->kill();
}

}  // namespace dlrt::launcher
