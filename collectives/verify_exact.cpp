// SPDX-License-Identifier: Apache-2.0
/// Values that know all their contributors.
#include "collectives/verify_values.hpp"

namespace dlrt::coll {
namespace {

class ExactValues {
  public:
    using Value = ExpressionId;

    explicit ExactValues(Expressions& expressions) : expressions_(expressions) {}

    [[nodiscard]] Value leaf(std::int32_t rank, std::uint32_t chunk) {
        return expressions_.leaf(rank, chunk);
    }
    [[nodiscard]] std::optional<Value> combine(Value left, Value right) {
        return expressions_.combine(left, right);
    }
    [[nodiscard]] bool holds(Value value, const Content& content) {
        switch (content.kind) {
            case Content::Kind::unspecified:
                return true;
            case Content::Kind::of_rank:
                return value == leaf(content.rank, content.chunk);
            case Content::Kind::of_all:
                return expressions_.chunk_of(value) == content.chunk &&
                       expressions_.contains_all(value);
            case Content::Kind::of_prefix:
                return expressions_.chunk_of(value) == content.chunk &&
                       expressions_.contains_prefix(value, content.rank);
        }
        return false;
    }
    [[nodiscard]] bool is_by_rank(Value value) const { return expressions_.is_by_rank(value); }
    [[nodiscard]] static bool is_same(Value left, Value right) { return left == right; }
    [[nodiscard]] std::string text(Value value) const { return expressions_.text(value); }

  private:
    Expressions& expressions_;
};

}  // namespace

void check_values_exactly(
    const AllSteps& steps, const Execution& execution, Expressions& expressions, Findings& findings
) {
    ExactValues values(expressions);
    ValueCheck(steps, values, findings).run(execution);
}

}  // namespace dlrt::coll
