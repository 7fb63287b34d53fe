// SPDX-License-Identifier: Apache-2.0
#include "runtime/wireup/cgroup.hpp"

#include "runtime/base/fd.hpp"

#include <algorithm>
#include <fcntl.h>
#include <iterator>
#include <unistd.h>

namespace dlrt {
namespace {

bool contains(const std::vector<std::string_view>& parts, std::string_view part) {
    return std::ranges::find(parts, part) != parts.end();
}

}  // namespace

std::vector<std::string> CgroupHierarchy::levels() const {
    std::vector<std::string> folders{mount_point + group};
    for (std::size_t end = group.rfind('/'); end != std::string::npos && end < group.size();) {
        folders.push_back(mount_point + group.substr(0, end));
        end = end == 0 ? std::string::npos : group.rfind('/', end - 1);
    }
    return folders;
}

std::vector<CgroupHierarchy> find_cgroups(const std::string& root, std::string_view controller) {
    std::vector<CgroupHierarchy> found;
    const std::string mounts = read_text_file(root + "/proc/self/mountinfo");
    const std::string groups = read_text_file(root + "/proc/self/cgroup");
    for (const std::string_view line : split_text(mounts, '\n')) {
        const auto fields = split_text(line, ' ');
        const auto dash = std::ranges::find(fields, "-");
        if (fields.size() < 5 || std::distance(dash, fields.end()) < 4) continue;
        const bool is_v2 = dash[1] == "cgroup2";
        if (!is_v2 && (dash[1] != "cgroup" || !contains(split_text(dash[3], ','), controller)))
            continue;
        for (const std::string_view group_line : split_text(groups, '\n')) {
            const std::size_t first = group_line.find(':');
            const std::size_t second = group_line.find(':', first + 1);
            if (second == std::string_view::npos) continue;
            const std::string_view names = group_line.substr(first + 1, second - first - 1);
            if (is_v2 ? !names.empty() : !contains(split_text(names, ','), controller)) continue;
            std::string_view group = group_line.substr(second + 1);
            // In a container the mount shows a part of the tree: what lies above it isn't to be
            // seen.
            const std::string_view mount_root = fields[3];
            if (mount_root != "/" && group.starts_with(mount_root)) {
                group.remove_prefix(mount_root.size());
            }
            if (group == "/") group = "";
            found.push_back({root + std::string(fields[4]), std::string(group), is_v2});
        }
    }
    return found;
}

std::vector<std::string_view> split_text(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (!text.empty()) {
        const std::size_t end = text.find(separator);
        if (end != 0) parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
    return parts;
}

std::string read_text_file(const std::string& path) {
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::string text;
    char chunk[4096];
    ssize_t got = 0;
    while (file.is_open() && (got = ::read(file.get(), chunk, sizeof chunk)) > 0) {
        text.append(chunk, static_cast<std::size_t>(got));
    }
    return text;
}

}  // namespace dlrt
