// SPDX-License-Identifier: Apache-2.0
/// What makes a host another one for a table of measurements. A value.
#pragma once

#include "runtime/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace dlrt {

struct MeasuredHost {
    std::string cpu_model;          ///< As the kernel names it.
    std::uint32_t online_cpus = 0;  ///< Of the whole host, whatever this process may use.
    friend bool operator==(const MeasuredHost&, const MeasuredHost&) = default;
};

/// The cpu model in the text of /proc/cpuinfo: the model name, or on Arm implementer and part of
/// each kind of cpu. Empty when the text names none.
[[nodiscard]] std::string cpu_model_in(std::string_view cpuinfo);
/// The host this process runs on. Errors: Errc::system, Errc::unsupported (no cpu model is named).
[[nodiscard]] Result<MeasuredHost> find_measured_host();

}  // namespace dlrt
