// SPDX-License-Identifier: Apache-2.0
#include "launcher/line_tagger.hpp"

#include <ctime>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

constexpr std::uint64_t us_per_second = 1'000'000;

std::string text_of_second(std::uint64_t second) {
    const auto time = static_cast<std::time_t>(second);
    std::tm parts = {};
    ::gmtime_r(&time, &parts);
    return fmt::format(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1,
        parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec
    );
}

}  // namespace

LineTagger::LineTagger(const JobMap& map, LineFormat format, Timestamps timestamps)
    : map_(&map), format_(std::move(format)), timestamps_(timestamps) {
    if (!format_.is_empty()) tags_.resize(map.ranks.size() * 2);
}

std::string_view LineTagger::prefix_of(const LineOrigin& origin) {
    if (timestamps_ == Timestamps::off) {
        return format_.is_empty() ? std::string_view() : tag_of(origin);
    }
    add_time(origin.time_us);
    if (!format_.is_empty()) prefix_ += tag_of(origin);
    return prefix_;
}

void LineTagger::add_time(std::uint64_t time_us) {
    const std::uint64_t second = time_us / us_per_second;
    if (second != second_) {
        second_ = second;
        second_text_ = text_of_second(second);
    }
    prefix_ = fmt::format("{}.{:06}Z ", second_text_, time_us % us_per_second);
}

const std::string& LineTagger::tag_of(const LineOrigin& origin) {
    std::string& tag = tags_.at(
        std::size_t{origin.rank} * 2 + (origin.stream == StreamKind::err ? 1 : 0)
    );
    if (!tag.empty()) return tag;
    const RankEntry& rank = map_->ranks.at(origin.rank);
    tag = format_.expand(
        {origin.rank, rank.local_rank, map_->hosts.at(rank.host_index).name, origin.pid,
         origin.stream, rank.block_index, map_->job_id}
    );
    return tag;
}

std::string timestamp_text(std::uint64_t time_us) {
    return fmt::format(
        "{}.{:06}Z", text_of_second(time_us / us_per_second), time_us % us_per_second
    );
}

}  // namespace dlrt::launcher
