// SPDX-License-Identifier: Apache-2.0
/// Handles of a surface: an index and a generation, so that a freed handle, or any other number, is
/// recognised.
///
/// A live slot has an odd generation and every insert and remove adds one, so no handle is ever
/// valid twice (but for a wrap of 2^31 uses of one slot). Entries never move. Indices below
/// first_index are the surface's own.
///
/// Threads: find() may run beside everything. insert(), remove() and pin() lock only with
/// Sharing::locked. A find() is safe against the removal of *other* entries; pin() copies, and so
/// is safe against that of its own.
#pragma once

#include "runtime/slot_chunks.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

namespace dlrt {

struct Handle {
    std::uint32_t index = 0;
    std::uint32_t generation = 0;
    friend bool operator==(Handle, Handle) = default;
};

enum class Sharing : std::uint8_t { one_thread, locked };

template<typename T>
class HandleTable {
  public:
    explicit HandleTable(std::uint32_t first_index) : first_index_(first_index) {}
    HandleTable(const HandleTable&) = delete;
    HandleTable& operator=(const HandleTable&) = delete;

    /// REQUIRES: no other thread is inside.
    void set_sharing(Sharing sharing) { sharing_ = sharing; }

    /// Empty when there are no more indices (after 4 thousand million live handles).
    [[nodiscard]] std::optional<Handle> insert(T value) {
        const std::unique_lock<std::mutex> guard = lock();
        if (free_head_ == no_slot && !grow()) return std::nullopt;
        const std::uint32_t position = free_head_;
        Slot& slot = *slots_.at(position);
        free_head_ = slot.next_free;
        slot.value = std::move(value);
        const std::uint32_t generation = slot.generation.load(std::memory_order_relaxed) + 1;
        // Pairs with the load in find().
        slot.generation.store(generation, std::memory_order_release);
        ++live_count_;
        return Handle{first_index_ + position, generation};
    }

    /// Null when the handle is not live. The entry stays where it is until it is removed.
    [[nodiscard]] T* find(Handle handle) {
        Slot* slot = slots_.at(handle.index - first_index_);
        if (slot == nullptr) return nullptr;
        const bool is_live = (handle.generation & 1) != 0 &&
                             slot->generation.load(std::memory_order_acquire) == handle.generation;
        return is_live ? &slot->value : nullptr;
    }

    /// A copy of the entry; empty when the handle is not live.
    [[nodiscard]] std::optional<T> pin(Handle handle) {
        const std::unique_lock<std::mutex> guard = lock();
        const T* entry = find(handle);
        return entry != nullptr ? std::optional<T>(*entry) : std::nullopt;
    }

    /// Takes the entry out. Empty when the handle is not live (any more).
    std::optional<T> remove(Handle handle) {
        const std::unique_lock<std::mutex> guard = lock();
        T* entry = find(handle);
        if (entry == nullptr) return std::nullopt;
        std::optional<T> value(std::move(*entry));
        retire(handle.index - first_index_);
        return value;
    }

    [[nodiscard]] std::uint32_t live_count() const { return live_count_; }

    /// REQUIRES: no other thread is inside. `visit` gets each live handle and its entry.
    template<typename Visit>
    void for_each(Visit&& visit) {
        for (std::uint32_t position = 0; position < slots_.count(); ++position) {
            Slot& slot = *slots_.at(position);
            const std::uint32_t generation = slot.generation.load(std::memory_order_relaxed);
            if ((generation & 1) != 0) {
                visit(Handle{first_index_ + position, generation}, slot.value);
            }
        }
    }

    /// Makes all handles stale. REQUIRES: no other thread is inside.
    void clear() {
        for_each([this](Handle handle, T&) { retire(handle.index - first_index_); });
    }

  private:
    struct Slot {
        std::atomic<std::uint32_t> generation{0};
        std::uint32_t next_free = no_slot;
        T value{};
    };
    static constexpr std::uint32_t no_slot = UINT32_MAX;

    [[nodiscard]] std::unique_lock<std::mutex> lock() {
        return sharing_ == Sharing::locked ? std::unique_lock(mutex_)
                                           : std::unique_lock<std::mutex>();
    }

    [[nodiscard]] bool grow() {
        const std::uint32_t first = slots_.count();
        const bool has_grown = slots_.grow([](Slot& slot, std::uint32_t number) {
            slot.next_free = number + 1;
        });
        if (!has_grown) return false;
        slots_.at(slots_.count() - 1)->next_free = no_slot;
        free_head_ = first;
        return true;
    }

    void retire(std::uint32_t position) {
        Slot& slot = *slots_.at(position);
        // Before the value goes: a find() of the stale handle must not see it. Relaxed is enough,
        // since whoever uses a handle while it is freed would need an order of his own.
        const std::uint32_t generation = slot.generation.load(std::memory_order_relaxed);
        slot.generation.store(generation + 1, std::memory_order_relaxed);
        slot.value = T{};
        slot.next_free = free_head_;
        free_head_ = position;
        --live_count_;
    }

    std::uint32_t first_index_;
    Sharing sharing_ = Sharing::one_thread;
    std::uint32_t free_head_ = no_slot;
    std::uint32_t live_count_ = 0;
    std::mutex mutex_;
    SlotChunks<Slot> slots_;
};

}  // namespace dlrt
