// SPDX-License-Identifier: Apache-2.0
/// A command like ssh that carries the stream of a daemon on another host: one socket is its input
/// and output, and what it says on its standard error is kept. In the head's event loop. It is in a
/// session of its own, so that no key at the terminal reaches it, and ends with the head.
#pragma once

#include "launcher/event_loop.hpp"
#include "launcher/process_defaults.hpp"
#include "runtime/base/fd.hpp"
#include "runtime/base/result.hpp"

#include <functional>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

namespace dlrt::launcher {

class RemoteProcess {
  public:
    /// `words`: the program, by its path, and its arguments; the name it is called by stands first
    /// in them. Errors: Errc::system.
    [[nodiscard]] static Result<std::unique_ptr<RemoteProcess>> start(
        EventLoop& loop, const std::string& path, const std::vector<std::string>& words,
        const ProcessDefaults& defaults
    );
    /// Ends it, if need be.
    ~RemoteProcess();

    /// Once: the head's end.
    [[nodiscard]] Fd take_stream() { return std::move(stream_); }
    /// Calls `handler` once it has ended, unless somebody has waited for it before.
    void when_ended(std::function<void()> handler);

    /// The last of what it wrote to its standard error.
    [[nodiscard]] const std::string& words_said();
    /// As waitpid() tells it. REQUIRES: it has ended.
    [[nodiscard]] int wait_status() const { return wait_status_; }
    /// Waits so long for its end. Returns whether it has ended.
    bool wait(int limit_ms);
    void kill();

  private:
    RemoteProcess(EventLoop& loop, pid_t pid, Fd stream, Fd words);
    void read_words();
    void wait_for_words();

    pid_t pid_;
    Fd stream_;
    DescriptorWatch end_;  ///< Its pidfd.
    DescriptorWatch words_;
    std::string said_;
    int wait_status_ = 0;
    bool has_ended_ = false;
};

}  // namespace dlrt::launcher
