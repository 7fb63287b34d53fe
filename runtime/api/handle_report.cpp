// SPDX-License-Identifier: Apache-2.0
#include "runtime/api/handle_report.hpp"

namespace dlrt::api {
namespace {

constexpr std::uint32_t lines_per_kind_max = 10;

std::string describe(const CommunicatorRef& comm) {
    return fmt::format(
        "communicator of {} ranks (context {})", comm->size(),
        static_cast<std::uint64_t>(comm->user_context())
    );
}
std::string describe(const GroupRef& group) {
    return fmt::format("group of {} ranks", group->size());
}
std::string describe(const LayoutRef& layout) {
    return fmt::format("type of {} bytes", layout->size_bytes());
}
std::string describe(const RequestEntry& entry) {
    const char* state = entry.is_active ? "active" : "inactive";
    const char* kind = entry.direction == Direction::send ? "send" : "receive";
    return fmt::format("{} {} request", state, kind);
}
std::string describe(const MessageEntry&) {
    return "matched message, never received";
}

template<typename T>
void describe_table(HandleTable<T>& table, std::vector<std::string>& lines) {
    const std::int32_t rank = Surface::get().world->rank();
    std::uint32_t count = 0;
    std::string last;
    table.for_each([&](Handle, const T& entry) {
        last = describe(entry);
        if (++count > lines_per_kind_max) return;
        lines.push_back(fmt::format("dlrt: rank {}: not freed: {}\n", rank, last));
    });
    if (count <= lines_per_kind_max) return;
    lines.push_back(
        fmt::format("dlrt: rank {}: … and {} more of this kind\n", rank, count - lines_per_kind_max)
    );
}

}  // namespace

std::vector<std::string> describe_leftovers(Surface& surface) {
    std::vector<std::string> lines;
    if (!Core::get()->settings().is_checking) return lines;
    describe_table(surface.communicators, lines);
    describe_table(surface.groups, lines);
    describe_table(surface.types, lines);
    describe_table(surface.requests, lines);
    describe_table(surface.messages, lines);
    return lines;
}

}  // namespace dlrt::api
