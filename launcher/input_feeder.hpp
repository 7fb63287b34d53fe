// SPDX-License-Identifier: Apache-2.0
/// Writes forwarded input into the pipes of the ranks that read it: all of it to each of them, as
/// fast as the slowest reads. A rank that closes its input is no longer waited for.
#pragma once

#include "launcher/event_loop.hpp"
#include "runtime/base/fd.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

namespace dlrt::launcher {

class InputFeeder {
  public:
    enum class End : std::uint8_t { open, closed };
    /// So much has been written to all; `closed` once nobody will read more.
    using OnTaken = std::function<void(std::uint64_t size_bytes, End end)>;

    InputFeeder(EventLoop& loop, OnTaken on_taken) : loop_(loop), on_taken_(std::move(on_taken)) {}

    /// Before any input; without a target all of it is refused. What isn't open is no target.
    void add_target(Fd pipe);
    /// Empty: the end of the input.
    void add(std::vector<std::byte> bytes);

  private:
    struct Chunk {
        std::vector<std::byte> bytes;
        std::size_t reader_count = 0;  ///< Targets that don't have all of it.
    };
    struct Target {
        Target(EventLoop& loop, int descriptor) : watch(loop, descriptor) {}
        DescriptorWatch watch;
        std::uint64_t chunk = 0;  ///< The number of the one it is at.
        std::size_t written_of_chunk = 0;
        bool is_waiting = false;
    };

    void write(Target& target);
    void close(Target& target);
    /// Takes off what everybody has.
    void trim();
    void report_end();

    EventLoop& loop_;
    OnTaken on_taken_;
    std::vector<std::unique_ptr<Target>> targets_;
    std::size_t open_count_ = 0;
    std::deque<Chunk> chunks_;
    std::uint64_t first_chunk_ = 0;  ///< The number of the first in chunks_.
    bool has_reported_end_ = false;
};

}  // namespace dlrt::launcher
