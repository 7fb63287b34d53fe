// SPDX-License-Identifier: Apache-2.0
#include "launcher/remote_daemon.hpp"

#include "launcher/preamble.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace dlrt::launcher {
namespace {

using Catch::Matchers::Contains;

/// A shell in place of ssh; "$0" and further words are the daemon's command line.
class Start {
  public:
    explicit Start(const std::string& script) : defaults_(capture_process_defaults()) {
        way_.launcher.words = {"sh", "-c", script, "{host}"};
        way_.daemon_path = "/opt/dlrund";
        way_.version = "1";
        way_.defaults = &defaults_;
        HostMention host;
        host.name = "h2";
        daemon_ = std::make_unique<RemoteDaemon>(
            loop_, way_, host, DaemonRole::alone,
            RemoteDaemon::Handlers{
                [this](Fd stream) {
                    stream_ = std::move(stream);
                    loop_.stop();
                },
                [this](std::string line) {
                    problem = std::move(line);
                    loop_.stop();
                },
                [this](std::string text) { noise = std::move(text); }}
        );
        loop_.post([this] { daemon_->start(); });
        loop_.run();
    }

    /// What follows the preamble.
    std::string rest() {
        std::string text(100, '\0');
        pollfd entry{stream_.get(), POLLIN, 0};
        ::poll(&entry, 1, 10'000);
        const ssize_t got = ::read(stream_.get(), text.data(), text.size());
        text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        return text;
    }

    std::string problem;
    std::string noise;

  private:
    ProcessDefaults defaults_;
    EventLoop loop_;
    RemoteWay way_;
    Fd stream_;
    std::unique_ptr<RemoteDaemon> daemon_;
};

}  // namespace

TEST_CASE("remote daemon: what follows the preamble is left to the stream", "[launcher]") {
    Start start(R"(printf 'hello\nyou\n\001\002dlrund\003 1\nframes of $1')");
    CHECK(start.problem.empty());
    CHECK(start.noise == "hello");
    CHECK(start.rest() == "frames of $1");
}

TEST_CASE("remote daemon: a preamble in pieces", "[launcher]") {
    Start start(R"(printf '\001\002dlr'; sleep 0.2; printf 'und\003 1'; sleep 0.2; printf '\nx')");
    CHECK(start.problem.empty());
    CHECK(start.rest() == "x");
}

TEST_CASE("remote daemon: a busy host is tried again", "[launcher]") {
    char folder[] = "/tmp/dlrt_test_XXXXXX";
    REQUIRE(::mkdtemp(folder) != nullptr);
    const std::string mark = std::string(folder) + "/tried";
    Start start(
        "[ -e " + mark + " ] || { : > " + mark +
        "; echo 'kex_exchange_identification: x' >&2; exit 255; }; " +
        R"(printf '\001\002dlrund\003 1\n')"
    );
    CHECK(start.problem.empty());
    ::unlink(mark.c_str());
    ::rmdir(folder);
}

TEST_CASE("remote daemon: what can't be started is told", "[launcher]") {
    CHECK_THAT(Start("echo bad luck >&2; exit 4").problem, Contains("status 4: bad luck"));
    CHECK_THAT(
        Start(R"(printf '\001\002dlrund\003 2\n'; sleep 100)").problem,
        Contains("the dlrund on h2 is of version 2, this dlrun of version 1: install the same")
    );
}

}  // namespace dlrt::launcher
