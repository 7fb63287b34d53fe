// SPDX-License-Identifier: Apache-2.0
#include "transports/shm/copy_table_places.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/base/table_file.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

namespace dlrt::shm {
namespace {

namespace fs = std::filesystem;

const MeasuredHost here{"This cpu", 4};
constexpr uid_t nobody = 65534;

/// A folder that lives as long as the test case, with a file for each place.
class Places {
  public:
    Places() {
        char name[] = "/tmp/dlrt-places-XXXXXX";
        REQUIRE(::mkdtemp(name) != nullptr);
        REQUIRE(::chmod(name, 0755) == 0);
        folder_ = name;
        paths = {path("named"), path("user"), path("system")};
    }
    Places(const Places&) = delete;
    Places& operator=(const Places&) = delete;
    ~Places() { fs::remove_all(folder_); }

    [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }
    [[nodiscard]] CopyTableChoice choose() {
        return choose_copy_table(paths, [this]() -> Result<MeasuredHost> {
            ++host_look_count;
            return here;
        });
    }

    TablePlaces paths;
    int host_look_count = 0;

  private:
    std::string folder_;
};

/// A table that no other test case writes, by its fragments.
CopyTable table_of(std::uint32_t fragment_bytes, const MeasuredHost& host = here) {
    CopyTable table = builtin_copy_table();
    table.rows.resize(1);
    table.rows[0].fragment_bytes = fragment_bytes;
    table.measured_on = host;
    return table;
}

void put(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

std::string text_in(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<PlaceState> states(const CopyTableChoice& choice) {
    std::vector<PlaceState> found;
    for (const PlaceReport& place : choice.places) found.push_back(place.state);
    return found;
}

std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) {
        names.push_back(entry.path().filename());
    }
    return names;
}

/// Why the user's place is passed over with this in it.
std::string reason_of(const std::string& text) {
    Places places;
    places.paths.named.clear();
    put(places.paths.user, text);
    const CopyTableChoice choice = places.choose();
    CHECK(states(choice)[1] == PlaceState::damaged);
    CHECK(choice.table == builtin_copy_table());
    return choice.places[1].reason;
}

}  // namespace

TEST_CASE("copy table: the user's place follows the two variables", "[transports]") {
    CHECK(user_table_path("/c", "/h", copy_table_file_name) == "/c/dlrt/copy_table.json");
    CHECK(user_table_path("/c", nullptr, copy_table_file_name) == "/c/dlrt/copy_table.json");
    CHECK(
        user_table_path(nullptr, "/h", copy_table_file_name) == "/h/.config/dlrt/copy_table.json"
    );
    CHECK(user_table_path("", "/h", copy_table_file_name) == "/h/.config/dlrt/copy_table.json");
    CHECK(user_table_path(nullptr, nullptr, copy_table_file_name).empty());
    CHECK(user_table_path("c", "/h", copy_table_file_name).empty());
    CHECK(user_table_path(nullptr, "h", copy_table_file_name).empty());
    CHECK(user_table_path(nullptr, "", copy_table_file_name).empty());
}

TEST_CASE("copy table: the first usable one of four places is in force", "[transports]") {
    using enum PlaceState;
    Places places;
    for (const auto& [path, fragment_bytes] :
         {std::pair(places.paths.named, 1024u), std::pair(places.paths.user, 2048u),
          std::pair(places.paths.system, 4096u)}) {
        put(path, copy_table_text(table_of(fragment_bytes)));
    }
    CopyTableChoice choice = places.choose();
    CHECK(choice.table == table_of(1024));
    CHECK(states(choice) == std::vector{in_force, not_reached, not_reached, not_reached});
    places.paths.named.clear();
    choice = places.choose();
    CHECK(choice.table == table_of(2048));
    CHECK(states(choice) == std::vector{none, in_force, not_reached, not_reached});
    fs::remove(places.paths.user);
    choice = places.choose();
    CHECK(choice.table == table_of(4096));
    CHECK(states(choice) == std::vector{none, absent, in_force, not_reached});
    fs::remove(places.paths.system);
    places.paths.user.clear();
    choice = places.choose();
    CHECK(choice.table == builtin_copy_table());
    CHECK(states(choice) == std::vector{none, none, absent, in_force});
    CHECK(choice.places[2].reason.empty());
}

TEST_CASE("copy table: the host is looked at once, and only for a whole table", "[transports]") {
    Places places;
    places.paths.named.clear();
    const Status before = fail(Errc::argument, "what failed before");
    CHECK(before.code == Errc::argument);
    CHECK(places.choose().table == builtin_copy_table());
    CHECK(places.host_look_count == 0);
    CHECK(last_error_text() == "what failed before");
    put(places.paths.user, "{");
    CHECK(places.choose().table == builtin_copy_table());
    CHECK(places.host_look_count == 0);
    put(places.paths.user, copy_table_text(table_of(1024, {"This cpu", 8})));
    put(places.paths.system, copy_table_text(table_of(1024, {"Another cpu", 4})));
    CHECK(places.choose().table == builtin_copy_table());
    CHECK(places.host_look_count == 1);
}

TEST_CASE("copy table: one measured on another host is foreign", "[transports]") {
    using enum PlaceState;
    Places places;
    places.paths.named.clear();
    put(places.paths.user, copy_table_text(table_of(1024, {"This cpu", 8})));
    put(places.paths.system, copy_table_text(table_of(1024, {"Another cpu", 4})));
    const CopyTableChoice choice = places.choose();
    CHECK(states(choice) == std::vector{none, foreign, foreign, in_force});
    CHECK(
        choice.places[1].reason ==
        "measured on a host with 8 cpus 'This cpu'; this one has 4 cpus 'This cpu'"
    );
    CHECK(
        choice.places[2].reason ==
        "measured on a host with 4 cpus 'Another cpu'; this one has 4 cpus 'This cpu'"
    );
    places.paths.named = places.paths.user;
    const CopyTableChoice named = places.choose();
    CHECK_FALSE(named.table.has_value());
    CHECK(states(named) == std::vector{foreign, not_reached, not_reached, not_reached});
}

TEST_CASE("copy table: a damaged one is passed over with its reason", "[transports]") {
    CHECK(reason_of("") == "the file is empty");
    CHECK(reason_of("{\"rows\"") == "line 1: not JSON");
    CHECK(
        reason_of(std::string(2 << 20, ' ')) == "is larger than 1048576 bytes, which no table is"
    );
    CHECK(reason_of("{\"rows\": []}").starts_with("field 'measured_on' is missing"));
}

TEST_CASE("copy table: the named one must be there and whole", "[transports]") {
    using enum PlaceState;
    Places places;
    put(places.paths.user, copy_table_text(table_of(2048)));
    CopyTableChoice choice = places.choose();
    CHECK_FALSE(choice.table.has_value());
    CHECK(states(choice) == std::vector{absent, not_reached, not_reached, not_reached});
    CHECK(choice.places[0].reason == "cannot be opened: No such file or directory");
    put(places.paths.named, "{");
    choice = places.choose();
    CHECK_FALSE(choice.table.has_value());
    CHECK(states(choice) == std::vector{damaged, not_reached, not_reached, not_reached});
    CHECK(choice.places[0].reason == "line 1: not JSON");
}

TEST_CASE("copy table: what is no plain file is said, and opens at once", "[transports]") {
    using enum PlaceState;
    Places places;
    places.paths.named.clear();
    fs::create_directory(places.paths.user);
    REQUIRE(::mkfifo(places.paths.system.c_str(), 0666) == 0);
    CopyTableChoice choice = places.choose();
    CHECK(states(choice) == std::vector{none, damaged, damaged, in_force});
    CHECK(choice.places[1].reason == "is a folder");
    CHECK(choice.places[2].reason == "is not a plain file");
    fs::remove(places.paths.system);
    fs::create_symlink(places.paths.system, places.paths.system);
    choice = places.choose();
    CHECK(states(choice) == std::vector{none, damaged, damaged, in_force});
    CHECK(choice.places[2].reason == "cannot be opened: Too many levels of symbolic links");
    // A file where a folder should be.
    put(places.path("file"), "");
    places.paths.system = places.path("file") + "/copy_table.json";
    CHECK(states(places.choose())[2] == absent);
}

TEST_CASE(
    "copy table: an unreadable file is damaged, one in a closed folder absent", "[transports]"
) {
    using enum PlaceState;
    Places places;
    places.paths.named.clear();
    put(places.paths.user, copy_table_text(table_of(1024)));
    REQUIRE(::chmod(places.paths.user.c_str(), 0) == 0);
    fs::create_directory(places.path("closed"));
    places.paths.system = places.path("closed") + "/copy_table.json";
    put(places.paths.system, copy_table_text(table_of(1024)));
    REQUIRE(::chmod(places.path("closed").c_str(), 0) == 0);
    // Root may read everything.
    const bool is_root = ::geteuid() == 0;
    if (is_root) REQUIRE(::seteuid(nobody) == 0);
    const CopyTableChoice choice = places.choose();
    if (is_root) REQUIRE(::seteuid(0) == 0);
    REQUIRE(::chmod(places.path("closed").c_str(), 0755) == 0);
    CHECK(states(choice) == std::vector{none, damaged, absent, in_force});
    CHECK(choice.places[1].reason == "cannot be opened: Permission denied");
}

TEST_CASE("copy table: a host that can't be told makes no table usable", "[transports]") {
    Places places;
    put(places.paths.named, copy_table_text(table_of(1024)));
    const CopyTableChoice choice = choose_copy_table(places.paths, []() -> Result<MeasuredHost> {
        return fail(Errc::unsupported, "no cpu model");
    });
    CHECK_FALSE(choice.table.has_value());
    CHECK(choice.places[0].reason == "no cpu model");
}

TEST_CASE("copy table: the cpu model is what the kernel says of the cpus", "[transports]") {
    CHECK(
        cpu_model_in("processor\t: 0\nmodel\t\t: 1\nmodel name\t: A cpu @ 2 GHz\nflags\t: a\n"
                     "\nprocessor\t: 1\nmodel name\t: B\n") == "A cpu @ 2 GHz"
    );
    const std::string big = "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n\n";
    const std::string little = "CPU implementer\t: 0x41\nCPU part\t: 0xd0\n\n";
    CHECK(cpu_model_in("processor\t: 0\n" + big + big) == "implementer 0x41 part 0xd0c");
    CHECK(
        cpu_model_in(big + little + big) ==
        "implementer 0x41 part 0xd0, implementer 0x41 part 0xd0c"
    );
    CHECK(cpu_model_in("processor: 0\nCPU part: 0xd0c\n").empty());
    CHECK(cpu_model_in("model name\t:\n").empty());
    CHECK(cpu_model_in("model name: a\tb\xff\n") == "a?b?");
    CHECK(cpu_model_in("").empty());
    const Result<MeasuredHost> host = find_measured_host();
    REQUIRE(host.has_value());
    CHECK(host->online_cpus >= 1);
    CHECK_FALSE(host->cpu_model.empty());
}

TEST_CASE("copy table: a write replaces the whole file and leaves nothing beside", "[transports]") {
    const Places places;
    const std::string folder = places.path("folder");
    fs::create_directory(folder);
    const std::string path = folder + "/table.json";
    put(path, "what was there before, longer or shorter");
    struct stat before {};
    REQUIRE(::stat(path.c_str(), &before) == 0);
    REQUIRE(check_table_target(path).ok());
    REQUIRE(write_table_text(path, copy_table_text(table_of(1024))).ok());
    CHECK(text_in(path) == copy_table_text(table_of(1024)));
    CHECK(names_in(folder) == std::vector<std::string>{"table.json"});
    // Another file took the name: whoever had the old one open still reads that.
    struct stat after {};
    REQUIRE(::stat(path.c_str(), &after) == 0);
    CHECK(before.st_ino != after.st_ino);
    fs::create_symlink("table.json", folder + "/link");
    REQUIRE(write_table_text(folder + "/link", copy_table_text(table_of(2048))).ok());
    CHECK(fs::is_symlink(folder + "/link"));
    CHECK(text_in(path) == copy_table_text(table_of(2048)));
}

TEST_CASE("copy table: a write that fails leaves what was there", "[transports]") {
    const Places places;
    fs::create_directory(places.path("folder"));
    const std::string none = places.path("none") + "/table.json";
    CHECK_FALSE(write_table_text(places.path("folder"), copy_table_text(table_of(1024))).ok());
    CHECK(last_error_text() == "'" + places.path("folder") + "' is a folder");
    CHECK_FALSE(check_table_target("/dev/null").ok());
    CHECK_FALSE(write_table_text("/dev/null", copy_table_text(table_of(1024))).ok());
    CHECK(last_error_text() == "'/dev/null' is not a plain file");
    CHECK_FALSE(check_table_target(none).ok());
    CHECK_FALSE(write_table_text(none, copy_table_text(table_of(1024))).ok());
    CHECK(last_error_text() == "'" + none + "' cannot be written: No such file or directory");
    // No room for a byte: what is there stays, and the new one goes.
    const std::string path = places.path("folder") + "/table.json";
    put(path, "before");
    rlimit limit{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &limit) == 0);
    const rlimit small{16, limit.rlim_max};
    const auto old = ::signal(SIGXFSZ, SIG_IGN);
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    const Status status = write_table_text(path, copy_table_text(table_of(1024)));
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
    ::signal(SIGXFSZ, old);
    CHECK(status.os_error == EFBIG);
    CHECK(text_in(path) == "before");
    CHECK(names_in(places.path("folder")) == std::vector<std::string>{"table.json"});
}

}  // namespace dlrt::shm
