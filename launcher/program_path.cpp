// SPDX-License-Identifier: Apache-2.0
#include "launcher/program_path.hpp"

#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

/// 0 when it can be run, else the reason.
int check_executable(const std::string& path) {
    struct stat facts = {};
    if (::stat(path.c_str(), &facts) != 0) return errno;
    if (S_ISDIR(facts.st_mode)) return EISDIR;
    return ::access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

std::string absolute(std::string_view path, std::string_view working_directory) {
    if (path.starts_with('/')) return std::string(path);
    return fmt::format("{}/{}", working_directory, path);
}

bool is_absence(int error) {
    return error == ENOENT || error == ENOTDIR;
}

ProgramPath refusal(std::string_view name, const std::string& path, int error) {
    if (is_absence(error)) return {"", 127, fmt::format("program '{}' was not found", name)};
    const std::string where = path == name ? "" : fmt::format(" ({})", path);
    const char* reason = error == EISDIR ? "it is a folder" : std::strerror(error);
    return {"", 126, fmt::format("program '{}'{} cannot be executed: {}", name, where, reason)};
}

}  // namespace

ProgramPath find_program(
    std::string_view name, std::string_view search_path, std::string_view working_directory
) {
    if (name.find('/') != std::string_view::npos) {
        const std::string path = absolute(name, working_directory);
        const int error = check_executable(path);
        return error == 0 ? ProgramPath{path, 0, ""} : refusal(name, path, error);
    }
    if (name.empty()) return {"", 127, "the program's name is empty"};
    ProgramPath first_refusal;
    while (true) {
        const std::size_t colon = search_path.find(':');
        std::string_view folder = search_path.substr(0, colon);
        if (folder.empty()) folder = ".";
        const std::string path = fmt::format("{}/{}", absolute(folder, working_directory), name);
        const int error = check_executable(path);
        if (error == 0) return {path, 0, ""};
        if (!is_absence(error) && first_refusal.exit_status == 0) {
            first_refusal = refusal(name, path, error);
        }
        if (colon == std::string_view::npos) break;
        search_path.remove_prefix(colon + 1);
    }
    if (first_refusal.exit_status != 0) return first_refusal;
    return {"", 127, fmt::format("program '{}' was not found in PATH", name)};
}

}  // namespace dlrt::launcher
