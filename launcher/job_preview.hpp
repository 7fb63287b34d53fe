// SPDX-License-Identifier: Apache-2.0
/// What is said and shown of a job before its ranks start: warnings, command lines, pictures.
#pragma once

#include "launcher/job_builder.hpp"
#include "launcher/options.hpp"

#include <functional>
#include <string_view>

namespace dlrt::launcher {

/// Pictures go to standard output at once; `say` prints a line of dlrun's own.
void preview_job(
    const Options& options, const BuiltJob& job, const std::function<void(std::string_view)>& say
);

}  // namespace dlrt::launcher
