// SPDX-License-Identifier: Apache-2.0
/// Where a table of measurements is looked for, and which of those found is in force. Home folders
/// are shared between hosts, so that a table measured elsewhere is nothing unusual there.
#pragma once

#include "runtime/base/measured_host.hpp"
#include "runtime/base/result.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dlrt {

/// Paths, first to last; an empty one is no place.
struct TablePlaces {
    std::string named;   ///< By a setting; must be usable when it is set.
    std::string user;    ///< What dltune writes with --save.
    std::string system;  ///< For all users of the installation.
};

/// $XDG_CONFIG_HOME/dlrt/FILE_NAME, ~/.config/dlrt/… where that variable is unset or empty; empty
/// where the variable that counts is no absolute path. Null: unset.
[[nodiscard]] std::string user_table_path(
    const char* config_home, const char* home, std::string_view file_name
);
/// Of this process and installation. Reads the environment: before other threads change it.
[[nodiscard]] TablePlaces table_places(std::string named, std::string_view file_name);

enum class PlaceState {
    none,    ///< No such place: a variable is unset or not absolute.
    absent,  ///< No file there.
    in_force,
    foreign,      ///< Passed over: measured on another host.
    damaged,      ///< Passed over: can't be read, or isn't a table.
    not_reached,  ///< Another is in force, or an earlier one must be mended.
};
[[nodiscard]] std::string_view text_of(PlaceState state);

struct PlaceReport {
    std::string_view name;  ///< The setting's, "user", "system" or "built in".
    std::string path = {};  ///< Empty for "built in" and for none.
    PlaceState state = PlaceState::not_reached;
    std::string reason = {};  ///< Of foreign and damaged: one line without the path.
};

struct TableSearch {
    std::string_view setting;  ///< That names a place.
    /// Takes the text of a table if it is one, and says where it was measured. Errors: without the
    /// path.
    std::function<Result<MeasuredHost>(std::string_view text)> take;
    /// Called once, and only when a whole table has been found.
    std::function<Result<MeasuredHost>()> find_host;
};

/// All four places, in order. What was taken last is in force, if a place is; else the built-in one
/// is, unless the named one can't be used: then nothing is.
[[nodiscard]] std::vector<PlaceReport> look_for_table(
    const TablePlaces& places, const TableSearch& search
);

}  // namespace dlrt
