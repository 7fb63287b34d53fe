// SPDX-License-Identifier: Apache-2.0
/// dltune: measures which way large messages between ranks of this host should go, or which
/// algorithms collectives should use, and writes the table that jobs find.
#include "runtime/base/error_text.hpp"
#include "runtime/base/nearest_name.hpp"
#include "runtime/base/size_range.hpp"
#include "runtime/base/table_file.hpp"
#include "runtime/collective_table.hpp"
#include "tools/dltune_collectives.hpp"
#include "transports/shm/copy_table_places.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace {

constexpr const char* usage =
    "usage: dltune [FILE | --save]\n"
    "       dltune --collectives [--only COLLECTIVE] [--ranks 2,4] [--sizes 8,64k] [FILE | "
    "--save]\n"
    "Measures large messages between processes of this host and writes the copy table as JSON to\n"
    "FILE, to the user's place with --save, or else to standard output. Takes some seconds; use\n"
    "it on a quiet host. A job uses the first of: the table that DLRT_COPY_TABLE names,\n"
    "$XDG_CONFIG_HOME/dlrt/copy_table.json (~/.config where unset), the system's, the built-in\n"
    "one. dlinfo copy-table shows them.\n"
    "With --collectives it measures the algorithms of collectives in jobs of these numbers of\n"
    "ranks (2,4,8) and sizes of a rank's input (8 to 4m), some minutes, and writes the collective\n"
    "table: DLRT_COLLECTIVE_TABLE, …/dlrt/collective_table.json, dlinfo collective-table.\n";
constexpr std::string_view option_names[] = {"--help", "--save",  "--collectives",
                                             "--only", "--ranks", "--sizes"};

struct Arguments {
    bool is_help = false;
    bool is_saving = false;
    bool has_collectives = false;
    bool has_choice = false;  ///< Something that only goes with collectives.
    dlrt::tune::CollectiveOptions collectives;
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

/// A list of rising numbers from 1 on; empty when it is none.
std::vector<std::uint64_t> parse_list(std::string_view text) {
    std::vector<std::uint64_t> values;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const auto value = dlrt::parse_size(text.substr(begin, end - begin));
        const std::uint64_t last = values.empty() ? 0 : values.back();
        if (!value || *value <= last) return {};
        values.push_back(*value);
        begin = end + 1;
    }
    return values;
}

/// What is wrong with the value of an option of collectives; empty when nothing is.
std::string take_choice(std::string_view option, std::string_view value, Arguments& out) {
    out.has_choice = true;
    if (option == "--only") {
        const auto names = dlrt::tune::measurable_collectives();
        out.collectives.only = value;
        if (std::ranges::find(names, value) != names.end()) return {};
        return fmt::format(
            "--only: '{}' can't be measured; {}", value, dlrt::did_you_mean(value, names)
        );
    }
    constexpr std::uint64_t ranks_max = 4096;
    const std::vector<std::uint64_t> values = parse_list(value);
    if (option == "--sizes") out.collectives.sizes_bytes = values;
    for (const std::uint64_t ranks : values) {
        if (option == "--ranks" && ranks <= ranks_max)
            out.collectives.ranks.push_back(static_cast<std::int32_t>(ranks));
    }
    const bool is_right = !values.empty() && (option == "--sizes" || values.back() <= ranks_max);
    if (is_right) return {};
    return fmt::format("{}: '{}' is no list of rising numbers, such as 2,4,8", option, value);
}

/// What is wrong with the words; empty when nothing is.
std::string take(int argc, char** argv, Arguments& out) {
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        std::string wrong;
        if (word == "--help" || word == "-h") {
            out.is_help = true;
        } else if (word == "--save") {
            out.is_saving = true;
        } else if (word == "--collectives") {
            out.has_collectives = true;
        } else if (word == "--only" || word == "--ranks" || word == "--sizes") {
            wrong = i + 1 < argc ? take_choice(word, argv[i + 1], out)
                                 : fmt::format("{}: its value is missing", word);
            ++i;
        } else if (word.starts_with("-")) {
            wrong = fmt::format(
                "'{}' is no option; {}", word, dlrt::did_you_mean(word, option_names)
            );
        } else if (word.empty()) {
            wrong = "'' names no file; valid is one FILE, --save or nothing";
        } else if (out.path) {
            wrong = fmt::format("'{}' is one word too many; valid is one FILE or --save", word);
        } else {
            out.path = word;
        }
        if (!wrong.empty()) return wrong;
    }
    if (out.is_saving && out.path) {
        return fmt::format("'{}': --save knows its place; valid is FILE or --save", *out.path);
    }
    if (out.has_choice && !out.has_collectives) {
        return "--only, --ranks and --sizes go with --collectives only";
    }
    return {};
}

/// The user's place, its folder made.
dlrt::Result<std::string> make_place(std::string_view file_name) {
    const std::string path = dlrt::table_places({}, file_name).user;
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

/// The text of the table.
dlrt::Result<std::string> measure(const Arguments& arguments) {
    dlrt::Result<dlrt::MeasuredHost> host = dlrt::find_measured_host();
    if (!host) return host.error();
    if (arguments.has_collectives) {
        const auto samples = dlrt::tune::measure_collectives(arguments.collectives);
        if (!samples) return samples.error();
        return dlrt::collective_table_text({dlrt::rules_from(*samples), std::move(*host)});
    }
    dlrt::Result<dlrt::shm::CopyTable> table = dlrt::shm::measure_copy_table({});
    if (!table) return table.error();
    table->measured_on = std::move(*host);
    return dlrt::shm::copy_table_text(*table);
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
        dlrt::Result<std::string> place = make_place(
            arguments.has_collectives ? dlrt::collective_table_file_name
                                      : dlrt::shm::copy_table_file_name
        );
        if (!place) return give_up();
        arguments.path = std::move(*place);
    }
    if (arguments.path && !dlrt::check_table_target(*arguments.path).ok()) return give_up();
    const dlrt::Result<std::string> text = measure(arguments);
    if (!text) return give_up();
    if (!arguments.path) return std::fputs(text->c_str(), stdout) < 0 || std::fflush(stdout) != 0;
    if (!dlrt::write_table_text(*arguments.path, *text).ok()) return give_up();
    if (!arguments.is_saving) return 0;
    fmt::print("written to {}\n", *arguments.path);
    const char* config_home = std::getenv("XDG_CONFIG_HOME");
    if (config_home != nullptr && *config_home != '\0') {
        fmt::print("with dlrun, ranks find it there by: dlrun -x XDG_CONFIG_HOME ...\n");
    }
    return 0;
}
