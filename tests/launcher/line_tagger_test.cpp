// SPDX-License-Identifier: Apache-2.0
#include "launcher/line_tagger.hpp"

#include <catch2/catch.hpp>

namespace dlrt::launcher {
namespace {

JobMap two_hosts() {
    JobMap map;
    map.job_id = "ab12";
    map.hosts = {{"h1", 1}, {"h2", 1}};
    map.ranks = {{0, 0, 0, {}}, {1, 0, 0, {}}, {1, 1, 1, {}}};
    return map;
}

// date -u -d '2026-01-31 09:05:07' +%s
constexpr std::uint64_t time_us = 1'769'850'307'000'123;

}  // namespace

TEST_CASE("line tagger: without a format nothing is added", "[launcher]") {
    LineTagger none;
    CHECK(none.prefix_of({0, StreamKind::out, 1, time_us}).empty());
}

TEST_CASE("line tagger: facts come from the job's map and the bytes' origin", "[launcher]") {
    const JobMap map = two_hosts();
    LineTagger tagger(map, *LineFormat::parse("%h.%r.%R.%b.%s.%p.%j "), Timestamps::off);
    CHECK(tagger.prefix_of({2, StreamKind::err, 77, time_us}) == "h2.2.1.1.err.77.ab12 ");
    CHECK(tagger.prefix_of({2, StreamKind::out, 77, time_us}) == "h2.2.1.1.out.77.ab12 ");
    CHECK(tagger.prefix_of({0, StreamKind::out, 78, time_us}) == "h1.0.0.0.out.78.ab12 ");
}

TEST_CASE("line tagger: times are UTC with microseconds, before the tag", "[launcher]") {
    const JobMap map = two_hosts();
    CHECK(timestamp_text(time_us) == "2026-01-31T09:05:07.000123Z");
    CHECK(timestamp_text(0) == "1970-01-01T00:00:00.000000Z");
    LineTagger times(map, {}, Timestamps::on);
    CHECK(times.prefix_of({0, StreamKind::out, 1, time_us}) == "2026-01-31T09:05:07.000123Z ");
    LineTagger both(map, *LineFormat::parse("[%r] "), Timestamps::on);
    CHECK(
        both.prefix_of({1, StreamKind::out, 1, time_us + 999'876}) ==
        "2026-01-31T09:05:07.999999Z [1] "
    );
    CHECK(
        both.prefix_of({1, StreamKind::out, 1, time_us + 999'877}) ==
        "2026-01-31T09:05:08.000000Z [1] "
    );
}

}  // namespace dlrt::launcher
