// SPDX-License-Identifier: Apache-2.0
/// Info objects: pairs of key and value in the order in which they were first set. Values; one
/// thread at a time for each.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dlrt::mpi {

class Info {
  public:
    using Entry = std::pair<std::string, std::string>;

    void set(std::string_view key, std::string_view value);
    /// False when there is no such key.
    [[nodiscard]] bool erase(std::string_view key);
    /// Null when there is no such key.
    [[nodiscard]] const std::string* find(std::string_view key) const;
    [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

  private:
    std::vector<Entry> entries_;
};
using InfoRef = std::shared_ptr<Info>;

}  // namespace dlrt::mpi
