// SPDX-License-Identifier: Apache-2.0
/// Where a copy table is looked for, and which of those found is in force. Home folders are shared
/// between hosts, so that a table measured elsewhere is nothing unusual there.
#pragma once

#include "transports/shm/copy_table.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlrt::shm {

/// Paths, first to last; an empty one is no place.
struct CopyTablePlaces {
    std::string named;   ///< DLRT_COPY_TABLE; must be usable when it is set.
    std::string user;    ///< What `dltune --save` writes.
    std::string system;  ///< For all users of the installation.
};

/// $XDG_CONFIG_HOME/dlrt/copy_table.json, ~/.config/dlrt/copy_table.json where that variable is
/// unset or empty; empty where the variable that counts is no absolute path. Null: unset.
[[nodiscard]] std::string user_copy_table_path(const char* config_home, const char* home);
/// Of this process and installation. Reads the environment: before other threads change it.
[[nodiscard]] CopyTablePlaces copy_table_places(std::string named);

enum class PlaceState {
    none,    ///< No such place: a variable is unset or not absolute.
    absent,  ///< No file there.
    in_force,
    foreign,      ///< Passed over: measured on another host.
    damaged,      ///< Passed over: can't be read, or isn't a table.
    not_reached,  ///< Another is in force, or an earlier one must be mended.
};

struct PlaceReport {
    std::string_view name;  ///< "DLRT_COPY_TABLE", "user", "system" or "built in".
    std::string path = {};  ///< Empty for "built in" and for none.
    PlaceState state = PlaceState::not_reached;
    std::string reason = {};  ///< Of foreign and damaged: one line without the path.
};

struct CopyTableChoice {
    std::vector<PlaceReport> places;  ///< In order, all four.
    std::optional<CopyTable> table;   ///< None: the named one can't be used.
};

using FindHost = std::function<Result<MeasuredHost>()>;
/// `find_host` is called once, and only when a whole table has been found.
[[nodiscard]] CopyTableChoice choose_copy_table(
    const CopyTablePlaces& places, const FindHost& find_host
);

}  // namespace dlrt::shm
