// SPDX-License-Identifier: Apache-2.0
/// The short way of small blocking collectives from dlrt.h.
#pragma once

#include "runtime/api/surface.hpp"
#include "runtime/recent_calls.hpp"

#include <bit>
#include <cstdint>

namespace dlrt::api {

/// A blocking collective as its caller describes it; what it lacks is null or 0.
struct CollectiveArguments {
    const char* function = nullptr;
    coll::Collective collective = coll::Collective::barrier;
    dlrt_comm comm = {};
    const void* input = nullptr;
    void* output = nullptr;  ///< Also of a broadcast.
    std::int64_t count = 0;
    dlrt_type type = {};
    dlrt_op op = {};
    std::int32_t root = 0;

    [[nodiscard]] RecentCall as_recent() const {
        const auto bits = [](auto handle) { return std::bit_cast<std::uint64_t>(handle); };
        return {
            .collective = collective,
            .is_in_place = input == DLRT_IN_PLACE || output == DLRT_IN_PLACE,
            .root = root,
            .comm = bits(comm),
            .input = input,
            .output = output,
            .count = count,
            .type = bits(type),
            .op = bits(op),
        };
    }
    /// A user's type can be freed, and its handle must be found out of date then.
    [[nodiscard]] bool can_be_repeated() const { return type.generation == 0; }
};

/// The short way if there is one, else `careful`.
template<typename Careful>
dlrt_err repeat_or(const CollectiveArguments& arguments, Careful careful) {
    Surface& surface = Surface::get();
    if (surface.is_ready_and_alone()) {
        const auto done = surface.recent_calls().repeat(*surface.flight, arguments.as_recent());
        if (done && done->ok()) [[likely]]
            return DLRT_OK;
        if (done) return to_c(Site(arguments.function).pass(*done));
    }
    return careful();
}

}  // namespace dlrt::api
