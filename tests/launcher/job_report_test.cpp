// SPDX-License-Identifier: Apache-2.0
#include "launcher/job_report.hpp"

#include "launcher/progress.hpp"
#include "runtime/base/error_text.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace dlrt::launcher {
namespace {

using Json = nlohmann::json;

/// A folder for the length of a test.
class Folder {
  public:
    Folder() { REQUIRE(::mkdtemp(path_) != nullptr); }
    ~Folder() {
        ::unlink(file().c_str());
        ::rmdir(path_);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string file() const { return std::string(path_) + "/report"; }
    std::string text() const {
        std::ostringstream all;
        all << std::ifstream(file()).rdbuf();
        return all.str();
    }

  private:
    char path_[40] = "/tmp/dlrt-report-XXXXXX";
};

JobMap map_of_three_ranks() {
    JobMap map;
    map.job_id = "j7";
    map.hosts = {{"h", 4}, {"i", 2}};
    map.ranks = {{0, 0, 0, {0, 1}}, {0, 1, 0, {2}}, {1, 0, 1, {}}};
    return map;
}

Options options_with_report(const std::string& file) {
    Options options;
    options.words = {"-np", "3", "a\xff"};
    options.blocks.resize(1);
    options.blocks[0].arguments = {"a\xff"};
    options.report_file = file;
    return options;
}

}  // namespace

TEST_CASE("job report: says of every rank where it ran and how it ended", "[launcher]") {
    const Folder folder;
    auto report = JobReport::open(options_with_report(folder.file()));
    REQUIRE(report.has_value());
    REQUIRE(report->has_value());
    (*report)->note_job(map_of_three_ranks());
    (*report)->note_started({{100, 101}}, 0);
    RankEnded exited{0, 100, 5 << 8, 1'500'000'000, false};
    // 2001-09-09 01:46:40 UTC is the second 10^9.
    exited.usage = {1'000'000'000'000'000'000, 2048, 250'000, 1'000'000};
    (*report)->note_ended(exited);
    RankEnded crashed{1, 101, 11, 1, true};
    crashed.remark = "likely so";
    crashed.last_calls = {"recv #4: done"};
    crashed.was_told_to_end = true;
    (*report)->note_ended(crashed);
    Cause cause = make_cause(CauseKind::rank_exited, 5);
    cause.host = "h";
    cause.pid = 100;
    REQUIRE((*report)->write(cause).ok());

    const Json json = Json::parse(folder.text());
    CHECK(json["job"] == "j7");
    CHECK(json["command"] == Json({"-np", "3", "a\xef\xbf\xbd"}));
    CHECK(json["exit_status"] == 5);
    CHECK(json["cause"]["kind"] == "rank exited");
    CHECK(json["cause"]["rank"] == 0);
    CHECK(json["cause"]["text"] == "rank 0 (h, pid 100) exited with 5 after 0.0 s");
    CHECK(json["hosts"][0] == Json({{"name", "h"}, {"usable_cpus", 4}, {"ranks", 2}}));
    REQUIRE(json["ranks"].size() == 3);
    const Json& first = json["ranks"][0];
    CHECK(first["cpus"] == Json({0, 1}));
    CHECK(first["started_at"] == "2001-09-09T01:46:40.000000Z");
    CHECK(first["ended_at"] == "2001-09-09T01:46:41.500000Z");
    CHECK(first["seconds"] == 1.5);
    CHECK(first["exit_status"] == 5);
    CHECK(first["signal"].is_null());
    CHECK(first["max_rss_kib"] == 2048);
    CHECK(first["user_seconds"] == 0.25);
    CHECK(first["system_seconds"] == 1.0);
    CHECK(json["ranks"][1]["signal"] == 11);
    CHECK(json["ranks"][1]["exit_status"].is_null());
    CHECK(json["ranks"][1]["finalized"] == false);
    CHECK(json["ranks"][1]["terminated"] == true);
    CHECK(json["ranks"][1]["remark"] == "likely so");
    CHECK(json["ranks"][1]["last_calls"] == Json({"recv #4: done"}));
    CHECK(first["terminated"] == false);
    CHECK(!first.contains("remark"));
    CHECK(json["ranks"][2]["pid"].is_null());
    CHECK(json["ranks"][2]["host"] == "i");
    CHECK(!json["ranks"][2].contains("seconds"));
}

TEST_CASE("job report: a job that never came to be is reported too", "[launcher]") {
    const Folder folder;
    auto report = JobReport::open(options_with_report(folder.file()));
    REQUIRE(report.has_value());
    REQUIRE((*report)->write(make_cause(CauseKind::host_failed, 125, "no")).ok());
    const Json json = Json::parse(folder.text());
    CHECK(json["exit_status"] == 125);
    CHECK(json["cause"] == Json({{"kind", "launcher failed"}, {"text", "no"}}));
    CHECK(json["ranks"].empty());
}

TEST_CASE("job report: a file that can't be written is said at once", "[launcher]") {
    CHECK(!JobReport::open(options_with_report("/no/such/folder/r")));
    CHECK(
        last_error_text() == "--report: cannot write '/no/such/folder/r': No such file or directory"
    );
    CHECK(!JobReport::open(options_with_report("/tmp")));
    auto full = JobReport::open(options_with_report("/dev/full"));
    REQUIRE(full.has_value());
    CHECK(!(*full)->write({}).ok());
    CHECK(last_error_text() == "--report: cannot write '/dev/full': No space left on device");
    const auto none = JobReport::open(Options{});
    REQUIRE(none.has_value());
    CHECK(!none->has_value());
}

TEST_CASE("progress: counts ranks and gives way", "[launcher]") {
    EventLoop loop;
    std::string drawn;
    Progress progress(
        loop, Progress::Form::terminal,
        {[](std::string_view) {}, [&](std::string_view text) { drawn += text; }}
    );
    progress.start(8);
    CHECK(progress.text(std::chrono::seconds(0)) == "0 of 8 ranks started, 0 ended, 0 s");
    progress.note_started(8);
    progress.note_ended();
    CHECK(progress.text(std::chrono::seconds(12)) == "8 of 8 ranks started, 1 ended, 12 s");
    progress.make_way();
    CHECK(drawn.empty());
    progress.stop();
    loop.run();
    CHECK(drawn.empty());
}

}  // namespace dlrt::launcher
