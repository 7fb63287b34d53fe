// SPDX-License-Identifier: Apache-2.0
#include "launcher/rank_programs.hpp"

#include "launcher/rank_set.hpp"
#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace dlrt::launcher {
namespace {

RankSet ranks_of_block(const JobMap& map, std::uint32_t block_index) {
    std::vector<RankSet::Range> ranges;
    for (std::uint32_t rank = 0; rank < map.size(); ++rank) {
        if (map.ranks[rank].block_index == block_index) ranges.push_back({rank, rank});
    }
    return RankSet(std::move(ranges));
}

Status check_ranks(const Wrap& wrap, const RankSet& valid, std::string_view program) {
    if (wrap.ranks.is_empty()) return {};
    for (std::uint32_t rank = 0; rank <= valid.last(); ++rank) {
        if (!wrap.ranks.contains(rank) || valid.contains(rank)) continue;
        return fail(
            Errc::argument, "--wrap: rank {} does not run '{}'; valid are {}", rank, program,
            valid.text()
        );
    }
    if (wrap.ranks.last() <= valid.last()) return {};
    return fail(
        Errc::argument, "--wrap: rank {} does not run '{}'; valid are {}", wrap.ranks.last(),
        program, valid.text()
    );
}

/// Which of the block's wraps are around a rank, by their place.
std::vector<std::size_t> wraps_of_rank(const Block& block, std::uint32_t rank) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < block.wraps.size(); ++i) {
        const RankSet& ranks = block.wraps[i].ranks;
        if (ranks.is_empty() || ranks.contains(rank)) places.push_back(i);
    }
    return places;
}

Program wrapped(const Program& program, const Block& block, std::span<const std::size_t> places) {
    Program result = program;
    result.arguments.clear();
    for (const std::size_t place : places) {
        const std::vector<std::string>& command = block.wraps[place].command;
        result.arguments.insert(result.arguments.end(), command.begin(), command.end());
    }
    result.arguments.insert(
        result.arguments.end(), program.arguments.begin(), program.arguments.end()
    );
    return result;
}

}  // namespace

Result<RankPrograms> wrap_programs(
    std::span<const Block> blocks, const std::vector<Program>& of_blocks, const JobMap& map
) {
    for (std::uint32_t i = 0; i < blocks.size(); ++i) {
        if (blocks[i].wraps.empty()) continue;
        const RankSet valid = ranks_of_block(map, i);
        for (const Wrap& wrap : blocks[i].wraps) {
            const Status status = check_ranks(wrap, valid, blocks[i].arguments[0]);
            if (!status.ok()) return status;
        }
    }
    RankPrograms result;
    std::map<std::pair<std::uint32_t, std::vector<std::size_t>>, std::uint32_t> known;
    for (std::uint32_t rank = 0; rank < map.size(); ++rank) {
        const std::uint32_t block = map.ranks[rank].block_index;
        std::vector<std::size_t> places = wraps_of_rank(blocks[block], rank);
        const auto next = static_cast<std::uint32_t>(result.programs.size());
        const auto [found, is_new] = known.try_emplace({block, places}, next);
        if (is_new) result.programs.push_back(wrapped(of_blocks[block], blocks[block], places));
        result.program_of_rank.push_back(found->second);
    }
    return result;
}

std::vector<std::string> program_lines(const JobMap& map, const StartJob& start) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<RankSet::Range>> ranks;
    for (std::uint32_t rank = 0; rank < map.size(); ++rank) {
        ranks[{map.ranks[rank].host_index, start.program_of_rank[rank]}].push_back({rank, rank});
    }
    std::vector<std::string> lines;
    for (const auto& [place, ranges] : ranks) {
        lines.push_back(fmt::format(
            "rank{} {} on {}: {}", ranges.size() == 1 ? "" : "s", RankSet(ranges).text(),
            map.hosts[place.first].name, command_text(start.programs[place.second].arguments)
        ));
    }
    return lines;
}

std::string command_text(std::span<const std::string> arguments) {
    constexpr std::string_view
        plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%^";
    std::string text;
    for (const std::string& argument : arguments) {
        if (!text.empty()) text += ' ';
        if (!argument.empty() && argument.find_first_not_of(plain) == std::string::npos) {
            text += argument;
            continue;
        }
        text += '\'';
        for (const char letter : argument)
            text += letter == '\'' ? "'\\''" : std::string(1, letter);
        text += '\'';
    }
    return text;
}

}  // namespace dlrt::launcher
