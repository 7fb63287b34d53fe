// SPDX-License-Identifier: Apache-2.0
#include "transports/shm/copy_table_places.hpp"

#include "runtime/base/error_text.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
#include <utility>

namespace dlrt::shm {
namespace {

constexpr const char* file_name = "/dlrt/copy_table.json";
constexpr const char* system_path = DLRT_SYSTEM_FOLDER "/copy_table.json";

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
class Search {
  public:
    explicit Search(const FindHost& find_host) : find_host_(find_host) {}

    std::optional<CopyTable> look(PlaceReport& place) {
        const Fd file = open_copy_table(place.path);
        if (!file.is_open()) {
            const int error = errno;
            place.reason = fmt::format("cannot be opened: {}", std::strerror(error));
            place.state = is_absent(place.path, error) ? PlaceState::absent : PlaceState::damaged;
            return {};
        }
        place.state = PlaceState::damaged;
        const Result<std::string> text = read_copy_table_text(file);
        if (!text) {
            place.reason = last_error_text();
            return {};
        }
        Result<CopyTable> table = parse_copy_table(*text);
        if (table && !host_) host_ = find_host_();
        if (!table || !*host_) {
            place.reason = last_error_text();
            return {};
        }
        if (*table->measured_on != **host_) {
            place.state = PlaceState::foreign;
            place.reason = foreign_text(*table->measured_on, **host_);
            return {};
        }
        place.state = PlaceState::in_force;
        return std::move(*table);
    }

  private:
    const FindHost& find_host_;
    std::optional<Result<MeasuredHost>> host_;
};

}  // namespace

std::string user_copy_table_path(const char* config_home, const char* home) {
    const bool is_config_home = config_home != nullptr && *config_home != '\0';
    const char* folder = is_config_home ? config_home : home;
    if (folder == nullptr || *folder != '/') return {};
    return std::string(folder) + (is_config_home ? "" : "/.config") + file_name;
}

CopyTablePlaces copy_table_places(std::string named) {
    return {
        std::move(named), user_copy_table_path(std::getenv("XDG_CONFIG_HOME"), std::getenv("HOME")),
        system_path};
}

CopyTableChoice choose_copy_table(const CopyTablePlaces& places, const FindHost& find_host) {
    CopyTableChoice choice;
    choice.places = {
        {"DLRT_COPY_TABLE", places.named},
        {"user", places.user},
        {"system", places.system},
        {"built in", ""}};
    Search search(find_host);
    for (PlaceReport& place : choice.places) {
        const bool is_last = &place == &choice.places.back();
        if (is_last) {
            choice.table = builtin_copy_table();
            place.state = PlaceState::in_force;
        } else if (place.path.empty()) {
            place.state = PlaceState::none;
        } else {
            choice.table = search.look(place);
        }
        const bool is_named = &place == &choice.places.front() && !place.path.empty();
        if (choice.table || is_named) return choice;
        // Nothing is the usual thing to find there.
        if (place.state == PlaceState::absent) place.reason.clear();
    }
    return choice;
}

}  // namespace dlrt::shm
