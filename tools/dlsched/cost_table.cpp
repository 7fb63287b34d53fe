// SPDX-License-Identifier: Apache-2.0
#include "tools/dlsched/cost_table.hpp"

#include "runtime/base/error_text.hpp"
#include "runtime/base/nearest_name.hpp"
#include "runtime/base/table_reader.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace dlrt::sched {
namespace {

constexpr double value_max = 1e12;
constexpr std::uint32_t cores_max = 1'000'000;

struct Field {
    std::string_view name;
    double coll::Machine::*value;
};
constexpr std::array fields = {
    Field{"latency_ns", &coll::Machine::latency_ns},
    Field{"overhead_ns", &coll::Machine::overhead_ns},
    Field{"gap_ns_per_byte", &coll::Machine::gap_ns_per_byte},
    Field{"reduce_ns_per_byte", &coll::Machine::reduce_ns_per_byte},
    Field{"copy_ns_per_byte", &coll::Machine::copy_ns_per_byte},
    Field{"switch_ns", &coll::Machine::switch_ns},
    Field{"between_latency_ns", &coll::Machine::between_latency_ns},
    Field{"between_overhead_ns", &coll::Machine::between_overhead_ns},
    Field{"between_gap_ns_per_byte", &coll::Machine::between_gap_ns_per_byte},
};
constexpr std::string_view cores_name = "cores";

Status take(coll::Machine& machine, const std::string& name, const TableJson& value) {
    if (name == cores_name) {
        if (!value.is_number_unsigned() || value.get<std::uint64_t>() > cores_max) {
            return fail(
                Errc::argument, "field '{}' must be a whole number, 0 (one for each rank) to {}",
                name, cores_max
            );
        }
        machine.cores = value.get<std::uint32_t>();
        return {};
    }
    const auto* const field = std::ranges::find(fields, name, &Field::name);
    if (field == fields.end()) {
        std::vector<std::string_view> names{cores_name};
        for (const Field& known : fields) names.push_back(known.name);
        return fail(
            Errc::argument, "unknown field '{}'; {}", shown_word(name), did_you_mean(name, names)
        );
    }
    const double number = value.is_number() ? value.get<double>() : -1;
    if (number < 0 || number > value_max) {
        return fail(Errc::argument, "field '{}' must be a number, 0 to {:g}", name, value_max);
    }
    machine.*(field->value) = number;
    return {};
}

std::string size_text(std::uint64_t bytes) {
    constexpr std::uint64_t unit = 1024;
    std::string_view letters = " kmg";
    while (bytes >= unit && bytes % unit == 0 && letters.size() > 1) {
        bytes /= unit;
        letters.remove_prefix(1);
    }
    return letters.front() == ' ' ? fmt::format("{}", bytes)
                                  : fmt::format("{}{}", bytes, letters.front());
}

}  // namespace

Result<coll::Machine> parse_machine(std::string_view text) {
    const Result<TableJson> all = parse_table(text);
    if (!all) return all.error();
    if (!all->is_object()) return fail(Errc::argument, "must be an object");
    coll::Machine machine;
    for (const auto& [name, value] : all->items()) {
        if (const Status status = take(machine, name, value); !status.ok()) return status;
    }
    return machine;
}

std::string cost_text(const CostTable& table) {
    constexpr double ns_per_us = 1000;
    const std::string_view collective = name_of(table.rows.front().algorithm->collective);
    std::string text = fmt::format(
        "{} on {} ranks, predicted microseconds by bytes; * is what dlrt takes\n{:<22}", collective,
        table.ranks, ""
    );
    for (const std::uint64_t bytes : table.sizes_bytes)
        text += fmt::format(" {:>12} ", size_text(bytes));
    text += "\n";
    for (const CostTable::Row& row : table.rows) {
        text += fmt::format("{:<22}", row.algorithm->name);
        for (std::size_t i = 0; i < row.times_ns.size(); ++i) {
            text += fmt::format(
                " {:>12.2f}{}", row.times_ns[i] / ns_per_us,
                row.algorithm == table.chosen[i] ? "*" : " "
            );
        }
        text += "\n";
    }
    return text;
}

}  // namespace dlrt::sched
