// SPDX-License-Identifier: Apache-2.0
/// Counts the memory of tensors by what they are for: now, at its highest, and over one step.
/// What is counted is what the tensors' allocator hands out. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <vector>

namespace train {

enum class Use : std::uint8_t {
    weights,
    gradients,
    optimizer_state,
    activations,
    activation_gradients,
};
inline constexpr std::array<std::string_view, 5> use_names{
    "weights", "gradients", "optimizer state", "activations", "activation gradients"};

/// Bytes for each use.
using Sizes = std::array<std::size_t, use_names.size()>;

class MemoryMeter {
  public:
    /// What there was after one allocation or release.
    struct Sample {
        std::string_view phase;
        Sizes sizes_bytes;
    };

    void add(Use use, std::size_t size_bytes) {
        std::size_t& now = now_[static_cast<std::size_t>(use)];
        std::size_t& peak = peak_[static_cast<std::size_t>(use)];
        now += size_bytes;
        if (now > peak) peak = now;
        sample();
    }
    void remove(Use use, std::size_t size_bytes) {
        now_[static_cast<std::size_t>(use)] -= size_bytes;
        sample();
    }

    [[nodiscard]] const Sizes& now_bytes() const { return now_; }
    /// The highest of each use, which need not have been at the same time.
    [[nodiscard]] const Sizes& peak_bytes() const { return peak_; }

    /// From here on every change is a sample, until stop().
    void record() {
        is_recording_ = true;
        samples_.clear();
    }
    /// A phase lasts until the next one; `name` must outlive the meter.
    void begin_phase(std::string_view name) {
        phase_ = name;
        sample();
    }
    void stop() { is_recording_ = false; }
    [[nodiscard]] const std::vector<Sample>& samples() const { return samples_; }

  private:
    void sample() {
        if (is_recording_) samples_.push_back({phase_, now_});
    }

    Sizes now_{};
    Sizes peak_{};
    bool is_recording_ = false;
    std::string_view phase_;
    std::vector<Sample> samples_;
};

/// An allocator that tells a meter. The meter must outlive what is allocated.
template<typename T>
class MeteredAllocator {
  public:
    using value_type = T;
    using propagate_on_container_move_assignment = std::true_type;
    using propagate_on_container_swap = std::true_type;

    MeteredAllocator(MemoryMeter& meter, Use use) : meter_(&meter), use_(use) {}

    T* allocate(std::size_t count) {
        T* const memory = std::allocator<T>().allocate(count);
        meter_->add(use_, count * sizeof(T));
        return memory;
    }
    void deallocate(T* memory, std::size_t count) {
        std::allocator<T>().deallocate(memory, count);
        meter_->remove(use_, count * sizeof(T));
    }
    friend bool operator==(const MeteredAllocator& a, const MeteredAllocator& b) {
        return a.meter_ == b.meter_ && a.use_ == b.use_;
    }

  private:
    MemoryMeter* meter_;
    Use use_;
};

}  // namespace train
