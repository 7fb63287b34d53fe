// SPDX-License-Identifier: Apache-2.0
/// Measures which way large messages should go: forks processes that play the three kinds of
/// traffic by every way and every size of fragment, as the engine would.
#include "runtime/base/clock.hpp"
#include "runtime/base/cpu_pause.hpp"
#include "runtime/base/error_text.hpp"
#include "runtime/base/stream_copy.hpp"
#include "transports/shm/area.hpp"
#include "transports/shm/copy_table.hpp"
#include "transports/shm/shm.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <memory>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace dlrt::shm {
namespace {

constexpr std::array<std::uint32_t, 4> fragments = {8192, 16384, 32768, 65536};
constexpr std::size_t read_way = fragments.size();  ///< Ways: stream by each fragment, then read.
constexpr std::size_t way_count = fragments.size() + 1;
constexpr std::uint32_t ranks_max = 16;
constexpr unsigned time_limit_s = 120;
/// Bytes that one measurement moves at least.
constexpr std::uint64_t round_bytes_min = 4 * 1024 * 1024;

std::vector<int> usable_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    std::vector<int> cpus;
    ::sched_getaffinity(0, sizeof set, &set);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    }
    return cpus;
}

/// What the processes share beside the transport's area.
struct Board {
    std::atomic<std::uint64_t> arrived;
    std::atomic<std::uint32_t> is_read_refused;
    double best_ns[way_count];  ///< Written by rank 0.
};

/// One anonymous mapping: board, doorbells, area.
class Shared {
  public:
    explicit Shared(std::uint32_t size)
        : size_(size), bytes_(area_begin() + area_size_bytes(size)) {
        void* mapped = ::mmap(
            nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1,
            0
        );
        base_ = mapped == MAP_FAILED ? nullptr : static_cast<std::byte*>(mapped);
    }
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;
    ~Shared() {
        if (base_ != nullptr) ::munmap(base_, bytes_);
    }
    [[nodiscard]] bool is_mapped() const { return base_ != nullptr; }
    [[nodiscard]] Board& board() const { return *reinterpret_cast<Board*>(base_); }
    [[nodiscard]] Options options(std::uint32_t rank) const {
        Options out;
        out.area = {base_ + area_begin(), area_size_bytes(size_)};
        out.local_rank = rank;
        out.local_size = size_;
        out.doorbells = reinterpret_cast<Doorbell*>(base_ + 4096);
        out.write_doorbell_descriptor = [](std::uint32_t) {};
        return out;
    }
    [[nodiscard]] std::uint32_t size() const { return size_; }

  private:
    [[nodiscard]] static std::uint64_t area_begin() { return 4096 + 4096; }
    static_assert(ranks_max * sizeof(Doorbell) <= 4096 && sizeof(Board) <= 4096);

    std::uint32_t size_;
    std::uint64_t bytes_;
    std::byte* base_ = nullptr;
};

/// One process: sends and receives messages the way that the engine does.
class Player {
  public:
    enum class Waiting : std::uint8_t { spins, yields };

    Player(const Shared& shared, std::uint32_t rank, std::uint64_t size_bytes_max, Waiting waiting)
        : endpoint_(*open_endpoint(shared.options(rank))),
          peer_(PeerIndex{rank ^ 1}),
          waiting_(waiting),
          outgoing_(size_bytes_max, std::byte{1}),
          incoming_(size_bytes_max) {}

    void choose(std::size_t way, std::uint64_t size_bytes) {
        way_ = way;
        size_bytes_ = size_bytes;
    }
    [[nodiscard]] bool is_read_refused() const { return is_read_refused_; }
    void send() {
        ++started_;
        control(Kind::offer, reinterpret_cast<std::uintptr_t>(outgoing_.data()));
    }
    void wait_sent() {
        while (sent_ < started_) make_progress();
    }
    void wait_received() {
        ++wanted_;
        while (received_ < wanted_) make_progress();
    }

  private:
    enum class Kind : std::uint64_t { offer, wanted, piece, finished };

