// SPDX-License-Identifier: Apache-2.0
/// Folding ranks in pairs until a wanted count is left: ranks 0 and 1, 2 and 3, … become one each;
/// the others stay alone. Who stays has a number; numbers are in the order of ranks. Pure.
///
///   6 ranks to 4:   numbers 0 1 2 3 are ranks 1 3 4 5, and stand for 01 23 4 5
#pragma once

#include <cstdint>

namespace dlrt::coll {

class Fold {
  public:
    static constexpr std::int32_t upper_of_pair = -1;

    /// Of a pair the upper one stays, but `kept` does wherever it is.
    /// REQUIRES: size / 2 <= count <= size.
    Fold(std::int32_t size, std::int32_t count, std::int32_t kept = upper_of_pair)
        : count_(count), pairs_(size - count), kept_(kept) {}
    [[nodiscard]] static Fold to_power_of_two(
        std::int32_t size, std::int32_t kept = upper_of_pair
    ) {
        std::int32_t power = 1;
        while (power * 2 <= size) power *= 2;
        return {size, power, kept};
    }

    [[nodiscard]] std::int32_t count() const { return count_; }
    [[nodiscard]] bool is_paired(std::int32_t rank) const { return rank < 2 * pairs_; }
    /// REQUIRES: is_paired(rank).
    [[nodiscard]] static std::int32_t partner_of(std::int32_t rank) { return rank ^ 1; }
    /// Whether its partner stands for it.
    [[nodiscard]] bool is_out(std::int32_t rank) const { return rank_of(number_of(rank)) != rank; }
    [[nodiscard]] std::int32_t number_of(std::int32_t rank) const {
        return is_paired(rank) ? rank / 2 : rank - pairs_;
    }
    [[nodiscard]] std::int32_t rank_of(std::int32_t number) const {
        if (number >= pairs_) return number + pairs_;
        return kept_ == 2 * number ? kept_ : 2 * number + 1;
    }
    /// The first rank that the number stands for; of count() the size.
    [[nodiscard]] std::int32_t first_rank(std::int32_t number) const {
        return number < pairs_ ? 2 * number : number + pairs_;
    }

  private:
    std::int32_t count_;
    std::int32_t pairs_;
    std::int32_t kept_;
};

}  // namespace dlrt::coll
