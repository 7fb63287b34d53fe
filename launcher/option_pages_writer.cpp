// SPDX-License-Identifier: Apache-2.0
/// Prints a text that is made from dlrun's table of options: "man", "bash" or "list". Run by the
/// build and by tests; not installed.
#include "launcher/option_pages.hpp"

#include <cstdio>
#include <string_view>

#include <fmt/format.h>

int main(int argument_count, char** arguments) {
    using namespace dlrt::launcher;
    const std::string_view what = argument_count == 2 ? arguments[1] : "";
    if (what == "man") {
        fmt::print("{}", man_page(DLRT_VERSION));
    } else if (what == "bash") {
        fmt::print("{}", bash_completion());
    } else if (what == "list") {
        fmt::print("{}", option_list());
    } else {
        fmt::print(stderr, "option_pages: valid is one of man, bash, list\n");
        return 1;
    }
    return 0;
}
