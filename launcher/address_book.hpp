// SPDX-License-Identifier: Apache-2.0
/// Where ranks can be reached from other hosts: what their daemons have told, and which hosts have
/// asked. Pure; the head has one.
#pragma once

#include "launcher/frame.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dlrt::launcher {

class AddressBook {
  public:
    /// Returns the hosts that have asked for it so far, each of which is to be told, also of an
    /// address that takes the place of an earlier one.
    [[nodiscard]] const std::set<std::uint32_t>& put(const RankAddress& address);
    /// Null: not known yet; put() will name the host. Valid until the next put().
    [[nodiscard]] const std::vector<std::byte>* ask(
        std::uint32_t host, const AddressWanted& wanted
    );

  private:
    struct Entry {
        std::vector<std::byte> address;
        bool is_known = false;
        std::set<std::uint32_t> askers;
    };
    std::map<std::pair<std::uint32_t, std::string>, Entry> entries_;
};

}  // namespace dlrt::launcher
