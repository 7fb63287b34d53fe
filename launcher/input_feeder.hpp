// SPDX-License-Identifier: Apache-2.0
/// Writes forwarded input into the pipe of the rank that reads it, as fast as it is read there.
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
    /// So much has been written; `closed` once nobody will read more.
    using OnTaken = std::function<void(std::uint64_t size_bytes, End end)>;

    InputFeeder(EventLoop& loop, OnTaken on_taken) : loop_(loop), on_taken_(std::move(on_taken)) {}

    /// Without a target all input is refused.
    void set_target(Fd pipe);
    /// Empty: the end of the input.
    void add(std::vector<std::byte> bytes);

  private:
    void write();

    EventLoop& loop_;
    OnTaken on_taken_;
    std::unique_ptr<DescriptorWatch> target_;
    std::deque<std::vector<std::byte>> queue_;
    std::size_t written_of_first_ = 0;
    bool is_waiting_ = false;
};

}  // namespace dlrt::launcher
