// SPDX-License-Identifier: Apache-2.0
/// DLRT_FDS, the handshake over it, and the way back in when it is lost.
#include "runtime/source_daemon.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/base/log.hpp"
#include "runtime/control_client.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace dlrt {
namespace {

std::string text_of(const char* variable) {
    const char* value = std::getenv(variable);
    return value != nullptr ? value : "";
}

template<typename Number>
std::optional<Number> parse_number(std::string_view text) {
    Number value{};
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stop != end) return std::nullopt;
    return value;
}

/// "control,map,segment,doorbell"
std::optional<std::array<int, 4>> parse_descriptors(std::string_view text) {
    std::array<int, 4> numbers{};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const std::size_t end = std::min(text.find(','), text.size());
        const bool is_last = i + 1 == numbers.size();
        if (is_last != (end == text.size())) return std::nullopt;
        const auto number = parse_number<int>(text.substr(0, end));
        if (!number || *number < 0) return std::nullopt;
        numbers[i] = *number;
        if (!is_last) text.remove_prefix(end + 1);
    }
    return numbers;
}

int socket_option(int socket, int option) {
    int value = -1;
    socklen_t size_bytes = sizeof value;
    return ::getsockopt(socket, SOL_SOCKET, option, &value, &size_bytes) == 0 ? value : -1;
}

Status check_control_socket(int descriptor) {
    const bool is_right = socket_option(descriptor, SO_DOMAIN) == AF_UNIX &&
                          socket_option(descriptor, SO_TYPE) == SOCK_SEQPACKET &&
                          socket_option(descriptor, SO_ACCEPTCONN) == 0;
    if (!is_right) {
        return fail(Errc::wireup, "control: descriptor {} is not the daemon's socket", descriptor);
    }
    pollfd entry{descriptor, 0, 0};
    if (::poll(&entry, 1, 0) == 0) return {};
    return fail(Errc::wireup, "control: nobody is behind descriptor {} any more", descriptor);
}

class DaemonSource final : public WireupSource {
  public:
    explicit DaemonSource(int timeout_ms)
        : timeout_ms_(timeout_ms), job_id_(text_of(environment::job_id)) {}

    [[nodiscard]] std::string_view name() const override { return "daemon"; }
    [[nodiscard]] Result<Membership> join() override;
    void abort(std::int32_t code, std::string_view text) override;
    Status leave() override;
    [[nodiscard]] bool tells_of_departures() const override { return true; }
    [[nodiscard]] int doorbell_of(std::uint32_t local_rank) override {
        return client_ ? client_->doorbell_of(local_rank) : -1;
    }
    [[nodiscard]] std::string shared_secret() const override { return text_of(environment::token); }
    Status put_address(const std::string& transport, Bytes address) override {
        return client_->tell(PutAddress{transport, {address.begin(), address.end()}});
    }
    [[nodiscard]] std::optional<std::vector<std::byte>> address_of(
        std::uint32_t rank, const std::string& transport
    ) override {
        return client_ ? client_->address_of(rank, transport) : std::nullopt;
    }
    bool connect_back(std::uint32_t rank, const std::string& transport, const std::string& failure)
        override {
        return client_ && client_->tell(dlrt::ConnectBack{rank, transport, failure}).ok();
    }
    [[nodiscard]] std::optional<WireupSource::ConnectBack> take_connect_back(
        const std::string& transport
    ) override {
        auto request = client_ ? client_->take_connect_back(transport) : std::nullopt;
        if (!request) return std::nullopt;
        return WireupSource::ConnectBack{request->rank, std::move(request->failure)};
    }
    [[nodiscard]] int news_descriptor() const override { return client_ ? client_->socket() : -1; }
    void take_news() override {
        if (client_) client_->take_news();
    }
    void abandon() noexcept override {
        if (client_) client_->close_all();
    }

  private:
    [[nodiscard]] Hello hello(bool is_reattach) const {
        return {
            control_protocol_version, rank_, ::getpid(), text_of(environment::token), is_reattach};
    }
    Result<Membership> open_inherited();
    Result<Membership> reattach(std::string why);
    Result<Membership> checked(Result<Membership> membership) const;

    int timeout_ms_;
    std::string job_id_;
    std::uint32_t rank_ = 0;
    std::optional<ControlClient> client_;
};

