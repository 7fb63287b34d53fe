// SPDX-License-Identifier: Apache-2.0
/// A value or the Status that says why there is none. Named as std::expected, which GCC 12 lacks in
/// C++20.
#pragma once

#include "runtime/base/check.hpp"
#include "runtime/base/status.hpp"

#include <type_traits>
#include <utility>
#include <variant>

namespace dlrt {

template<typename T>
class [[nodiscard]] Result {
  public:
    using value_type = T;

    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(*-explicit-*)
    /// REQUIRES: !status.ok()
    Result(Status status) : state_(std::in_place_index<1>, status) {  // NOLINT(*-explicit-*)
        DLRT_ASSERT(!status.ok());
    }

    [[nodiscard]] bool has_value() const { return state_.index() == 0; }
    explicit operator bool() const { return has_value(); }

    /// REQUIRES: has_value()
    [[nodiscard]] T& value() & { return *std::get_if<0>(&state_); }
    [[nodiscard]] const T& value() const& { return *std::get_if<0>(&state_); }
    [[nodiscard]] T&& value() && { return std::move(*std::get_if<0>(&state_)); }
    [[nodiscard]] T& operator*() & { return value(); }
    [[nodiscard]] const T& operator*() const& { return value(); }
    [[nodiscard]] T&& operator*() && { return std::move(*this).value(); }
    [[nodiscard]] T* operator->() { return &value(); }
    [[nodiscard]] const T* operator->() const { return &value(); }

    /// The failure; ok when there is a value.
    [[nodiscard]] Status error() const { return has_value() ? Status{} : *std::get_if<1>(&state_); }

  private:
    std::variant<T, Status> state_;
};

}  // namespace dlrt
