// SPDX-License-Identifier: Apache-2.0
/// The dialogue of PMI-1.
#include "runtime/pmi1_client.hpp"

#include "runtime/base/clock.hpp"
#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <netdb.h>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace dlrt {
namespace {

constexpr std::size_t line_bytes_max = 64 * 1024;

template<typename Number>
std::optional<Number> parse_number(std::string_view text) {
    Number value{};
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stop != end) return std::nullopt;
    return value;
}

Result<std::uint32_t> number_of_variable(const char* name) {
    const char* text = std::getenv(name);
    const auto number = parse_number<std::uint32_t>(text != nullptr ? text : "");
    if (number) return *number;
    return fail(Errc::wireup, "PMI-1: {} is '{}', not a number", name, text != nullptr ? text : "");
}

std::string field(const Pmi1Fields& fields, std::string_view name) {
    const auto found = fields.find(name);
    return found != fields.end() ? found->second : std::string();
}

}  // namespace

Result<Pmi1Fields> parse_pmi1_line(std::string_view line) {
    Pmi1Fields fields;
    std::string* last = nullptr;
    std::string_view rest = line;
    while (!rest.empty()) {
        const std::size_t blank = std::min(rest.find(' '), rest.size());
        const std::size_t equals = rest.find('=');
        const bool is_field = equals < blank && equals > 0;
        std::size_t end = blank;
        if (is_field) {
            const std::string_view name = rest.substr(0, equals);
            if (name == "value") end = rest.size();
            last = &fields[std::string(name)];
            *last = rest.substr(equals + 1, end - equals - 1);
        } else if (last != nullptr && end > 0) {
            *last += fmt::format(" {}", rest.substr(0, end));
        }
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (!fields.contains("cmd")) return fail(Errc::wireup, "PMI-1: '{}' is no answer", line);
    return fields;
}

Status Pmi1Client::connect() {
    if (Status status = open_socket(); !status.ok()) return status;
    return introduce();
}

Status Pmi1Client::open_socket() {
    if (const char* port = std::getenv("PMI_PORT"); std::getenv("PMI_FD") == nullptr) {
        if (Status status = connect_port(port != nullptr ? port : ""); !status.ok()) return status;
        return introduce_by_id();
    }
    const Result<std::uint32_t> descriptor = number_of_variable("PMI_FD");
    if (!descriptor) return descriptor.error();
    const Result<std::uint32_t> rank = number_of_variable("PMI_RANK");
    if (!rank) return rank.error();
    const Result<std::uint32_t> size = number_of_variable("PMI_SIZE");
    if (!size) return size.error();
    rank_ = *rank;
    size_ = *size;
    socket_.reset(::fcntl(static_cast<int>(*descriptor), F_DUPFD_CLOEXEC, 3));
    int type = 0;
    socklen_t size_bytes = sizeof type;
    const bool is_stream = socket_.is_open() &&
                           ::getsockopt(socket_.get(), SOL_SOCKET, SO_TYPE, &type, &size_bytes) ==
                               0 &&
                           type == SOCK_STREAM;
    if (is_stream) return {};
    return fail(Errc::wireup, "PMI-1: PMI_FD={} is not the launcher's socket", *descriptor);
}

Status Pmi1Client::connect_port(const std::string& host_and_port) {
    const std::size_t colon = host_and_port.rfind(':');
    if (colon == std::string::npos) {
        return fail(Errc::wireup, "PMI-1: PMI_PORT is '{}', not HOST:PORT", host_and_port);
    }
    const std::string host = host_and_port.substr(0, colon);
    const std::string port = host_and_port.substr(colon + 1);
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int error = ::getaddrinfo(host.c_str(), port.c_str(), &wanted, &found);
    if (error != 0) {
        return fail(Errc::wireup, "PMI-1: PMI_PORT {}: {}", host_and_port, ::gai_strerror(error));
    }
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, ::freeaddrinfo);
    int last_error = 0;
    for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
        Fd socket(::socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
        if (socket.is_open() &&
            ::connect(socket.get(), address->ai_addr, address->ai_addrlen) == 0) {
            socket_ = std::move(socket);
            return {};
        }
        last_error = errno;
    }
    return fail(Errc::wireup, "PMI-1: PMI_PORT {}: {}", host_and_port, std::strerror(last_error));
}

Status Pmi1Client::introduce_by_id() {
    const Result<std::uint32_t> id = number_of_variable("PMI_ID");
    if (!id) return id.error();
    const auto answer = ask(fmt::format("cmd=initack pmiid={}\n", *id), "initack");
    if (!answer) return answer.error();
    const Result<std::uint32_t> size = receive_setting("size");
    if (!size) return size.error();
    const Result<std::uint32_t> rank = receive_setting("rank");
    if (!rank) return rank.error();
    const Result<std::uint32_t> debug = receive_setting("debug");
    if (!debug) return debug.error();
    size_ = *size;
    rank_ = *rank;
    return {};
}

