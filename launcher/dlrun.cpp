// SPDX-License-Identifier: Apache-2.0
/// dlrun: starts a parallel job and stays until all of it is gone.
#include "launcher/head.hpp"
#include "launcher/option_pages.hpp"
#include "launcher/options.hpp"
#include "launcher/process_defaults.hpp"
#include "launcher/status_query.hpp"
#include "runtime/base/error_text.hpp"

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

constexpr int launcher_fault_status = 125;

int obey(const Options& options, const ProcessDefaults& defaults) {
    switch (options.action) {
        case Options::Action::run:
            return run_head(options, defaults, DLRT_VERSION);
        case Options::Action::show_status:
            return show_status(options.status_job);
        case Options::Action::show_help:
            fmt::print("{}", help_text());
            return 0;
        case Options::Action::show_settings:
            fmt::print("{}", settings_text());
            return 0;
        case Options::Action::show_version:
            fmt::print("dlrun {}\n", DLRT_VERSION);
            return 0;
    }
    return launcher_fault_status;
}

}  // namespace
}  // namespace dlrt::launcher

int main(int argument_count, char** arguments) {
    using namespace dlrt::launcher;
    const ProcessDefaults defaults = capture_process_defaults();
    fill_standard_descriptors();
    const std::vector<std::string> words(arguments + 1, arguments + argument_count);
    const dlrt::Result<Options> options = parse_options(words);
    if (!options) {
        print_own_line(dlrt::last_error_text());
        return launcher_fault_status;
    }
    try {
        return obey(*options, defaults);
    } catch (const std::exception& problem) {
        print_own_line(fmt::format("cannot go on: {}", problem.what()));
        return launcher_fault_status;
    }
}
