// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/error_text.hpp"
#include "runtime/base/fd.hpp"
#include "runtime/connect/interfaces.hpp"
#include "runtime/connect/sodium.hpp"
#include "tools/dlinfo/facts.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace dlrt::info {
namespace {

/// 0, or why this process may not read a child that allows it: what ranks do among each other.
int try_cross_memory() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return errno;
    const Fd ours(ends[0]);
    Fd theirs(ends[1]);
    std::uint64_t value = 1;
    const pid_t child = ::fork();
    if (child < 0) return errno;
    if (child == 0) {
        value = 2;
        ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
        char byte = 0;
        static_cast<void>(::write(theirs.get(), &byte, 1));
        static_cast<void>(::read(theirs.get(), &byte, 1));
        ::_exit(0);
    }
    theirs.reset();
    char byte = 0;
    int error = 0;
    if (::read(ours.get(), &byte, 1) != 1) error = EIO;
    std::uint64_t seen = 0;
    const iovec target{&seen, sizeof seen};
    const iovec source{&value, sizeof value};
    if (error == 0 && ::process_vm_readv(child, &target, 1, &source, 1, 0) < 0) error = errno;
    if (error == 0 && seen != 2) error = EIO;
    static_cast<void>(::write(ours.get(), &byte, 1));
    ::waitpid(child, nullptr, 0);
    return error;
}

std::string refusal_text(int error) {
    std::ifstream file("/proc/sys/kernel/yama/ptrace_scope");
    int scope = 0;
    if (error == EPERM && file >> scope && scope >= 2) {
        return fmt::format("kernel.yama.ptrace_scope is {}; 0 or 1 allow it", scope);
    }
    if (error == EPERM) {
        return "the kernel forbids it (a seccomp filter of a container, as a rule)";
    }
    return std::strerror(error);
}

/// "between ranks on different hosts, at 10.0.0.1, fd77::1"
Transport describe_tcp(const Settings& settings) {
    Transport found{"tcp", false, {}};
    if (!tcp::load_sodium().ok()) {
        found.reason = last_error_text();
        return found;
    }
    const auto addresses = tcp::choose_addresses(
        tcp::find_interface_addresses(), settings.tcp_interfaces,
        static_cast<tcp::Family>(settings.tcp_family), 0
    );
    if (!addresses) {
        found.reason = last_error_text();
        return found;
    }
    std::string hosts;
    for (const tcp::SocketAddress& address : *addresses) {
        std::string host = address.text();
        host.resize(host.rfind(':'));
        hosts += (hosts.empty() ? "" : ", ") + host;
    }
    found.is_used = !hosts.empty();
    found.reason = found.is_used ? "between ranks on different hosts, at " + hosts
                                 : "no interface that is up has an address";
    return found;
}

}  // namespace

std::vector<Transport> find_transports(const Settings& settings) {
    std::vector<Transport> found = {
        {"loopback", true, "a rank's messages to itself"},
        {"shm", true, "between ranks of a host"},
    };
    Transport cross_memory{"shm cross-memory attach", false, "DLRT_CMA=0"};
    if (settings.allow_cross_memory) {
        const int error = try_cross_memory();
        cross_memory.is_used = error == 0;
        cross_memory.reason = error == 0 ? "large messages, where the copy table says so"
                                         : refusal_text(error);
    }
    found.push_back(std::move(cross_memory));
    found.push_back(describe_tcp(settings));
    return found;
}

}  // namespace dlrt::info
