// SPDX-License-Identifier: Apache-2.0
/// Where the files of a controller's cgroups lie for the calling process, v1 and v2.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dlrt {

/// One hierarchy that limits this process: where its files are, from the own group up to the mount.
struct CgroupHierarchy {
    std::string mount_point;
    std::string group;  ///< Relative to the mount; "" or "/a/b".
    bool is_v2 = false;

    /// Folders of the own group first, of the mount last.
    [[nodiscard]] std::vector<std::string> levels() const;
};

/// `controller` is a name such as "cpu" or "memory"; the unified hierarchy serves all, whether or
/// not it has that one. `root` stands in for "/" (tests make one up).
[[nodiscard]] std::vector<CgroupHierarchy> find_cgroups(
    const std::string& root, std::string_view controller
);

/// The parts between separators, as the kernel's files have them: empty ones are left out.
[[nodiscard]] std::vector<std::string_view> split_text(std::string_view text, char separator);

/// "" for a file that can't be read.
[[nodiscard]] std::string read_text_file(const std::string& path);

}  // namespace dlrt
