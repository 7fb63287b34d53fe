// SPDX-License-Identifier: Apache-2.0
#include "runtime/torch/meeting.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace dlrt_torch {
namespace {

/// libdlrt numbers its joins ("dlrt/NUMBER/..."), each process on its own; members of a group may
/// have had different numbers of them, and the round keeps ours apart.
std::string without_number(std::string_view key) {
    for (int parts = 0; parts < 2; ++parts) key.remove_prefix(key.find('/') + 1);
    return std::string(key);
}

}  // namespace

Meeting::Meeting(Store store, std::string group, int rank, int size, Milliseconds timeout)
    : store_(std::move(store)),
      group_(std::move(group)),
      rank_(rank),
      size_(size),
      timeout_(timeout) {
    const std::int64_t arrival = store_.add("dlrt/arrivals", 1) - 1;
    const std::string round = std::to_string(arrival / size_);
    prefix_ = "dlrt/" + round + "/";
    name_ = group_ + "#" + round;
    store_.set(key("here/" + std::to_string(rank_)), "1");
    // Nobody comes to the next round before this key is there.
    if (arrival % size_ == size_ - 1) store_.set(key("all"), "1");
    wait_for_all();
}

void Meeting::wait_for_all() {
    if (store_.wait(key("all"), timeout_)) return;
    throw Failure(
        DLRT_ERR_TIMEOUT, "group '" + group_ + "': rank " + std::to_string(rank_) + " of " +
                              std::to_string(size_) + " waited " +
                              std::to_string(timeout_.count()) + " ms for all to come; " + absent()
    );
}

std::string Meeting::absent() const {
    std::string ranks;
    int count = 0;
    for (int rank = 0; rank < size_; ++rank) {
        if (store_.has(key("here/" + std::to_string(rank)))) continue;
        ranks += (count++ == 0 ? "" : ", ") + std::to_string(rank);
    }
    if (count == 0) return "the last one has just come";
    return (count == 1 ? "missing is rank " : "missing are ranks ") + ranks;
}

bool Meeting::do_all_say(const std::string& word) {
    const std::string counter = key("say/" + word);
    const std::string done = key("said");
    store_.add(counter, 1);
    if (store_.add(key("speakers"), 1) == size_) store_.set(done, "1");
    if (!store_.wait(done, timeout_)) {
        throw Failure(DLRT_ERR_TIMEOUT, "group '" + group_ + "': a rank has gone while it joined");
    }
    return store_.add(counter, 0) == size_;
}

std::string Meeting::agree_on_id() {
    const std::string place = key("id");
    if (rank_ == 0) {
        const auto now = std::chrono::system_clock::now().time_since_epoch().count();
        store_.set(place, std::to_string(::getpid()) + "." + std::to_string(now));
    }
    if (!store_.wait(place, timeout_)) {
        throw Failure(DLRT_ERR_TIMEOUT, "group '" + group_ + "': rank 0 has gone while it joined");
    }
    return store_.get(place);
}

int Meeting::put(const char* name, const void* value, std::size_t length) noexcept {
    try {
        store_.set(key(without_number(name)), std::string(static_cast<const char*>(value), length));
        return 0;
    } catch (const std::exception& error) {
        trouble_ = error.what();
        return 1;
    }
}

int Meeting::get(
    const char* name, void* value, std::size_t capacity, std::size_t* length
) noexcept {
    try {
        const std::string full = key(without_number(name));
        if (!store_.wait(full, timeout_)) {
            trouble_ = "'" + full + "' did not come within " + std::to_string(timeout_.count()) +
                       " ms";
            return 1;
        }
        const std::string found = store_.get(full);
        *length = found.size();
        std::memcpy(value, found.data(), std::min(capacity, found.size()));
        return 0;
    } catch (const std::exception& error) {
        trouble_ = error.what();
        return 1;
    }
}

}  // namespace dlrt_torch
