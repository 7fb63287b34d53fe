// SPDX-License-Identifier: Apache-2.0
/// The client side of PMI-1: text lines over a socket that the launcher left open (PMI_FD) or that
/// it listens on (PMI_PORT). One question, one answer. Thread: one at a time; abort() from any.
#pragma once

#include "runtime/base/fd.hpp"
#include "runtime/base/result.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace dlrt {

/// "cmd=get_result rc=0 msg=all is well value=x" as a map: a word without '=' belongs to the field
/// before it, `value` takes the rest of the line.
using Pmi1Fields = std::map<std::string, std::string, std::less<>>;
/// Errors: Errc::wireup for a line that isn't such a list.
[[nodiscard]] Result<Pmi1Fields> parse_pmi1_line(std::string_view line);

class Pmi1Client {
  public:
    explicit Pmi1Client(int timeout_ms) : timeout_ms_(timeout_ms) {}

    /// By PMI_FD, PMI_RANK and PMI_SIZE, or by PMI_PORT and PMI_ID. Errors: Errc::wireup.
    Status connect();
    [[nodiscard]] std::uint32_t rank() const { return rank_; }
    [[nodiscard]] std::uint32_t size() const { return size_; }

    Status put(const std::string& key, const std::string& value);
    /// What was put before the last barrier.
    [[nodiscard]] Result<std::string> get(const std::string& key);
    Status barrier();
    Status finalize();
    void abort(std::int32_t code);
    void close() noexcept { socket_.reset(); }

  private:
    Status open_socket();
    Status connect_port(const std::string& host_and_port);
    Status introduce_by_id();
    Status introduce();
    Status send_line(std::string_view line);
    Result<Pmi1Fields> receive(std::string_view command);
    Result<Pmi1Fields> ask(std::string_view line, std::string_view answer);
    Result<std::uint32_t> receive_setting(std::string_view name);

    int timeout_ms_;
    Fd socket_;
    std::uint32_t rank_ = 0;
    std::uint32_t size_ = 1;
    std::string store_name_;
    std::string received_;  ///< Bytes after the last line.
};

}  // namespace dlrt
