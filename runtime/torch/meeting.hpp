// SPDX-License-Identifier: Apache-2.0
/// How the members of a group find each other: through torch's key-value store, which says who has
/// come, with a limit of time. The same store is used again after a group was destroyed, so keys
/// carry a round: how often all members have met in it.
/// Thread: one at a time.
#pragma once

#include "runtime/torch/operation.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace dlrt_torch {

/// torch's store; its functions may throw.
struct Store {
    std::function<void(const std::string& key, const std::string& value)> set;
    /// Of a key that is there.
    std::function<std::string(const std::string& key)> get;
    std::function<std::int64_t(const std::string& key, std::int64_t value)> add;
    std::function<bool(const std::string& key)> has;
    /// False when it didn't come in time.
    std::function<bool(const std::string& key, Milliseconds timeout)> wait;
};

class Meeting {
  public:
    /// Returns when all have come. Throws Failure, DLRT_ERR_TIMEOUT with those who haven't.
    Meeting(Store store, std::string group, int rank, int size, Milliseconds timeout);

    /// Whether all have said the same; each rank asks once.
    [[nodiscard]] bool do_all_say(const std::string& word);
    /// The same on all members and in no other meeting; waits for rank 0.
    [[nodiscard]] std::string agree_on_id();
    /// The same on all members.
    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int size() const { return size_; }

    /// For dlrt_store; keep the text of what went wrong.
    int put(const char* key, const void* value, std::size_t length) noexcept;
    int get(const char* key, void* value, std::size_t capacity, std::size_t* length) noexcept;
    [[nodiscard]] const std::string& trouble() const { return trouble_; }

  private:
    void wait_for_all();
    [[nodiscard]] std::string absent() const;
    [[nodiscard]] std::string key(const std::string& what) const { return prefix_ + what; }

    Store store_;
    std::string group_;
    int rank_, size_;
    Milliseconds timeout_;
    std::string prefix_;
    std::string name_;
    std::string trouble_;
};

}  // namespace dlrt_torch
