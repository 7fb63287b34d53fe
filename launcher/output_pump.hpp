// SPDX-License-Identifier: Apache-2.0
/// Reads what the ranks of a host write and passes whole lines on, no faster than they are taken.
///
/// A rank may have rank_bytes_max on their way, all ranks together host_bytes_max; beyond that
/// their pipes are not read, and they block in write(). Nothing is dropped.
#pragma once

#include "launcher/event_loop.hpp"
#include "launcher/frame.hpp"
#include "launcher/launch_plan.hpp"
#include "launcher/line_assembler.hpp"

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

    struct Handlers {
        std::function<void(std::uint32_t local_rank, StreamKind stream, std::string_view lines)>
            forward;
        /// Whenever all streams have ended.
        std::function<void()> on_all_ended;
    };

    OutputPump(EventLoop& loop, std::vector<RankEnds>& ends, Handlers handlers);

    /// So much of a rank's output has been taken.
    void taken(std::uint32_t local_rank, std::uint64_t size_bytes);
    /// Partial lines of this rank are passed on when it falls silent: it may be a question to the
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
    };

    void add(EventLoop& loop, std::uint32_t local_rank, StreamKind kind, Fd pipe);
    [[nodiscard]] bool may_read(const Stream& stream) const;
    void wait(Stream& stream);
    void read(Stream& stream);
    void forward(Stream& stream, std::string_view lines);
    void end(Stream& stream);
    void arm_prompt_timer();

    Handlers handlers_;
    std::vector<std::unique_ptr<Stream>> streams_;  ///< Two per local rank.
    std::vector<std::size_t> bytes_under_way_;      ///< By local rank.
    std::size_t host_bytes_under_way_ = 0;
    std::size_t open_count_ = 0;
    bool ends_when_empty_ = false;
    Timer prompt_timer_;
    std::int64_t prompt_rank_ = -1;
    std::vector<char> scratch_;
};

}  // namespace dlrt::launcher
