// SPDX-License-Identifier: Apache-2.0
#include "launcher/process_defaults.hpp"

#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <fcntl.h>
#include <unistd.h>

namespace dlrt::launcher {
namespace {

bool is_ignored(int signal) {
    struct sigaction action = {};
    return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

ProcessDefaults capture_process_defaults() {
    ProcessDefaults defaults;
    ::getrlimit(RLIMIT_NOFILE, &defaults.descriptor_limit);
    ::sigprocmask(SIG_SETMASK, nullptr, &defaults.signal_mask);
    defaults.ignores_pipe = is_ignored(SIGPIPE);
    defaults.ignores_file_size = is_ignored(SIGXFSZ);
    defaults.ignores_hangup = is_ignored(SIGHUP);
    return defaults;
}

void restore_process_defaults(const ProcessDefaults& defaults) {
    ::setrlimit(RLIMIT_NOFILE, &defaults.descriptor_limit);
    if (!defaults.ignores_pipe) ::signal(SIGPIPE, SIG_DFL);
    if (!defaults.ignores_file_size) ::signal(SIGXFSZ, SIG_DFL);
    // Shells start background jobs with these ignored, but dlrun passes them on to be obeyed.
    ::signal(SIGINT, SIG_DFL);
    ::signal(SIGQUIT, SIG_DFL);
    ::sigprocmask(SIG_SETMASK, &defaults.signal_mask, nullptr);
}

void ignore_write_signals() {
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGXFSZ, SIG_IGN);
}

void fill_standard_descriptors() {
    for (int descriptor = 0; descriptor <= 2; ++descriptor) {
        if (::fcntl(descriptor, F_GETFD) < 0) redirect_to_null(descriptor);
    }
}

void redirect_to_null(int descriptor) {
    const int null_device = ::open("/dev/null", O_RDWR);
    if (null_device < 0 || null_device == descriptor) return;
    ::dup2(null_device, descriptor);
    ::close(null_device);
}

Status raise_descriptor_limit(rlim_t needed) {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return fail_errno(errno, "cannot read the limits");
    if (limit.rlim_cur >= needed) return {};
    if (limit.rlim_max < needed) {
        return fail(
            Errc::limit,
            "{} file descriptors are needed, but the limit is {}; raise it with 'ulimit -n'",
            needed, limit.rlim_max
        );
    }
    limit.rlim_cur = std::min(limit.rlim_max, std::max<rlim_t>(needed, 4096));
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return fail_errno(errno, "cannot raise the limit of descriptors to {}", limit.rlim_cur);
    }
    return {};
}

}  // namespace dlrt::launcher