    void control(Kind kind, std::uint64_t value) {
        queued_.push_back({static_cast<std::uint64_t>(kind), value});
        flush();
    }
    void flush() {
        while (!queued_.empty()) {
            if (endpoint_->post_eager(peer_, queued_.front(), {}) != Post::done) return;
            queued_.erase(queued_.begin());
        }
    }
    void stream() {
        while (is_streaming_) {
            const std::uint64_t size = std::min<std::uint64_t>(fragments[way_], size_bytes_ - out_);
            const MessageHeader header{static_cast<std::uint64_t>(Kind::piece), out_};
            const Bytes piece(outgoing_.data() + out_, size);
            if (endpoint_->post_fragment(peer_, header, piece, {}) != Post::done) return;
            out_ += size;
            is_streaming_ = out_ < size_bytes_;
            if (!is_streaming_) ++sent_;
        }
    }
    void take(const Arrival& arrival) {
        switch (static_cast<Kind>(arrival.header.first)) {
            case Kind::offer:
                if (way_ != read_way) return control(Kind::wanted, 0);
                is_read_refused_ = endpoint_->post_get(
                                       peer_, {arrival.header.second, 0},
                                       {incoming_.data(), size_bytes_}, {}
                                   ) != Post::done;
                ++received_;
                return control(Kind::finished, 0);
            case Kind::wanted:
                is_streaming_ = true;
                out_ = 0;
                return;
            case Kind::finished:
                ++sent_;
                return;
            case Kind::piece:
                plain_copy(
                    incoming_.data() + arrival.header.second, arrival.payload.data(),
                    arrival.payload.size()
                );
                in_ += arrival.payload.size();
                if (in_ < size_bytes_) return;
                in_ = 0;
                ++received_;
                return;
        }
    }
    void make_progress() {
        std::array<Arrival, 4> arrivals;
        const std::size_t count = endpoint_->poll(arrivals);
        for (std::size_t i = 0; i < count; ++i) take(arrivals[i]);
        flush();
        stream();
        if (count != 0) return;
        if (waiting_ == Waiting::yields) {
            ::sched_yield();
        } else {
            cpu_pause();
        }
    }

    std::unique_ptr<Endpoint> endpoint_;
    PeerIndex peer_;
    Waiting waiting_;
    std::vector<std::byte> outgoing_;
    std::vector<std::byte> incoming_;
    std::size_t way_ = 0;
    std::uint64_t size_bytes_ = 0;
    std::vector<MessageHeader> queued_;
    bool is_streaming_ = false;
    bool is_read_refused_ = false;
    std::uint64_t out_ = 0;
    std::uint64_t in_ = 0;
    std::uint64_t started_ = 0;
    std::uint64_t sent_ = 0;
    std::uint64_t wanted_ = 0;
    std::uint64_t received_ = 0;
};

/// A kind of traffic and the processes that play it.
struct Scene {
    bool is_exchange = false;
    std::uint32_t ranks = 2;
};

void meet(Board& board, std::uint32_t ranks) {
    const std::uint64_t turn = board.arrived.fetch_add(1, std::memory_order_acq_rel) / ranks;
    while (board.arrived.load(std::memory_order_acquire) < (turn + 1) * ranks) ::sched_yield();
}

void play_round(Player& player, const Scene& scene, bool is_even, std::uint64_t messages) {
    for (std::uint64_t i = 0; i < messages; ++i) {
        if (scene.is_exchange) {
            player.send();
            player.wait_received();
            player.wait_sent();
        } else if (is_even) {
            player.send();
            player.wait_received();
        } else {
            player.wait_received();
            player.send();
        }
    }
    player.wait_sent();
}

