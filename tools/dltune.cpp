// SPDX-License-Identifier: Apache-2.0
/// dltune: measures which way large messages between ranks of this host should go, and writes the
/// copy table that jobs find.
#include "runtime/base/error_text.hpp"
#include "runtime/base/nearest_name.hpp"
#include "transports/shm/copy_table_places.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

namespace {

constexpr const char* usage =
    "usage: dltune [FILE | --save]\n"
    "Measures large messages between processes of this host and writes the copy table as JSON to\n"
    "FILE, to the user's place with --save, or else to standard output. Takes some seconds; use\n"
    "it on a quiet host. A job uses the first of: the table that DLRT_COPY_TABLE names,\n"
    "$XDG_CONFIG_HOME/dlrt/copy_table.json (~/.config where unset), the system's, the built-in\n"
    "one. dlinfo copy-table shows them.\n";
constexpr std::string_view option_names[] = {"--help", "--save"};

struct Arguments {
    bool is_help = false;
    bool is_saving = false;
    std::optional<std::string> path;
};

int refuse(const std::string& line) {
    fmt::print(stderr, "dltune: {}\n", line);
    return 2;
}

int give_up() {
    fmt::print(stderr, "dltune: {}\n", dlrt::last_error_text());
    return 1;
}

/// What is wrong with the words; empty when nothing is.
std::string take(int argc, char** argv, Arguments& out) {
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--help" || word == "-h") {
            out.is_help = true;
        } else if (word == "--save") {
            out.is_saving = true;
        } else if (word.starts_with("-")) {
            return fmt::format(
                "'{}' is no option; {}", word, dlrt::did_you_mean(word, option_names)
            );
        } else if (word.empty()) {
            return "'' names no file; valid is one FILE, --save or nothing";
        } else if (out.path) {
            return fmt::format("'{}' is one word too many; valid is one FILE or --save", word);
        } else {
            out.path = word;
        }
    }
    if (out.is_saving && out.path) {
        return fmt::format("'{}': --save knows its place; valid is FILE or --save", *out.path);
    }
    return {};
}

/// The user's place, its folder made.
dlrt::Result<std::string> make_place() {
    const std::string path = dlrt::shm::copy_table_places({}).user;
    if (path.empty()) {
        return dlrt::fail(
            dlrt::Errc::argument,
            "--save: XDG_CONFIG_HOME, or HOME where that is unset, must be an absolute path; "
            "set it or give a FILE"
        );
    }
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (!error) return path;
    return dlrt::fail_errno(error.value(), "folder '{}' cannot be made", folder.string());
}

}  // namespace

int main(int argc, char** argv) {
    Arguments arguments;
    if (const std::string wrong = take(argc, argv, arguments); !wrong.empty()) return refuse(wrong);
    if (arguments.is_help) {
        std::fputs(usage, stdout);
        return 0;
    }
    if (arguments.is_saving) {
        dlrt::Result<std::string> place = make_place();
        if (!place) return give_up();
        arguments.path = std::move(*place);
    }
    if (arguments.path && !dlrt::shm::check_copy_table_target(*arguments.path).ok()) {
        return give_up();
    }
    dlrt::Result<dlrt::shm::MeasuredHost> host = dlrt::shm::find_measured_host();
    if (!host) return give_up();
    dlrt::Result<dlrt::shm::CopyTable> table = dlrt::shm::measure_copy_table({});
    if (!table) return give_up();
    table->measured_on = std::move(*host);
    if (!arguments.path) {
        const std::string text = dlrt::shm::copy_table_text(*table);
        return std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0;
    }
    if (!dlrt::shm::write_copy_table(*arguments.path, *table).ok()) return give_up();
    if (!arguments.is_saving) return 0;
    fmt::print("written to {}\n", *arguments.path);
    const char* config_home = std::getenv("XDG_CONFIG_HOME");
    if (config_home != nullptr && *config_home != '\0') {
        fmt::print("with dlrun, ranks find it there by: dlrun -x XDG_CONFIG_HOME ...\n");
    }
    return 0;
}
