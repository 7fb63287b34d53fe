// SPDX-License-Identifier: Apache-2.0
/// For tests that try every argument of a function of dlrt.h with every value that can be seen to
/// be bad: one at a time, the right code, and words that begin with the function's name.
#pragma once

#include "dlrt.h"

#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

namespace dlrt::testing {

/// Joined while it lives.
struct Joined {
    Joined() { REQUIRE(dlrt_init() == DLRT_OK); }
    ~Joined() { CHECK(dlrt_finalize() == DLRT_OK); }
};

template<typename T>
using BadValues = std::vector<std::pair<T, dlrt_err>>;

// Kinds of parameters: a good value, and the bad ones with what they should give.

template<typename Handle, dlrt_err error>
struct HandleKind {
    Handle value;
    [[nodiscard]] static BadValues<Handle> bad() {
        BadValues<Handle> values;
        for (const std::uint32_t index : {0u, 1u, 2u, 3u, 19u, 64u, 70u, 1u << 30, UINT32_MAX}) {
            for (const std::uint32_t generation : {2u, 9999u, 10000u, UINT32_MAX}) {
                values.push_back({{index, generation}, error});
            }
        }
        values.push_back({{0, 0}, error});
        values.push_back({{50, 0}, error});
        return values;
    }
};
using Comm = HandleKind<dlrt_comm, DLRT_ERR_COMM>;
using Group = HandleKind<dlrt_group, DLRT_ERR_GROUP>;
using Type = HandleKind<dlrt_type, DLRT_ERR_TYPE>;
using Message = HandleKind<dlrt_message, DLRT_ERR_MESSAGE>;
using RequestHandle = HandleKind<dlrt_request, DLRT_ERR_REQUEST>;

/// A pointer that must not be null.
template<typename T>
struct Needed {
    T* value;
    [[nodiscard]] static BadValues<T*> bad() { return {{nullptr, DLRT_ERR_ARG}}; }
};
template<typename T>
Needed(T*) -> Needed<T>;
/// A pointer to a handle that is used.
template<typename Handle, dlrt_err error>
struct Used {
    Handle* value;
    [[nodiscard]] static BadValues<Handle*> bad() {
        static std::vector<std::pair<Handle, dlrt_err>> handles;
        handles = HandleKind<Handle, error>::bad();
        BadValues<Handle*> values{{nullptr, DLRT_ERR_ARG}};
        for (auto& [handle, code] : handles) {
            // The null handle is a complete request and means nothing to free elsewhere.
            if (handle.index != 0 || handle.generation != 0) values.push_back({&handle, code});
        }
        return values;
    }
};
/// Any value is good.
template<typename T>
struct Free {
    T value;
    [[nodiscard]] static BadValues<T> bad() { return {}; }
};
template<typename T>
Free(T) -> Free<T>;

struct Memory {
    void* value;
    [[nodiscard]] static BadValues<void*> bad() {
        return {{nullptr, DLRT_ERR_BUFFER}, {DLRT_IN_PLACE, DLRT_ERR_BUFFER}};
    }
};
/// One that may be DLRT_IN_PLACE.
struct Input {
    void* value;
    [[nodiscard]] static BadValues<void*> bad() { return {{nullptr, DLRT_ERR_BUFFER}}; }
};
struct Count {
    std::int64_t value;
    [[nodiscard]] static BadValues<std::int64_t> bad() {
        return {{-1, DLRT_ERR_COUNT}, {INT64_MIN, DLRT_ERR_COUNT}, {INT64_MAX, DLRT_ERR_COUNT}};
    }
};
struct Natural {
    std::int64_t value;
    [[nodiscard]] static BadValues<std::int64_t> bad() {
        return {{-1, DLRT_ERR_COUNT}, {INT64_MIN, DLRT_ERR_COUNT}};
    }
};
struct Length {
    std::int32_t value;
    [[nodiscard]] static BadValues<std::int32_t> bad() {
        return {{-1, DLRT_ERR_COUNT}, {INT32_MIN, DLRT_ERR_COUNT}};
    }
};
struct Target {
    std::int32_t value;
    [[nodiscard]] static BadValues<std::int32_t> bad() {
        return {
            {1, DLRT_ERR_RANK},  {INT32_MAX, DLRT_ERR_RANK}, {DLRT_ANY_SOURCE, DLRT_ERR_RANK},
            {-3, DLRT_ERR_RANK}, {INT32_MIN, DLRT_ERR_RANK},
        };
    }
};
struct Source {
    std::int32_t value;
    [[nodiscard]] static BadValues<std::int32_t> bad() {
        return {{1, DLRT_ERR_RANK}, {-3, DLRT_ERR_RANK}, {INT32_MIN, DLRT_ERR_RANK}};
    }
};
struct SendTag {
    std::int32_t value;
    [[nodiscard]] static BadValues<std::int32_t> bad() {
        return {{DLRT_ANY_TAG, DLRT_ERR_TAG}, {-2, DLRT_ERR_TAG}, {INT32_MIN, DLRT_ERR_TAG}};
    }
};
struct RecvTag {
    std::int32_t value;
    [[nodiscard]] static BadValues<std::int32_t> bad() {
        return {{-2, DLRT_ERR_TAG}, {INT32_MIN, DLRT_ERR_TAG}};
    }
};
struct Root {
    std::int32_t value;
    [[nodiscard]] static BadValues<std::int32_t> bad() {
        return {{-1, DLRT_ERR_ROOT}, {1, DLRT_ERR_ROOT}, {INT32_MIN, DLRT_ERR_ROOT}};
    }
};
struct Reduction {
    dlrt_op value;
    [[nodiscard]] static BadValues<dlrt_op> bad() {
        return {
            {DLRT_OP_NULL, DLRT_ERR_OP},
            {dlrt_op{14, 0}, DLRT_ERR_OP},
            {dlrt_op{14, 1}, DLRT_ERR_OP},
            {dlrt_op{UINT32_MAX, UINT32_MAX}, DLRT_ERR_OP},
        };
    }
};

template<typename... Parameters, typename... Kinds, std::size_t... indices>
void refuse_each(
    const char* name, dlrt_err (*function)(Parameters...), std::index_sequence<indices...>,
    const Kinds&... kinds
) {
    const auto try_bad = [&]<std::size_t index>(const auto& kind) {
        for (const auto& [value, code] : kind.bad()) {
            std::tuple<Parameters...> arguments(kinds.value...);
            std::get<index>(arguments) = value;
            INFO(name << ", parameter " << index);
            CHECK(std::apply(function, arguments) == code);
            CHECK(std::string(dlrt_last_error()).starts_with(std::string(name) + ": "));
        }
    };
    (try_bad.template operator()<indices>(kinds), ...);
}

template<typename... Parameters, typename... Kinds>
void refuse(const char* name, dlrt_err (*function)(Parameters...), const Kinds&... kinds) {
    static_assert(sizeof...(Parameters) == sizeof...(Kinds));
    refuse_each(name, function, std::index_sequence_for<Kinds...>{}, kinds...);
}

inline constexpr Comm world{DLRT_COMM_WORLD};
inline constexpr Type real{DLRT_DOUBLE};
inline std::array<double, 4> data{}, more_data{};

}  // namespace dlrt::testing

#define DLRT_REFUSE(function, ...) ::dlrt::testing::refuse(#function, function, __VA_ARGS__)