Result<Membership> DaemonSource::join() {
    const std::string rank_text = text_of(environment::rank);
    const auto rank = parse_number<std::uint32_t>(rank_text);
    if (!rank) {
        return fail(
            Errc::wireup,
            "DLRT_JOBID is '{}' but DLRT_RANK is '{}': not started by dlrun; unset all DLRT_ "
            "variables of a job to run alone",
            job_id_, rank_text
        );
    }
    rank_ = *rank;
    Result<Membership> membership = open_inherited();
    if (!membership) return reattach(last_error_text());
    // From here on the daemon is there: its refusal is final.
    if (auto greeted = client_->greet(hello(false)); !greeted) return greeted.error();
    return checked(std::move(membership));
}

Result<Membership> DaemonSource::open_inherited() {
    const std::string text = text_of(environment::descriptors);
    const auto numbers = parse_descriptors(text);
    if (!numbers) return fail(Errc::wireup, "DLRT_FDS is '{}', not four descriptors", text);
    const auto [control, map, segment, doorbell] = *numbers;
    if (Status status = check_control_socket(control); !status.ok()) return status;
    Result<Membership> membership = open_membership(rank_, {map, segment, doorbell});
    if (!membership) return membership;
    if (membership->map.job_id != job_id_) {
        return fail(
            Errc::wireup, "the descriptors are of job '{}', DLRT_JOBID is '{}'",
            membership->map.job_id, job_id_
        );
    }
    // A duplicate: the inherited one stays for a later init, here or in a program that we become.
    Fd own(::fcntl(control, F_DUPFD_CLOEXEC, 3));
    if (!own.is_open()) return fail_errno(errno, "duplicate the control socket");
    client_.emplace(std::move(own), "the daemon", timeout_ms_);
    return membership;
}

Result<Membership> DaemonSource::reattach(std::string why) {
    log(LogLevel::info, "wireup", "rank {} reattaches to the daemon: {}", rank_, why);
    const std::string socket_name = text_of(environment::daemon_socket);
    Result<Fd> socket = connect_abstract(socket_name);
    if (!socket) {
        const std::string how = last_error_text();
        return fail(
            Errc::wireup,
            "rank {} of job '{}' can't join it: {}; {}. If this process is no part of that job, "
            "unset the DLRT_ variables",
            rank_, job_id_, why, how
        );
    }
    client_.emplace(std::move(*socket), "the daemon", timeout_ms_);
    Result<std::vector<Fd>> received = client_->greet(hello(true));
    if (!received) return received.error();
    if (received->size() != 3) {
        return fail(Errc::wireup, "the daemon sent {} descriptors, not 3", received->size());
    }
    const std::vector<Fd>& files = *received;
    return checked(open_membership(rank_, {files[0].get(), files[1].get(), files[2].get()}));
}

Result<Membership> DaemonSource::checked(Result<Membership> membership) const {
    if (!membership) return membership;
    const std::string size_text = text_of(environment::size);
    const auto size = parse_number<std::uint32_t>(size_text);
    if (membership->map.job_id == job_id_ && size == membership->map.size()) return membership;
    return fail(
        Errc::wireup, "DLRT_JOBID '{}' and DLRT_SIZE '{}' say otherwise than job '{}' of {} ranks",
        job_id_, size_text, membership->map.job_id, membership->map.size()
    );
}

void DaemonSource::abort(std::int32_t code, std::string_view text) {
    constexpr std::size_t text_bytes_max = 4096;
    if (!client_) return;
    const Status status = client_->tell(Abort{code, std::string(text.substr(0, text_bytes_max))});
    if (!status.ok()) log(LogLevel::error, "wireup", "abort: {}", last_error_text());
}

Status DaemonSource::leave() {
    if (!client_) return {};
    const Status status = client_->tell(Finalized{});
    client_.reset();
    return status;
}

}  // namespace

std::unique_ptr<WireupSource> make_daemon_source(int timeout_ms) {
    return std::make_unique<DaemonSource>(timeout_ms);
}

const char* find_daemon_variable() {
    for (const char* name :
         {environment::job_id, environment::rank, environment::size, environment::descriptors,
          environment::token, environment::daemon_socket}) {
        if (std::getenv(name) != nullptr) return name;
    }
    return nullptr;
}

}  // namespace dlrt
