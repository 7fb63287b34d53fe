// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/table_places.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/base/table_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
#include <utility>

namespace dlrt {
namespace {

/// Whether nobody can say that there is a file: none, or in a folder closed to us, such as the
/// home folder of somebody else.
bool is_absent(const std::string& path, int open_error) {
    if (open_error == ENOENT || open_error == ENOTDIR) return true;
    struct stat facts {};
    return open_error == EACCES && ::stat(path.c_str(), &facts) != 0;
}

std::string foreign_text(const MeasuredHost& there, const MeasuredHost& here) {
    return fmt::format(
        "measured on a host with {} cpus '{}'; this one has {} cpus '{}'", there.online_cpus,
        there.cpu_model, here.online_cpus, here.cpu_model
    );
}

/// Looks at one place after the other and keeps what it knows of the host.
class Looking {
  public:
    explicit Looking(const TableSearch& search) : search_(search) {}

    void look(PlaceReport& place) {
        const Fd file = open_table(place.path);
        if (!file.is_open()) {
            const int error = errno;
            place.reason = fmt::format("cannot be opened: {}", std::strerror(error));
            place.state = is_absent(place.path, error) ? PlaceState::absent : PlaceState::damaged;
            return;
        }
        place.state = PlaceState::damaged;
        const Result<std::string> text = read_table_text(file);
        if (!text) {
            place.reason = last_error_text();
            return;
        }
        const Result<MeasuredHost> there = search_.take(*text);
        if (there && !here_) here_ = search_.find_host();
        if (!there || !*here_) {
            place.reason = last_error_text();
            return;
        }
        if (*there != **here_) {
            place.state = PlaceState::foreign;
            place.reason = foreign_text(*there, **here_);
            return;
        }
        place.state = PlaceState::in_force;
    }

  private:
    const TableSearch& search_;
    std::optional<Result<MeasuredHost>> here_;
};

}  // namespace

std::string user_table_path(const char* config_home, const char* home, std::string_view file_name) {
    const bool is_config_home = config_home != nullptr && *config_home != '\0';
    const char* folder = is_config_home ? config_home : home;
    if (folder == nullptr || *folder != '/') return {};
    return fmt::format("{}{}/dlrt/{}", folder, is_config_home ? "" : "/.config", file_name);
}

TablePlaces table_places(std::string named, std::string_view file_name) {
    return {
        std::move(named),
        user_table_path(std::getenv("XDG_CONFIG_HOME"), std::getenv("HOME"), file_name),
        fmt::format("{}/{}", DLRT_SYSTEM_FOLDER, file_name)};
}

std::string_view text_of(PlaceState state) {
    switch (state) {
        case PlaceState::none:
            return "no such place";
        case PlaceState::absent:
            return "absent";
        case PlaceState::in_force:
            return "in force";
        case PlaceState::foreign:
        case PlaceState::damaged:
            return "passed over";
        case PlaceState::not_reached:
            return "not reached";
    }
    return "";
}

std::vector<PlaceReport> look_for_table(const TablePlaces& places, const TableSearch& search) {
    std::vector<PlaceReport> reports = {
        {search.setting, places.named},
        {"user", places.user},
        {"system", places.system},
        {"built in", ""}};
    Looking looking(search);
    for (PlaceReport& place : reports) {
        if (&place == &reports.back()) {
            place.state = PlaceState::in_force;
        } else if (place.path.empty()) {
            place.state = PlaceState::none;
        } else {
            looking.look(place);
        }
        const bool is_named = &place == &reports.front() && !place.path.empty();
        if (place.state == PlaceState::in_force || is_named) break;
        // Nothing is the usual thing to find there.
        if (place.state == PlaceState::absent) place.reason.clear();
    }
    return reports;
}

}  // namespace dlrt
