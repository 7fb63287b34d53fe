// SPDX-License-Identifier: Apache-2.0
/// dlinfo: what dlrt finds on this host and why it does what it does: cpus, transports, the
/// tables in force, settings with their origin, limits that will bite, and what of MPI is there.
#include "runtime/base/config.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/collective_table.hpp"
#include "runtime/heap.hpp"
#include "runtime/wireup/message.hpp"
#include "runtime/wireup/usable_cpus.hpp"
#include "tools/dlinfo/facts.hpp"
#include "transports/shm/copy_table_places.hpp"

#include <cstdio>
#include <cstdlib>
#include <mpi_chapters.hpp>
#include <set>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace {

using nlohmann::ordered_json;

constexpr const char* usage =
    "usage: dlinfo [--json] [SECTION]...\n"
    "Shows what dlrt finds on this host. Sections: cpus, transports, copy-table, "
    "collective-table,\nsettings, limits, mpi; without one, all.\n";

struct Section {
    const char* name;
    ordered_json (*find)(const dlrt::Settings& settings);
    void (*print)(const ordered_json& facts);
};

ordered_json find_cpus(const dlrt::Settings&) {
    const dlrt::UsableCpus usable = dlrt::find_usable_cpus();
    return {
        {"usable", usable.count},
        {"allowed", usable.cpus},
        {"is_limited_by_quota", usable.is_quota_limited()}};
}
void print_cpus(const ordered_json& facts) {
    fmt::print(
        "  {} usable of {} allowed{}\n", facts["usable"].get<int>(), facts["allowed"].size(),
        facts["is_limited_by_quota"].get<bool>() ? ", limited by a quota: ranks are not bound" : ""
    );
}

ordered_json find_transports(const dlrt::Settings& settings) {
    ordered_json found = ordered_json::array();
    for (const auto& transport : dlrt::info::find_transports(settings)) {
        found.push_back(
            {{"name", transport.name}, {"is_used", transport.is_used}, {"reason", transport.reason}}
        );
    }
    return found;
}
void print_transports(const ordered_json& facts) {
    for (const auto& transport : facts) {
        fmt::print(
            "  {:<26} {:<9} {}\n", transport["name"].get<std::string>(),
            transport["is_used"].get<bool>() ? "used" : "not used",
            transport["reason"].get<std::string>()
        );
    }
}

/// What is common to all kinds of tables; `text` is null where none is in force.
ordered_json table_facts(const std::vector<dlrt::PlaceReport>& reports, const std::string* text) {
    ordered_json places = ordered_json::array();
    std::string in_force;
    for (const dlrt::PlaceReport& place : reports) {
        ordered_json entry = {{"name", place.name}, {"path", place.path}};
        entry["state"] = text != nullptr || place.reason.empty() ? text_of(place.state)
                                                                 : std::string_view("refused");
        entry["reason"] = place.reason;
        places.push_back(std::move(entry));
        if (place.state != dlrt::PlaceState::in_force) continue;
        in_force = place.path.empty() ? place.name : place.path;
    }
    ordered_json facts = {{"in_force", nullptr}, {"places", std::move(places)}};
    if (text == nullptr) return facts;
    facts["in_force"] = in_force;
    facts["table"] = ordered_json::parse(*text);
    return facts;
}

ordered_json find_copy_table(const dlrt::Settings& settings) {
    const dlrt::shm::CopyTableChoice choice = dlrt::shm::choose_copy_table(
        dlrt::table_places(settings.copy_table_path, dlrt::shm::copy_table_file_name),
        dlrt::find_measured_host
    );
    if (!choice.table) return table_facts(choice.places, nullptr);
    const std::string text = dlrt::shm::copy_table_text(*choice.table);
    return table_facts(choice.places, &text);
}

ordered_json find_collective_table(const dlrt::Settings& settings) {
    const dlrt::CollectiveTableChoice choice = dlrt::choose_collective_table(
        dlrt::table_places(settings.collective_table_path, dlrt::collective_table_file_name)
    );
    if (!choice.table) return table_facts(choice.places, nullptr);
    const std::string text = dlrt::collective_table_text(*choice.table);
    return table_facts(choice.places, &text);
}

void print_table(const ordered_json& facts) {
    for (const ordered_json& place : facts["places"]) {
        const std::string reason = place["reason"].get<std::string>();
        fmt::print(
            "  {:<16} {:<13} {}{}\n", place["name"].get<std::string>(),
            place["state"].get<std::string>(), place["path"].get<std::string>(),
            reason.empty() ? "" : ": " + reason
        );
    }
    if (facts["in_force"].is_null()) {
        fmt::print("  none is in force: a job fails at init\n");
        return;
    }
    fmt::print(
        "  in force: {}\n{}\n", facts["in_force"].get<std::string>(), facts["table"].dump(2)
    );
}

