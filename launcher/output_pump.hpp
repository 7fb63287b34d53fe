// SPDX-License-Identifier: Apache-2.0
/// Reads what the ranks of a host write and passes whole lines on, no faster than they are taken.
///
/// A rank may have rank_bytes_max on their way, all ranks together host_bytes_max; beyond that
/// their pipes are not read, and they block in write(). Nothing is dropped. A rank is read from
/// begin() on, so that its pid is known with its first line.
///
/// Who writes little but often is read every rest_time only: waking up for each of its lines would
/// take the cpu from the ranks.
#pragma once

#include "launcher/event_loop.hpp"
#include "launcher/frame.hpp"
#include "launcher/launch_plan.hpp"
#include "launcher/line_assembler.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace dlrt::launcher {

class OutputPump {
  public:
    static constexpr std::size_t rank_bytes_max = 256 * 1024;
    static constexpr std::size_t host_bytes_max = 1024 * 1024;

    /// Also while lines come in parts, no more than this is kept of unfinished lines of all ranks.
    static constexpr std::size_t unfinished_bytes_max = 8 * 1024 * 1024;

    static constexpr std::chrono::duration<std::uint64_t, std::micro> rest_time{1000};

    struct Lines {
        std::uint32_t local_rank = 0;
        StreamKind stream = StreamKind::out;
        std::int32_t pid = 0;
        std::uint64_t time_us = 0;  ///< Since 1970, when the last of them was read.
        std::string_view bytes;
    };
    struct Handlers {
        std::function<void(const Lines& lines)> forward;
        /// Whenever all streams have ended.
        std::function<void()> on_all_ended;
    };

    OutputPump(EventLoop& loop, std::vector<RankEnds>& ends, Handlers handlers);

    /// How many times taken() is called for each line of this rank; 1 unless set.
    void set_taker_count(std::uint32_t local_rank, std::size_t count);
    /// The rank runs.
    void begin(std::uint32_t local_rank, std::int32_t pid);
    /// So much of a rank's output has been taken.
    void taken(std::uint32_t local_rank, std::uint64_t size_bytes);
    /// Partial lines of this rank are passed on when it falls silent: they may be questions to the
    /// user.
    void pass_on_prompts_of(std::uint32_t local_rank);
    /// Nobody who should write is left: streams end as soon as they are empty.
    void end_when_empty();
    void close_all();
    [[nodiscard]] bool has_ended() const { return open_count_ == 0; }
    /// Pipes that have not ended, by their inode numbers.
    [[nodiscard]] std::vector<ino_t> open_pipes() const;

  private:
    struct Stream {
        Stream(EventLoop& loop, int descriptor) : watch(loop, descriptor) {}
        DescriptorWatch watch;
        LineAssembler lines;
        std::uint32_t local_rank = 0;
        StreamKind kind = StreamKind::out;
        ino_t pipe = 0;
        bool is_waiting = false;
        bool is_flowing = false;  ///< Little comes often: read every rest_time, and not watched.
        bool is_resting = false;
        std::uint64_t read_us = 0;  ///< When bytes came last.
    };

    struct Rank {
        std::vector<Stream*> streams;
        std::int32_t pid = 0;
        bool has_begun = false;
        bool passes_prompts = false;
        std::size_t taker_count = 1;
        std::size_t under_way_bytes = 0;  ///< Once for each taker.
    };

    void add(EventLoop& loop, std::uint32_t local_rank, StreamKind kind, Fd pipe);
    [[nodiscard]] bool may_read(const Stream& stream) const;
    void wait(Stream& stream);
    void read(Stream& stream);
    void take(Stream& stream, std::string_view bytes);
    void rest(Stream& stream);
    void forward(Stream& stream, std::string_view lines);
    void note_open_line(Stream& stream);
    void end(Stream& stream);
    void arm_prompt_timer();

    Handlers handlers_;
    std::vector<std::unique_ptr<Stream>> streams_;  ///< One or two per local rank.
    std::vector<Rank> ranks_;                       ///< By local rank.
    std::size_t host_bytes_under_way_ = 0;
    std::size_t unfinished_bytes_ = 0;
    /// Streams within a line whose beginning has been passed on, oldest first. All others may have
    /// to wait for the first one, so it may be read even when they use up what the host may have.
    std::vector<Stream*> open_lines_;
    std::size_t open_count_ = 0;
    bool ends_when_empty_ = false;
    Timer prompt_timer_;
    Timer rest_timer_;
    bool is_rest_timer_set_ = false;
    std::vector<char> scratch_;
};

}  // namespace dlrt::launcher
