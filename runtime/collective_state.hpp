// SPDX-License-Identifier: Apache-2.0
/// What a communicator keeps between its collective operations, so that a repeated one allocates
/// nothing: schedules, scratch memory, and the runner. One thread at a time, as collectives of one
/// communicator are.
#pragma once

#include "collectives/algorithms.hpp"
#include "runtime/base/bytes.hpp"
#include "runtime/schedule_runner.hpp"

#include <cstdint>
#include <memory>
#include <new>
#include <vector>

namespace dlrt {

/// Memory that grows and stays.
class Arena {
  public:
    /// At least that much, aligned for everything; what it held is lost. Null when there is no more
    /// (or none was asked for).
    [[nodiscard]] std::byte* at_least(std::uint64_t size_bytes);

  private:
    struct Release {
        void operator()(std::byte* memory) const {
            ::operator delete[](memory, std::align_val_t{no_sharing_bytes});
        }
    };
    std::unique_ptr<std::byte[], Release> memory_;
    std::uint64_t size_bytes_ = 0;
};

class CollectiveState {
  public:
    /// The schedule of that shape; built the first time. Valid until the next call.
    [[nodiscard]] const coll::Schedule& schedule(
        const coll::Algorithm& algorithm, const coll::Shape& shape
    );
    [[nodiscard]] Arena& scratch() { return scratch_; }  ///< What schedules ask for.
    [[nodiscard]] Arena& staging() { return staging_; }  ///< Data that can't travel as it lies.
    [[nodiscard]] Arena& reduction_memory() { return reduction_memory_; }
    [[nodiscard]] ScheduleRunner& runner() { return runner_; }
    /// Whether this algorithm was not told of yet for a size of so many bits.
    [[nodiscard]] bool is_news(const coll::Algorithm& algorithm, std::uint64_t size_bytes);

  private:
    struct Told {
        const coll::Algorithm* algorithm = nullptr;
        int size_bits = 0;
        friend bool operator==(const Told&, const Told&) = default;
    };
    struct Known {
        const coll::Algorithm* algorithm = nullptr;
        coll::Schedule schedule;
    };

    std::vector<Known> schedules_;
    std::size_t next_victim_ = 0;
    std::vector<Told> told_;
    Arena scratch_;
    Arena staging_;
    Arena reduction_memory_;
    ScheduleRunner runner_;
};

}  // namespace dlrt