ordered_json find_settings(const dlrt::Settings&) {
    ordered_json found = ordered_json::array();
    for (const dlrt::SettingInfo& info : dlrt::setting_table()) {
        const char* value = std::getenv(std::string(info.name).c_str());
        found.push_back(
            {{"name", info.name},
             {"type", info.type},
             {"standard", info.standard},
             {"value", value == nullptr ? std::string(info.standard) : value},
             {"origin", value == nullptr ? "standard" : "environment"},
             {"valid", info.valid},
             {"help", info.help}}
        );
    }
    return found;
}
void print_settings(const ordered_json& facts) {
    for (const auto& setting : facts) {
        fmt::print(
            "  {:<20} {:<22} {}\n", setting["name"].get<std::string>(),
            fmt::format(
                "{} ({})", setting["value"].get<std::string>(), setting["origin"].get<std::string>()
            ),
            setting["help"].get<std::string>()
        );
        fmt::print(
            "  {:<20} {}, valid: {}\n", "", setting["type"].get<std::string>(),
            setting["valid"].get<std::string>()
        );
    }
}

ordered_json find_limits(const dlrt::Settings& settings) {
    ordered_json found = ordered_json::array();
    const std::uint64_t heap_bytes = settings.heap_bytes.value_or(dlrt::standard_heap_limit_bytes()
    );
    for (const auto& limit : dlrt::info::find_limits(dlrt::find_usable_cpus().count, heap_bytes)) {
        found.push_back(
            {{"name", limit.name},
             {"value", limit.value},
             {"meaning", limit.meaning},
             {"will_bite", limit.will_bite}}
        );
    }
    return found;
}
void print_limits(const ordered_json& facts) {
    for (const auto& limit : facts) {
        fmt::print(
            "  {:<14} {:<12} {}{}\n", limit["name"].get<std::string>(),
            limit["value"].get<std::string>(), limit["meaning"].get<std::string>(),
            limit["will_bite"].get<bool>() ? " - low" : ""
        );
    }
}

ordered_json find_mpi(const dlrt::Settings&) {
    ordered_json found = ordered_json::array();
    for (const dlrt::info::MpiChapter& chapter : dlrt::info::mpi_chapters) {
        found.push_back(
            {{"chapter", chapter.name},
             {"functions", chapter.functions},
             {"is_there", chapter.is_there}}
        );
    }
    return found;
}
void print_mpi(const ordered_json& facts) {
    for (const auto& chapter : facts) {
        fmt::print(
            "  {:<20} {:>4} functions{}\n", chapter["chapter"].get<std::string>(),
            chapter["functions"].get<int>(), chapter["is_there"].get<bool>() ? "" : ", not there"
        );
    }
}

constexpr Section sections[] = {
    {"cpus", find_cpus, print_cpus},
    {"transports", find_transports, print_transports},
    {"copy-table", find_copy_table, print_table},
    {"collective-table", find_collective_table, print_table},
    {"settings", find_settings, print_settings},
    {"limits", find_limits, print_limits},
    {"mpi", find_mpi, print_mpi},
};

int refuse(const std::string& line) {
    fmt::print(stderr, "dlinfo: {}\n", line);
    return 2;
}

}  // namespace

int main(int argc, char** argv) {
    std::set<std::string> wanted;
    bool is_json = false;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--help" || word == "-h") {
            std::fputs(usage, stdout);
            return 0;
        }
        is_json = is_json || word == "--json";
        if (word == "--json") continue;
        bool is_known = false;
        for (const Section& section : sections) is_known = is_known || word == section.name;
        if (!is_known) {
            return refuse("'" + word + "' is no section and no option; dlinfo --help lists them");
        }
        wanted.insert(word);
    }
    const auto settings = dlrt::read_settings(environ, dlrt::environment::all);
    if (!settings) return refuse(dlrt::last_error_text());
    ordered_json all;
    for (const Section& section : sections) {
        if (!wanted.empty() && !wanted.contains(section.name)) continue;
        ordered_json facts = section.find(*settings);
        if (!is_json) {
            fmt::print("{}:\n", section.name);
            section.print(facts);
        }
        all[section.name] = std::move(facts);
    }
    if (is_json) fmt::print("{}\n", all.dump(2));
    return 0;
}
