// SPDX-License-Identifier: Apache-2.0
#include "launcher/rank_programs.hpp"

#include "launcher/rank_set.hpp"
#include "runtime/base/error_text.hpp"

#include <algorithm>
#include <map>
#include <utility>

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

}  // namespace dlrt::launcher
