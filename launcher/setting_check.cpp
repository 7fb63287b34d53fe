// SPDX-License-Identifier: Apache-2.0
#include "launcher/setting_check.hpp"

#include "launcher/rank_environment.hpp"
#include "runtime/base/config.hpp"
#include "runtime/base/nearest_name.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

constexpr std::string_view setting_prefix = "DLRT_";
constexpr std::string_view test_prefix = "DLRT_TEST_";
/// Of dlrun itself.
constexpr std::string_view own_settings[] = {"DLRT_HOSTFILE"};

std::string unknown_setting(std::string_view name, std::span<const std::string_view> known) {
    const std::string_view near = nearest_name(name, known);
    if (near.empty()) {
        return fmt::format("{}: dlrt has no such setting; 'dlrun --help-env' lists them", name);
    }
    return fmt::format("{}: dlrt has no such setting; did you mean {}?", name, near);
}

}  // namespace

Status check_settings(
    std::span<const std::string> environment, std::vector<std::string>& warnings
) {
    std::vector<std::string_view> known(std::begin(own_settings), std::end(own_settings));
    for (const SettingInfo& setting : setting_table()) known.push_back(setting.name);
    for (const std::string& entry : environment) {
        if (!entry.starts_with(setting_prefix) || entry.starts_with(test_prefix)) continue;
        const std::string_view name = std::string_view(entry).substr(0, entry.find('='));
        if (std::ranges::find(known, name) == known.end()) {
            std::string warning = unknown_setting(name, known);
            const bool is_new = std::ranges::find(warnings, warning) == warnings.end();
            if (is_new) warnings.push_back(std::move(warning));
            continue;
        }
        const std::array<const char*, 2> alone = {entry.c_str(), nullptr};
        const Result<Settings> settings = read_settings(alone.data(), own_settings);
        if (!settings) return settings.error();
    }
    return {};
}

}  // namespace dlrt::launcher
