// SPDX-License-Identifier: Apache-2.0
/// Envelopes come in chunks, payload blocks in powers of two; both go back to free lists.
#include "runtime/message_store.hpp"

#include <bit>
#include <cstring>
#include <new>

namespace dlrt {
namespace {

constexpr std::uint64_t kept_bytes_max = 4u << 20;

/// At least 32 bytes, which a RemoteMemory and a free list's link fit in.
unsigned class_of(std::uint64_t size_bytes) {
    return static_cast<unsigned>(std::bit_width((size_bytes < 32 ? 32 : size_bytes) - 1));
}

}  // namespace

MessageStore::~MessageStore() {
    for (FreeBlock*& list : free_blocks_) {
        while (list != nullptr) {
            void* const block = list;
            list = list->next;
            ::operator delete(block);
        }
    }
    for (auto& chunk : chunks_) {
        for (std::uint32_t i = 0; i < chunk_size; ++i) ::operator delete(chunk[i].block);
    }
}

MatchedMessage& MessageStore::add_eager(const MatchKey& key, Bytes payload) {
    MatchedMessage& message = acquire(key);
    message.size_bytes = payload.size();
    message.sender = no_request;
    if (!payload.empty()) {
        message.block = allocate(payload.size());
        std::memcpy(message.block, payload.data(), payload.size());
    }
    return message;
}

MatchedMessage& MessageStore::add_announced(const MatchKey& key, const RtsBody& body) {
    MatchedMessage& message = acquire(key);
    message.size_bytes = body.size_bytes;
    message.sender = body.sender;
    if (body.memory.address != 0) {
        message.block = allocate(sizeof body.memory);
        std::memcpy(message.block, &body.memory, sizeof body.memory);
    }
    return message;
}

void MessageStore::release(MatchedMessage& message) {
    if (message.block != nullptr) {
        give_back(
            message.block, message.is_announced() ? sizeof(RemoteMemory) : message.size_bytes
        );
        message.block = nullptr;
    }
    used_bytes_ -= sizeof message;
    message.next = free_messages_;
    free_messages_ = &message;
}

MatchedMessage& MessageStore::acquire(const MatchKey& key) {
    if (free_messages_ == nullptr) {
        chunks_.push_back(std::make_unique<MatchedMessage[]>(chunk_size));
        for (std::uint32_t i = chunk_size; i-- > 0;) {
            chunks_.back()[i].next = free_messages_;
            free_messages_ = &chunks_.back()[i];
        }
    }
    auto& message = *static_cast<MatchedMessage*>(free_messages_);
    free_messages_ = message.next;
    message.key = key;
    used_bytes_ += sizeof message;
    return message;
}

std::byte* MessageStore::allocate(std::uint64_t size_bytes) {
    const unsigned size_class = class_of(size_bytes);
    used_bytes_ += std::uint64_t{1} << size_class;
    if (FreeBlock* const block = free_blocks_[size_class]; block != nullptr) {
        free_blocks_[size_class] = block->next;
        kept_bytes_ -= std::uint64_t{1} << size_class;
        return reinterpret_cast<std::byte*>(block);
    }
    return static_cast<std::byte*>(::operator new (std::size_t{1} << size_class));
}

void MessageStore::give_back(std::byte* block, std::uint64_t size_bytes) {
    const unsigned size_class = class_of(size_bytes);
    const std::uint64_t block_bytes = std::uint64_t{1} << size_class;
    used_bytes_ -= block_bytes;
    if (kept_bytes_ + block_bytes > kept_bytes_max) {
        ::operator delete(block);
        return;
    }
    kept_bytes_ += block_bytes;
    free_blocks_[size_class] = new (block) FreeBlock{free_blocks_[size_class]};
}

}  // namespace dlrt
