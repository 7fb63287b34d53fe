// SPDX-License-Identifier: Apache-2.0
#include "launcher/remote_process.hpp"

#include "launcher/descriptors.hpp"
#include "runtime/base/error_text.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace dlrt::launcher {
namespace {

constexpr std::size_t words_kept_bytes = 4096;
constexpr int exec_failed_status = 255;

[[noreturn]] void become_command(
    const std::string& path, char* const* words, int stream, int error_output
) {
    ::setsid();
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    ::dup2(stream, STDIN_FILENO);
    ::dup2(stream, STDOUT_FILENO);
    ::dup2(error_output, STDERR_FILENO);
    close_descriptors_except({STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO});
    ::execv(path.c_str(), words);
    ::_exit(exec_failed_status);
}

}  // namespace

Result<std::unique_ptr<RemoteProcess>> RemoteProcess::start(
    EventLoop& loop, const std::string& path, const std::vector<std::string>& words,
    const ProcessDefaults& defaults
) {
    int stream[2];
    int error_output[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, stream) != 0) {
        return fail_errno(errno, "cannot make a socket pair");
    }
    Fd own_stream(stream[0]);
    const Fd its_stream(stream[1]);
    if (::pipe2(error_output, O_CLOEXEC) != 0) return fail_errno(errno, "cannot make a pipe");
    Fd own_words(error_output[0]);
    const Fd its_words(error_output[1]);
    std::vector<char*> pointers;
    for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
    pointers.push_back(nullptr);
    const pid_t pid = ::fork();
    if (pid < 0) return fail_errno(errno, "cannot start {}", words[0]);
    if (pid == 0) {
        restore_process_defaults(defaults);
        become_command(path, pointers.data(), its_stream.get(), its_words.get());
    }
    return std::unique_ptr<RemoteProcess>(
        new RemoteProcess(loop, pid, std::move(own_stream), std::move(own_words))
    );
}

RemoteProcess::RemoteProcess(EventLoop& loop, pid_t pid, Fd stream, Fd words)
    : pid_(pid),
      stream_(std::move(stream)),
      end_(loop, static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))),
      words_(loop, words.release()) {
    ::fcntl(words_.get(), F_SETFL, O_NONBLOCK);
    wait_for_words();
}

RemoteProcess::~RemoteProcess() {
    kill();
}

void RemoteProcess::when_ended(std::function<void()> handler) {
    if (!end_.is_open()) return;
    end_.when_readable([this, handler = std::move(handler)] {
        if (!has_ended_ && wait(0)) handler();
    });
}

void RemoteProcess::wait_for_words() {
    words_.when_readable([this] {
        read_words();
        if (words_.is_open()) wait_for_words();
    });
}

void RemoteProcess::read_words() {
    std::array<char, 4096> bytes{};
    while (words_.is_open()) {
        const ssize_t got = ::read(words_.get(), bytes.data(), bytes.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && errno == EAGAIN) return;
        if (got <= 0) return words_.close();
        said_.append(bytes.data(), static_cast<std::size_t>(got));
        if (said_.size() > words_kept_bytes) said_.erase(0, said_.size() - words_kept_bytes);
    }
}

const std::string& RemoteProcess::words_said() {
    read_words();
    return said_;
}

bool RemoteProcess::wait(int limit_ms) {
    if (has_ended_) return true;
    pollfd entry{end_.get(), POLLIN, 0};
    if (end_.is_open() && ::poll(&entry, 1, limit_ms) != 1) return false;
    has_ended_ = ::waitpid(pid_, &wait_status_, end_.is_open() ? 0 : WNOHANG) == pid_;
    return has_ended_;
}

void RemoteProcess::kill() {
    if (wait(0)) return;
    // A script may have others do its work.
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, &wait_status_, 0);
    has_ended_ = true;
}

}  // namespace dlrt::launcher
