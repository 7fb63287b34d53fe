// SPDX-License-Identifier: Apache-2.0
#include "transports/loopback/loopback.hpp"

#include "runtime/base/check.hpp"

#include <array>
#include <cstring>

namespace dlrt::loopback {
namespace {

constexpr std::uint32_t eager_bytes_max = 8 * 1024;
constexpr std::uint32_t fragment_bytes_max = 64 * 1024;
/// What may wait at once: so many messages, together so many bytes.
constexpr std::uint32_t message_count_max = 256;
constexpr std::uint64_t buffer_bytes = 512 * 1024;

/// Messages lie in a ring of bytes, each contiguous, in the order of their posts.
class LoopbackEndpoint final : public Endpoint {
  public:
    LoopbackEndpoint() {
        capabilities_.eager_bytes_max = eager_bytes_max;
        capabilities_.fragment_bytes_max = fragment_bytes_max;
        capabilities_.can_get = true;
    }

    [[nodiscard]] std::string_view name() const override { return "loopback"; }
    [[nodiscard]] const Capabilities& capabilities() const override { return capabilities_; }

    [[nodiscard]] Post post_eager(PeerIndex peer, MessageHeader header, Bytes payload) override {
        DLRT_ASSERT(peer == PeerIndex{0});
        DLRT_ASSERT(payload.size() <= eager_bytes_max);
        return post(header, payload);
    }
    [[nodiscard]] Post post_fragment(
        PeerIndex peer, MessageHeader header, Bytes payload, OperationId
    ) override {
        DLRT_ASSERT(peer == PeerIndex{0});
        DLRT_ASSERT(payload.size() <= fragment_bytes_max);
        return post(header, payload);
    }
    [[nodiscard]] RemoteMemory describe(Bytes memory) override {
        return {.address = reinterpret_cast<std::uintptr_t>(memory.data()), .key = 0};
    }
    [[nodiscard]] Post post_get(PeerIndex, RemoteMemory source, MutableBytes target, OperationId)
        override {
        if (!target.empty()) {
            const auto address = static_cast<std::uintptr_t>(source.address);
            std::memmove(target.data(), reinterpret_cast<const void*>(address), target.size());
        }
        return Post::done;
    }

    [[nodiscard]] bool can_load(PeerIndex, const RemoteMemory&, std::uint64_t) override {
        return true;
    }

    [[nodiscard]] std::size_t poll(std::span<Arrival> out) override {
        released_ = taken_;
        std::size_t count = 0;
        for (; count < out.size() && taken_ != posted_; ++count, ++taken_) {
            const Entry& entry = entries_[taken_ % message_count_max];
            const Bytes payload(buffer_.get() + entry.begin % buffer_bytes, entry.size);
            out[count] = {PeerIndex{0}, entry.header, payload};
        }
        return count;
    }
    [[nodiscard]] std::size_t poll_completions(std::span<Completion>) override { return 0; }
    [[nodiscard]] bool has_work() override { return taken_ != posted_; }
    [[nodiscard]] LargeProtocol choose_large(PeerIndex, std::uint64_t, Traffic) const override {
        return LargeProtocol::rendezvous_read;
    }
    [[nodiscard]] std::uint32_t fragment_bytes(std::uint64_t) const override {
        return fragment_bytes_max;
    }

  private:
    struct Entry {
        MessageHeader header;
        std::uint64_t begin = 0;  ///< Counts bytes since the beginning.
        std::uint64_t size = 0;
    };

    [[nodiscard]] Post post(MessageHeader header, Bytes payload) {
        if (posted_ - released_ == message_count_max) return Post::busy;
        if (buffer_ == nullptr) buffer_ = std::make_unique_for_overwrite<std::byte[]>(buffer_bytes);
        std::uint64_t begin = end_;
        const std::uint64_t to_end = buffer_bytes - begin % buffer_bytes;
        if (payload.size() > to_end) begin += to_end;
        const std::uint64_t oldest = released_ != posted_
                                         ? entries_[released_ % message_count_max].begin
                                         : begin;
        if (begin + payload.size() - oldest > buffer_bytes) return Post::busy;
        if (!payload.empty()) {
            std::memcpy(buffer_.get() + begin % buffer_bytes, payload.data(), payload.size());
        }
        entries_[posted_ % message_count_max] = {header, begin, payload.size()};
        end_ = begin + payload.size();
        ++posted_;
        return Post::done;
    }

    Capabilities capabilities_;
    std::array<Entry, message_count_max> entries_{};
    std::unique_ptr<std::byte[]> buffer_;  ///< Made by the first message.
    std::uint64_t posted_ = 0;
    std::uint64_t taken_ = 0;     ///< Handed out by poll().
    std::uint64_t released_ = 0;  ///< Handed out and given back.
    std::uint64_t end_ = 0;
};

}  // namespace

std::unique_ptr<Endpoint> open_endpoint() {
    return std::make_unique<LoopbackEndpoint>();
}

}  // namespace dlrt::loopback
