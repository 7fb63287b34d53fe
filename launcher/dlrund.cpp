// SPDX-License-Identifier: Apache-2.0
/// dlrund: the daemon of a host as a program of its own. It is never started by hand: whoever
/// starts it gives it the stream to the head, as descriptor 0 or, with --over-stdio, as input and
/// output, and it serves one job; with --relay-over-stdio it does so as a member of a tree.
#include "launcher/daemon.hpp"
#include "launcher/preamble.hpp"
#include "launcher/process_defaults.hpp"
#include "launcher/relay.hpp"

#include <cstdio>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace {

bool is_stream_socket(int descriptor) {
    int type = 0;
    socklen_t size_bytes = sizeof type;
    return ::getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size_bytes) == 0 &&
           type == SOCK_STREAM;
}

using namespace dlrt::launcher;
using Serve = int(Stream stream, const DaemonPlace& place, const ProcessDefaults& defaults);

/// Started by ssh or its like: says first that it is there.
int serve_over_stdio(Serve* serve, const DaemonPlace& place, const ProcessDefaults& defaults) {
    dlrt::Fd input(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
    dlrt::Fd output(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
    const std::string line = preamble(daemon_version(DLRT_VERSION));
    if (::write(output.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
        return 125;
    }
    redirect_to_null(STDIN_FILENO);
    redirect_to_null(STDOUT_FILENO);
    return serve({std::move(input), std::move(output)}, place, defaults);
}

}  // namespace

int main(int argument_count, char** arguments) {
    constexpr int usage_status = 125;
    const ProcessDefaults defaults = capture_process_defaults();
    fill_standard_descriptors();
    if (argument_count == 2 && std::string_view(arguments[1]) == "--version") {
        fmt::print("dlrund {}\n", DLRT_VERSION);
        return 0;
    }
    const std::vector<std::string_view> words(arguments + 1, arguments + argument_count);
    const bool is_relay = !words.empty() && words[0] == "--relay-over-stdio";
    const bool is_over_stdio = is_relay || (!words.empty() && words[0] == "--over-stdio");
    Serve* const serve = is_relay ? run_relay : run_daemon;
    if (is_over_stdio && words.size() == 1) {
        return serve_over_stdio(serve, {DaemonPlace::Kind::other_host}, defaults);
    }
    if (is_over_stdio && words.size() == 3 && words[1] == "--as") {
        const DaemonPlace place{DaemonPlace::Kind::simulated_host, std::string(words[2])};
        return serve_over_stdio(serve, place, defaults);
    }
    if (!words.empty()) {
        fmt::print(
            stderr,
            "dlrund: '{}' is unknown; valid are --version, --over-stdio [--as NAME], "
            "--relay-over-stdio [--as NAME]\n",
            fmt::join(words, " ")
        );
        return usage_status;
    }
    if (!is_stream_socket(STDIN_FILENO)) {
        fmt::print(stderr, "dlrund: is started by dlrun, which gives it a socket as its input\n");
        return usage_status;
    }
    dlrt::Fd stream(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
    redirect_to_null(STDIN_FILENO);
    return run_daemon({std::move(stream), dlrt::Fd()}, {}, defaults);
}
