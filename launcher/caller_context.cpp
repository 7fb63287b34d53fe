// SPDX-License-Identifier: Apache-2.0
#include "launcher/caller_context.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/base/fd.hpp"
#include "runtime/wireup/control_socket.hpp"

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace dlrt::launcher {
namespace {

constexpr std::uint64_t heartbeat_min_ms = 10;

/// Puts what the ranks shall read on descriptor 0 and says how they get it.
Result<StdinKind> prepare_stdin(const StdinChoice& choice) {
    if (choice.kind == StdinChoice::Kind::none) return StdinKind::none;
    if (choice.kind == StdinChoice::Kind::file) {
        const Fd file(::open(choice.file.c_str(), O_RDONLY | O_CLOEXEC));
        struct stat facts = {};
        if (!file.is_open() || ::fstat(file.get(), &facts) != 0) {
            return fail_errno(errno, "--stdin: cannot open '{}'", choice.file);
        }
        if (S_ISDIR(facts.st_mode)) {
            return fail(Errc::argument, "--stdin: '{}' is a folder; valid is a file", choice.file);
        }
        ::dup2(file.get(), STDIN_FILENO);
        return StdinKind::descriptor;
    }
    if (choice.kind == StdinChoice::Kind::all) return StdinKind::forwarded_to_all;
    return ::isatty(STDIN_FILENO) == 1 ? StdinKind::forwarded : StdinKind::descriptor;
}

/// A job's behaviour in time, shortened so that tests don't wait for 30 s.
Status read_test_settings(CallerContext& context) {
    if (const char* gate = ::getenv("DLRT_TEST_START_GATE")) context.start_gate = gate;
    const char* text = ::getenv("DLRT_TEST_HEARTBEAT_MS");
    if (text == nullptr) return {};
    const char* end = text + std::string_view(text).size();
    const auto [stop, error] = std::from_chars(text, end, context.heartbeat_ms);
    if (error == std::errc() && stop == end && context.heartbeat_ms >= heartbeat_min_ms) return {};
    return fail(
        Errc::argument, "DLRT_TEST_HEARTBEAT_MS: '{}' is not valid; valid are {} and more", text,
        heartbeat_min_ms
    );
}

}  // namespace

Result<CallerContext> find_caller_context(const Options& options) {
    CallerContext context;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        // What tests ask of the launcher is not for ranks.
        if (!std::string_view(*entry).starts_with("DLRT_TEST_"))
            context.environment.emplace_back(*entry);
    }
    if (const Status status = read_test_settings(context); !status.ok()) return status;
    if (char* folder = ::getcwd(nullptr, 0)) {
        // A deleted folder is "(unreachable)…" or an error, as the kernel likes.
        if (folder[0] == '/') context.working_directory = folder;
        ::free(folder);
    }
    Result<std::string> job_id = random_hex(6);
    Result<std::string> token = random_hex(16);
    if (!job_id || !token) return Status{Errc::system};
    context.job_id = std::move(*job_id);
    context.token = std::move(*token);
    Result<Allocation> allocation = find_allocation(options, context.environment);
    if (!allocation) return allocation.error();
    context.allocation = std::move(*allocation);
    const Result<StdinKind> stdin_kind = prepare_stdin(options.stdin_choice);
    if (!stdin_kind) return stdin_kind.error();
    context.stdin_kind = *stdin_kind;
    context.is_stdin_terminal = ::isatty(STDIN_FILENO) == 1;
    return context;
}

}  // namespace dlrt::launcher
