// SPDX-License-Identifier: Apache-2.0
/// The names and addresses by which this host goes, to tell it from others in a list. Found in the
/// kernel, /etc/hosts and /etc/resolv.conf; no name server is ever asked.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dlrt::launcher {

class OwnHost {
  public:
    /// `addresses` are those of its interfaces, as text; the files are given by their content.
    OwnHost(
        std::string name, const std::vector<std::string>& addresses, std::string_view hosts_file,
        std::string_view resolver_file
    );

    /// As the kernel knows it.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    /// Whether a host's name or address in a list means this host.
    [[nodiscard]] bool is_called(std::string_view name) const;

  private:
    [[nodiscard]] bool is_own_address(std::string_view text) const;

    std::string name_;
    std::vector<std::string> names_;      ///< In small letters.
    std::vector<std::string> addresses_;  ///< In the one form of inet_ntop.
};

[[nodiscard]] OwnHost find_own_host();

/// Names of hosts are the same in capital letters, and with a dot at the end.
[[nodiscard]] std::string comparable_host_name(std::string_view name);

}  // namespace dlrt::launcher
