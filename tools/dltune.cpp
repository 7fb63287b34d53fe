// SPDX-License-Identifier: Apache-2.0
/// dltune: measures which way large messages between ranks of this host should go, and writes the
/// table that DLRT_COPY_TABLE names.
#include "runtime/base/error_text.hpp"
#include "transports/shm/copy_table.hpp"

#include <cstdio>
#include <fstream>
#include <string>

#include <fmt/format.h>

namespace {

constexpr const char* usage =
    "usage: dltune [FILE]\n"
    "Measures large messages between processes of this host and writes the table as JSON\n"
    "to FILE, or to standard output. Takes some seconds; use it on a quiet host. A job uses\n"
    "the table when DLRT_COPY_TABLE names it.\n";

}  // namespace

int main(int argc, char** argv) {
    const std::string argument = argc > 1 ? argv[1] : "";
    if (argument == "--help" || argument == "-h") {
        std::fputs(usage, stdout);
        return 0;
    }
    if (argc > 2 || argument.starts_with("-")) {
        std::fputs(usage, stderr);
        return 2;
    }
    const dlrt::Result<dlrt::shm::CopyTable> table = dlrt::shm::measure_copy_table({});
    if (!table) {
        fmt::print(stderr, "dltune: {}\n", dlrt::last_error_text());
        return 1;
    }
    const std::string text = dlrt::shm::copy_table_text(*table);
    if (argument.empty()) return std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0;
    std::ofstream file(argument);
    file << text << std::flush;
    if (!file) {
        fmt::print(stderr, "dltune: '{}' cannot be written\n", argument);
        return 1;
    }
    return 0;
}