void run_rank(
    const Shared& shared, std::uint32_t rank, const Scene& scene, std::uint64_t size_bytes,
    std::uint32_t rounds
) {
    ::alarm(time_limit_s);
    const std::vector<int> cpus = usable_cpus();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(cpus[rank % cpus.size()]), &one);
    ::sched_setaffinity(0, sizeof one, &one);
    const auto waiting = shared.size() > cpus.size() ? Player::Waiting::yields
                                                     : Player::Waiting::spins;
    Player player(shared, rank, size_bytes, waiting);
    Board& board = shared.board();
    const std::uint64_t messages = std::max<std::uint64_t>(round_bytes_min / size_bytes, 2);
    for (std::size_t way = 0; way < way_count; ++way) {
        double best_ns = 1e18;
        player.choose(way, size_bytes);
        for (std::uint32_t round = 0; round < rounds; ++round) {
            meet(board, shared.size());
            const std::uint64_t begin_ns = monotonic_ns();
            play_round(player, scene, rank % 2 == 0, messages);
            meet(board, shared.size());
            const auto took_ns = static_cast<double>(monotonic_ns() - begin_ns);
            best_ns = std::min(best_ns, took_ns / static_cast<double>(messages));
        }
        if (player.is_read_refused()) board.is_read_refused.store(1, std::memory_order_relaxed);
        if (rank == 0) board.best_ns[way] = best_ns;
    }
    meet(board, shared.size());
}

/// Best time by way; the reading one is infinite where it is refused.
Result<std::array<double, way_count>> measure(
    const Scene& scene, std::uint64_t size_bytes, std::uint32_t rounds
) {
    const Shared shared(scene.ranks);
    if (!shared.is_mapped()) return fail_errno(errno, "map memory to measure with");
    std::vector<pid_t> children;
    Status status;
    for (std::uint32_t rank = 0; rank < scene.ranks; ++rank) {
        const pid_t child = ::fork();
        if (child == 0) {
            run_rank(shared, rank, scene, size_bytes, rounds);
            std::_Exit(0);
        }
        if (child < 0) {
            status = fail_errno(errno, "fork a process to measure with");
            for (const pid_t other : children) ::kill(other, SIGKILL);
            break;
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int ended = 0;
        ::waitpid(child, &ended, 0);
        if (status.ok() && (!WIFEXITED(ended) || WEXITSTATUS(ended) != 0)) {
            status = fail(Errc::timeout, "a measurement did not end within {} s", time_limit_s);
            for (const pid_t other : children) {
                if (other != child) ::kill(other, SIGKILL);
            }
        }
    }
    if (!status.ok()) return status;
    std::array<double, way_count> best_ns{};
    std::copy_n(shared.board().best_ns, way_count, best_ns.begin());
    if (shared.board().is_read_refused.load(std::memory_order_relaxed) != 0)
        best_ns[read_way] = 1e30;
    return best_ns;
}

LargeProtocol better(const std::array<double, way_count>& best_ns) {
    const double stream_ns = *std::min_element(best_ns.begin(), best_ns.begin() + read_way);
    return best_ns[read_way] < stream_ns ? LargeProtocol::rendezvous_read
                                         : LargeProtocol::rendezvous_stream;
}

}  // namespace

Result<CopyTable> measure_copy_table(const MeasureOptions& options) {
    std::vector<std::uint64_t> sizes = options.sizes_bytes;
    for (std::uint64_t size = 8192; options.sizes_bytes.empty() && size <= 16 << 20; size *= 2) {
        sizes.push_back(size);
    }
    const auto cpus = static_cast<std::uint32_t>(usable_cpus().size());
    // Busy means that no core is left: with few cores, more processes than cores.
    const std::uint32_t many = std::clamp(cpus > 2 ? cpus / 2 * 2 : 4u, 4u, ranks_max);
    const std::array<Scene, 3> scenes = {Scene{false, 2}, Scene{true, 2}, Scene{true, many}};
    CopyTable table;
    for (const std::uint64_t size : sizes) {
        CopyRow row;
        row.size_bytes_min = table.rows.empty() ? 0 : size;
        for (std::size_t i = 0; i < scenes.size(); ++i) {
            const auto best_ns = measure(scenes[i], size, options.rounds);
            if (!best_ns) return best_ns.error();
            LargeProtocol& column = i == 0 ? row.one_way : i == 1 ? row.exchange : row.all_busy;
            column = better(*best_ns);
            if (i != 0) continue;
            const auto streams = best_ns->begin();
            const auto best = std::min_element(streams, streams + read_way) - streams;
            row.fragment_bytes = fragments[static_cast<std::size_t>(best)];
        }
        table.rows.push_back(row);
    }
    return table;
}

}  // namespace dlrt::shm
