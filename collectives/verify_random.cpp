// SPDX-License-Identifier: Apache-2.0
/// Values of a few words whatever the number of ranks: a sum of random contributions that only the
/// right contributors make up, and a hash of the expression. Whether operands meet in the order of
/// ranks is exact.
#include "collectives/verify_values.hpp"

#include <algorithm>
#include <random>

namespace dlrt::coll {
namespace {

/// A bijection that spreads every bit over all of them (the finaliser of SplitMix64).
std::uint64_t mixed(std::uint64_t value) {
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9U;
    value = (value ^ value >> 27) * 0x94d049bb133111ebU;
    return value ^ value >> 31;
}

struct RandomValue {
    std::uint64_t sum = 0;
    std::uint64_t expression = 0;
    std::int32_t lowest = -1, highest = -1;
    bool is_by_rank = true;
    friend bool operator==(const RandomValue&, const RandomValue&) = default;
};

class RandomValues {
  public:
    using Value = RandomValue;

    explicit RandomValues(std::int32_t size) : size_(size) {
        std::random_device source;
        seed_ = std::uint64_t{source()} << 32 | source();
    }

    [[nodiscard]] Value leaf(std::int32_t rank, std::uint32_t chunk) const {
        const std::uint64_t value = contribution(rank, chunk);
        return {value, value, rank, rank, true};
    }
    [[nodiscard]] std::optional<Value> combine(const Value& left, const Value& right) const {
        return Value{
            left.sum + right.sum, mixed(mixed(left.expression ^ seed_) + right.expression),
            std::min(left.lowest, right.lowest), std::max(left.highest, right.highest),
            left.is_by_rank && right.is_by_rank && left.highest < right.lowest};
    }
    [[nodiscard]] bool holds(const Value& value, const Content& content) {
        switch (content.kind) {
            case Content::Kind::unspecified:
                return true;
            case Content::Kind::of_rank:
                return value == leaf(content.rank, content.chunk);
            case Content::Kind::of_all:
                return value.sum == total_of(content.chunk);
            case Content::Kind::of_prefix:
                return value.sum ==
                       prefixes_of(content.chunk)[static_cast<std::size_t>(content.rank)];
        }
        return false;
    }
    [[nodiscard]] static bool is_by_rank(const Value& value) { return value.is_by_rank; }
    [[nodiscard]] static bool is_same(const Value& left, const Value& right) {
        return left.expression == right.expression;
    }
    [[nodiscard]] static std::string text(const Value& value) {
        return fmt::format("a wrong sum over some of ranks {} to {}", value.lowest, value.highest);
    }

  private:
    [[nodiscard]] std::uint64_t contribution(std::int32_t rank, std::uint32_t chunk) const {
        const std::uint64_t name = std::uint64_t{chunk} << 32 | static_cast<std::uint32_t>(rank);
        return mixed(mixed(name ^ seed_) + seed_);
    }

    /// Over ranks 0 .. i.
    const std::vector<std::uint64_t>& prefixes_of(std::uint32_t chunk) {
        const auto [known, is_new] = prefixes_.try_emplace(chunk);
        std::uint64_t sum = 0;
        for (std::int32_t rank = 0; is_new && rank < size_; ++rank)
            known->second.push_back(sum += contribution(rank, chunk));
        return known->second;
    }
    std::uint64_t total_of(std::uint32_t chunk) {
        const auto [known, is_new] = totals_.try_emplace(chunk);
        for (std::int32_t rank = 0; is_new && rank < size_; ++rank)
            known->second += contribution(rank, chunk);
        return known->second;
    }

    std::int32_t size_;
    std::uint64_t seed_ = 0;
    std::unordered_map<std::uint32_t, std::uint64_t> totals_;  ///< By chunk, as are prefixes_.
    std::unordered_map<std::uint32_t, std::vector<std::uint64_t>> prefixes_;
};

}  // namespace

void check_values_at_random(const AllSteps& steps, const Execution& execution, Findings& findings) {
    RandomValues values(static_cast<std::int32_t>(steps.schedules().size()));
    ValueCheck(steps, values, findings).run(execution);
}

}  // namespace dlrt::coll
