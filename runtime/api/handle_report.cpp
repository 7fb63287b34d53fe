// SPDX-License-Identifier: Apache-2.0
#include "runtime/api/handle_report.hpp"

#include "runtime/base/config.hpp"
#include "runtime/heap.hpp"

#include <algorithm>

namespace dlrt::api {
namespace {

constexpr std::size_t lines_per_kind_max = 10;

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
std::string describe(const UserOpRef& op) {
    return op->is_commutative ? "commutative reduction" : "reduction that does not commute";
}
std::string describe(const Request& request) {
    const char* state = request.is_started ? "active" : "inactive";
    const char* kind = request.kind == RequestKind::receive ? "receive"
                       : request.kind == RequestKind::task  ? "collective"
                                                            : "send";
    return fmt::format("{} {} request", state, kind);
}
std::string describe(const MessageEntry&) {
    return "matched message, never received";
}

/// Adds the lines for the handles of one kind.
void add_lines(const std::vector<std::string>& handles, std::vector<std::string>& lines) {
    const std::int32_t rank = Surface::get().world->rank();
    const std::size_t told = std::min(handles.size(), lines_per_kind_max);
    for (std::size_t i = 0; i < told; ++i) {
        lines.push_back(fmt::format("dlrt: rank {}: not freed: {}\n", rank, handles[i]));
    }
    if (told == handles.size()) return;
    lines.push_back(
        fmt::format("dlrt: rank {}: … and {} more of this kind\n", rank, handles.size() - told)
    );
}

template<typename T>
void describe_table(HandleTable<T>& table, std::vector<std::string>& lines) {
    std::vector<std::string> handles;
    table.for_each([&](Handle, const T& entry) { handles.push_back(describe(entry)); });
    add_lines(handles, lines);
}

void describe_requests(const RequestPool& requests, std::vector<std::string>& lines) {
    std::vector<std::string> handles;
    requests.for_each([&](const Request& request) {
        if (request.has_handle) handles.push_back(describe(request));
    });
    add_lines(handles, lines);
}

void describe_heap(std::vector<std::string>& lines) {
    const Heap::Use use = Core::get()->heap().use();
    if (use.block_count == 0) return;
    lines.push_back(fmt::format(
        "dlrt: rank {}: not freed: {} block{} of dlrt_alloc, {} bytes together\n",
        Surface::get().world->rank(), use.block_count, use.block_count == 1 ? "" : "s",
        use.size_bytes
    ));
}

}  // namespace

std::vector<std::string> describe_leftovers(Surface& surface) {
    std::vector<std::string> lines;
    if (!Core::get()->settings().is_checking) return lines;
    describe_table(surface.communicators, lines);
    describe_table(surface.groups, lines);
    describe_table(surface.types, lines);
    describe_table(surface.ops, lines);
    describe_requests(*surface.requests, lines);
    describe_table(surface.messages, lines);
    describe_heap(lines);
    return lines;
}

}  // namespace dlrt::api
