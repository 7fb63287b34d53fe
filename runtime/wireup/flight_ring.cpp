// SPDX-License-Identifier: Apache-2.0
/// Reading a flight ring that its owner may be writing, and the words for what it says.
#include "runtime/wireup/flight_ring.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace dlrt {
namespace {

/// How a call relates to its peer, which decides the words.
enum class PeerKind : std::uint8_t { none, target, source, both, root };

struct CallWords {
    std::string_view name;
    PeerKind peer = PeerKind::none;
    bool has_size = false;
};

constexpr std::array<CallWords, 48> call_words = {{
    {"none"},
    {"init"},
    {"finalize"},
    {"send", PeerKind::target, true},
    {"ssend", PeerKind::target, true},
    {"recv", PeerKind::source, true},
    {"sendrecv", PeerKind::both, true},
    {"isend", PeerKind::target, true},
    {"issend", PeerKind::target, true},
    {"irecv", PeerKind::source, true},
    {"start"},
    {"wait"},
    {"wait_any"},
    {"wait_some"},
    {"wait_all"},
    {"test"},
    {"probe", PeerKind::source},
    {"iprobe", PeerKind::source},
    {"mprobe", PeerKind::source},
    {"improbe", PeerKind::source},
    {"mrecv", PeerKind::source, true},
    {"imrecv", PeerKind::source, true},
    {"cancel"},
    {"barrier"},
    {"bcast", PeerKind::root, true},
    {"reduce", PeerKind::root, true},
    {"allreduce", PeerKind::none, true},
    {"gather", PeerKind::root, true},
    {"scatter", PeerKind::root, true},
    {"allgather", PeerKind::none, true},
    {"reduce_scatter", PeerKind::none, true},
    {"alltoall", PeerKind::none, true},
    {"scan", PeerKind::none, true},
    {"exscan", PeerKind::none, true},
    {"gatherv", PeerKind::root, true},
    {"scatterv", PeerKind::root, true},
    {"allgatherv", PeerKind::none, true},
    {"reduce_scatterv", PeerKind::none, true},
    {"alltoallv", PeerKind::none, true},
    {"alltoallw", PeerKind::none, true},
    {"neighbor_allgather", PeerKind::none, true},
    {"neighbor_alltoall", PeerKind::none, true},
    {"group_end"},
    {"comm_dup"},
    {"comm_split"},
    {"comm_create"},
    {"comm_free"},
    {"abort"},
}};
static_assert(call_words.size() == static_cast<std::size_t>(Call::abort) + 1);

const CallWords& words_of(Call call) {
    const auto index = static_cast<std::size_t>(call);
    return call_words[index < call_words.size() ? index : 0];
}

/// Acquire: the second look at `stamp` must not come before it. Pairs with the recorder's release
/// store.
template<typename T>
T load(const T& field) {
    return std::atomic_ref<T>(const_cast<T&>(field)).load(std::memory_order_acquire);
}

std::optional<FlightEntry> read_record(const FlightRecord& record, std::uint64_t sequence) {
    const auto stamp = static_cast<std::uint32_t>(sequence + 1);
    if (stamp == 0 || record.stamp.load(std::memory_order_acquire) != stamp) return std::nullopt;
    FlightEntry entry{};
    entry.call = load(record.call);
    entry.state = load(record.state);
    entry.context = load(record.context);
    entry.sequence = sequence;
    entry.arguments_hash = load(record.arguments_hash);
    entry.size_bytes = load(record.size_bytes);
    const FlightPlace place = FlightPlace::of(load(record.place));
    entry.peer = place.peer;
    entry.tag = place.tag;
    if (entry.state == FlightState::waiting) {
        entry.waiting_since_ns = load(record.waiting_since_ns);
    }
    if (record.stamp.load(std::memory_order_relaxed) != stamp) return std::nullopt;
    return entry;
}

std::string duration_text(std::uint64_t duration_ns) {
    const double seconds = static_cast<double>(duration_ns) * 1e-9;
    if (seconds < 1e-3) return fmt::format("{:.0f} us", seconds * 1e6);
    if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1e3);
    if (seconds < 60) return fmt::format("{:.1f} s", seconds);
    const auto whole = static_cast<std::uint64_t>(seconds);
    if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
    return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string peer_text(PeerKind kind, std::int32_t peer) {
    if (kind == PeerKind::none || peer == -1) return "";
    const std::string who = peer == -2 ? "any rank" : fmt::format("rank {}", peer);
    switch (kind) {
        case PeerKind::target:
            return " to " + who;
        case PeerKind::source:
            return " from " + who;
        case PeerKind::both:
            return " with " + who;
        case PeerKind::root:
            return " with root " + who;
        case PeerKind::none:
            break;
    }
    return "";
}

std::string state_text(const FlightEntry& entry, std::uint64_t now_ns) {
    switch (entry.state) {
        case FlightState::entered:
            return "running";
        case FlightState::waiting: {
            const std::uint64_t since = std::min(entry.waiting_since_ns, now_ns);
            return fmt::format("waiting for {}", duration_text(now_ns - since));
        }
        case FlightState::finished:
            return "done";
        case FlightState::failed:
            return "failed, since the ranks disagree";
    }
    return "in an unknown state";
}

}  // namespace

std::string_view call_name(Call call) {
    return words_of(call).name;
}

std::vector<FlightEntry> read_flight_ring(const FlightRing& ring, std::uint32_t count_max) {
    const std::uint64_t next = ring.next_sequence.load(std::memory_order_acquire);
    const std::uint64_t count = std::min<std::uint64_t>({next, flight_record_count, count_max});
    std::vector<FlightEntry> entries;
    entries.reserve(count);
    for (std::uint64_t sequence = next - count; sequence < next; ++sequence) {
        const FlightRecord& record = ring.records[sequence % flight_record_count];
        if (auto entry = read_record(record, sequence)) entries.push_back(*entry);
    }
    return entries;
}

std::string describe(const FlightEntry& entry, std::uint64_t now_ns) {
    const CallWords& words = words_of(entry.call);
    std::string text = fmt::format("{} #{}", words.name, entry.sequence);
    text += peer_text(words.peer, entry.peer);
    const bool is_matched = words.peer != PeerKind::none && words.peer != PeerKind::root;
    if (is_matched && entry.peer != -1) {
        text += entry.tag == -1 ? std::string(", any tag") : fmt::format(", tag {}", entry.tag);
    }
    if (words.has_size) {
        text += fmt::format(", {} byte{}", entry.size_bytes, entry.size_bytes == 1 ? "" : "s");
    }
    // See ContextId: the generation matters to nobody who reads this, and 0.0 is the world.
    const std::uint64_t leader = (entry.context >> 32) & 0xfffff;
    const std::uint64_t number = entry.context & 0xffffffff;
    if (leader != 0 || number != 0) text += fmt::format(", communicator {}.{}", leader, number);
    return text + ": " + state_text(entry, now_ns);
}

}  // namespace dlrt