Result<std::uint32_t> Pmi1Client::receive_setting(std::string_view name) {
    const auto answer = receive("set");
    if (!answer) return answer.error();
    const auto value = parse_number<std::uint32_t>(field(*answer, name));
    if (value) return *value;
    return fail(Errc::wireup, "PMI-1: the launcher does not tell the {}", name);
}

Status Pmi1Client::introduce() {
    const auto init = ask("cmd=init pmi_version=1 pmi_subversion=1\n", "response_to_init");
    if (!init) return init.error();
    if (field(*init, "pmi_version") != "1" || field(*init, "rc") != "0") {
        return fail(
            Errc::wireup, "the launcher speaks PMI version '{}', not 1", field(*init, "pmi_version")
        );
    }
    const auto names = ask("cmd=get_my_kvsname\n", "my_kvsname");
    if (!names) return names.error();
    store_name_ = field(*names, "kvsname");
    if (size_ == 0 || rank_ >= size_) {
        return fail(Errc::wireup, "PMI-1: rank {} of {} ranks", rank_, size_);
    }
    return {};
}

Status Pmi1Client::put(const std::string& key, const std::string& value) {
    const auto answer = ask(
        fmt::format("cmd=put kvsname={} key={} value={}\n", store_name_, key, value), "put_result"
    );
    if (!answer) return answer.error();
    if (field(*answer, "rc") == "0") return {};
    return fail(Errc::wireup, "PMI-1: put {}: {}", key, field(*answer, "msg"));
}

Result<std::string> Pmi1Client::get(const std::string& key) {
    const auto answer = ask(
        fmt::format("cmd=get kvsname={} key={}\n", store_name_, key), "get_result"
    );
    if (!answer) return answer.error();
    if (field(*answer, "rc") == "0") return field(*answer, "value");
    return fail(Errc::wireup, "PMI-1: get {}: {}", key, field(*answer, "msg"));
}

Status Pmi1Client::barrier() {
    const auto answer = ask("cmd=barrier_in\n", "barrier_out");
    return answer.error();
}

Status Pmi1Client::finalize() {
    const auto answer = ask("cmd=finalize\n", "finalize_ack");
    socket_.reset();
    return answer.error();
}

void Pmi1Client::abort(std::int32_t code) {
    // A launcher that is gone needs no word.
    static_cast<void>(send_line(fmt::format("cmd=abort exitcode={}\n", code)));
}

Status Pmi1Client::send_line(std::string_view line) {
    while (!line.empty()) {
        const ssize_t sent = ::send(socket_.get(), line.data(), line.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) {
            return fail(Errc::wireup, "PMI-1: the launcher is gone: {}", std::strerror(errno));
        }
        line.remove_prefix(static_cast<std::size_t>(sent));
    }
    return {};
}

Result<Pmi1Fields> Pmi1Client::receive(std::string_view command) {
    const std::uint64_t deadline_ns = monotonic_ns() +
                                      static_cast<std::uint64_t>(timeout_ms_) * 1'000'000;
    std::size_t newline = received_.find('\n');
    while (newline == std::string::npos) {
        const std::uint64_t now_ns = monotonic_ns();
        pollfd entry{socket_.get(), POLLIN, 0};
        const auto left_ms = now_ns < deadline_ns ? (deadline_ns - now_ns) / 1'000'000 + 1 : 0;
        const int ready = left_ms > 0 ? ::poll(&entry, 1, static_cast<int>(left_ms)) : 0;
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) return fail(Errc::timeout, "PMI-1: no {} in time", command);
        std::array<char, 4096> bytes;
        const ssize_t count = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0 || received_.size() > line_bytes_max) {
            return fail(Errc::wireup, "PMI-1: the launcher ended the dialogue before {}", command);
        }
        received_.append(bytes.data(), static_cast<std::size_t>(count));
        newline = received_.find('\n');
    }
    const std::string line = received_.substr(0, newline);
    received_.erase(0, newline + 1);
    Result<Pmi1Fields> fields = parse_pmi1_line(line);
    if (!fields || field(*fields, "cmd") == command) return fields;
    return fail(Errc::wireup, "PMI-1: '{}' where {} was expected", line, command);
}

Result<Pmi1Fields> Pmi1Client::ask(std::string_view line, std::string_view answer) {
    if (Status status = send_line(line); !status.ok()) return status;
    return receive(answer);
}

}  // namespace dlrt
