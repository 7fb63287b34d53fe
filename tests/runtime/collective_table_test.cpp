// SPDX-License-Identifier: Apache-2.0
#include "runtime/collective_table.hpp"

#include "runtime/base/error_text.hpp"

#include <catch2/catch.hpp>

namespace dlrt {
namespace {

const std::string host = "\"measured_on\": {\"cpu_model\": \"A cpu\", \"online_cpus\": 4}";

std::string with_rule(const std::string& fields) {
    return "{" + host + ", \"rules\": [{" + fields + "}]}";
}

std::string complaint(const std::string& text) {
    INFO(text);
    REQUIRE_FALSE(parse_collective_table(text).has_value());
    return last_error_text();
}

const std::string ring = "\"collective\": \"allreduce\", \"algorithm\": \"ring\"";

}  // namespace

TEST_CASE("collective table: what is written is read again", "[runtime]") {
    CollectiveTable table;
    table.measured_on = MeasuredHost{"A cpu", 4};
    table.rules = {
        {coll::find_algorithm(coll::Collective::allreduce, "ring"), 3, 8, {1024, 65536}},
        {coll::find_algorithm(coll::Collective::bcast, "chain")}};
    const auto read = parse_collective_table(collective_table_text(table));
    REQUIRE(read.has_value());
    CHECK(*read == table);
    const auto empty = parse_collective_table("{" + host + ", \"rules\": []}");
    REQUIRE(empty.has_value());
    CHECK(empty->rules.empty());
}

TEST_CASE("collective table: what is left out has no bounds", "[runtime]") {
    const auto read = parse_collective_table(with_rule(ring));
    REQUIRE(read.has_value());
    CHECK(read->rules[0].ranks_min == 1);
    CHECK(read->rules[0].ranks_max == INT32_MAX);
    CHECK(read->rules[0].sizes == SizeRange{});
}

TEST_CASE("collective table: what is wrong is named by rule and field", "[runtime]") {
    CHECK(complaint("") == "the file is empty");
    CHECK(complaint("{\n,}") == "line 2: not JSON");
    CHECK(complaint("[]") == "must be an object");
    CHECK(complaint("{\"rules\": []}").starts_with("field 'measured_on' is missing"));
    CHECK(complaint("{" + host + "}") == "field 'rules' must be a list of at most 4096 objects");
    CHECK(
        complaint("{\"rulse\": [], " + host + "}") == "unknown field 'rulse'; did you mean rules?"
    );
    CHECK(
        complaint(with_rule("\"collective\": \"alreduce\", \"algorithm\": \"ring\"")) ==
        "rule 1: field 'collective' can't be 'alreduce'; did you mean allreduce?"
    );
    CHECK(
        complaint(with_rule("\"collective\": \"allreduce\", \"algorithm\": \"rinng\"")) ==
        "rule 1: field 'algorithm' can't be 'rinng'; did you mean ring?"
    );
    CHECK(complaint(with_rule("\"algorithm\": 4")) == "rule 1: field 'collective' is missing");
    CHECK(complaint(with_rule(ring + ", \"bytes_max\": 4"))
              .starts_with("rule 1: unknown field 'bytes_max'; "));
    CHECK(
        complaint(with_rule(ring + ", \"ranks_min\": 4, \"ranks_max\": 3")) ==
        "rule 1: field 'ranks_max' must be a whole number, 4 to 2147483647"
    );
    CHECK(complaint(with_rule(ring + ", \"bytes_min\": 4, \"bytes_end\": 4"))
              .starts_with("rule 1: field 'bytes_end' must be a whole number, 5 to "));
    CHECK(complaint(with_rule(ring + ", \"ranks_min\": 0"))
              .starts_with("rule 1: field 'ranks_min' must be a whole number, 1 to "));
}

TEST_CASE("collective table: rules are made for what is clearly better", "[runtime]") {
    const auto* usual = coll::find_algorithm(coll::Collective::bcast, "binomial");
    const auto* chain = coll::find_algorithm(coll::Collective::bcast, "chain");
    std::vector<AlgorithmSample> samples;
    const auto add = [&](std::int32_t ranks, std::uint64_t bytes, double usual_us, double us) {
        samples.push_back({usual, ranks, bytes, usual_us});
        samples.push_back({chain, ranks, bytes, us});
    };
    add(2, 8, 1, 0.95);
    add(2, 64, 10, 9);
    add(2, 512, 10, 5);
    add(2, 4096, 10, 12);
    add(4, 8, 3, 2);
    add(4, 512, 3, 2);
    const std::vector<coll::TunedRule> expected = {{chain, 1, 2, {64, 4096}}, {chain, 3, 4, {}}};
    CHECK(rules_from(samples) == expected);
    CHECK(rules_from({}).empty());
}

}  // namespace dlrt
