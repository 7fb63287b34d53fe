// SPDX-License-Identifier: Apache-2.0
/// pack and unpack: walks the loops of a Layout from any byte of the packed stream.
///
/// One walker serves both directions. It goes down once to the byte where it begins (a division per
/// loop, a binary search per list of blocks), then copies whole nodes without looking at offsets.
#include "runtime/base/check.hpp"
#include "runtime/layout.hpp"
#include "runtime/layout_node.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace dlrt {

namespace {

using Node = Layout::Node;

enum class Direction : std::uint8_t { gather, scatter };

/// Addresses are integers here: with absolute displacements the base is null, and pointer
/// arithmetic on null is undefined.
using Address = std::uintptr_t;

Address moved(Address from, std::uint64_t times, std::int64_t stride_bytes) {
    return from + times * static_cast<Address>(stride_bytes);
}

template<std::size_t size>
void copy_fixed(std::byte* target, const std::byte* source) {
    std::byte unit[size];
    std::memcpy(unit, source, size);
    std::memcpy(target, unit, size);
}

/// memcpy for lengths that are mostly small: at most two overlapping moves up to 16 bytes.
void copy_run(std::byte* target, const std::byte* source, std::size_t length) {
    if (length > 16) {
        std::memcpy(target, source, length);
        return;
    }
    const auto copy_ends = [&]<typename Unit>(Unit head, Unit tail) {
        std::memcpy(&head, source, sizeof head);
        std::memcpy(&tail, source + length - sizeof tail, sizeof tail);
        std::memcpy(target, &head, sizeof head);
        std::memcpy(target + length - sizeof tail, &tail, sizeof tail);
    };
    if (length >= 8) return copy_ends(std::uint64_t{}, std::uint64_t{});
    if (length >= 4) return copy_ends(std::uint32_t{}, std::uint32_t{});
    if (length >= 2) return copy_ends(std::uint16_t{}, std::uint16_t{});
    if (length == 1) *target = *source;
}

template<Direction direction>
class Walker {
  public:
    using Stream = std::conditional_t<direction == Direction::gather, std::byte*, const std::byte*>;

    explicit Walker(Stream stream) : stream_(stream) {}

    /// `length` bytes from `skip` on of `count` times `node`, stride_bytes apart.
    void copy_loop(
        const Node& node, std::int64_t stride_bytes, Address at, std::uint64_t skip,
        std::uint64_t length
    ) {
        if (node.is_dense_at(stride_bytes)) return copy_bytes(at + skip, length);
        if (skip != 0) {
            at = moved(at, skip / node.size_bytes, stride_bytes);
            skip %= node.size_bytes;
        }
        if (skip != 0) {
            const std::uint64_t head = std::min(node.size_bytes - skip, length);
            copy_part(node, at, skip, head);
            length -= head;
            at = moved(at, 1, stride_bytes);
        }
        if (length == 0) return;
        const std::uint64_t whole = length / node.size_bytes;
        copy_whole_loop(node, whole, stride_bytes, at);
        const std::uint64_t tail = length % node.size_bytes;
        if (tail != 0) copy_part(node, moved(at, whole, stride_bytes), 0, tail);
    }

  private:
    void copy_bytes(Address at, std::uint64_t length) {
        auto* memory = reinterpret_cast<std::byte*>(at);
        if constexpr (direction == Direction::gather) {
            copy_run(stream_, memory, length);
        } else {
            copy_run(memory, stream_, length);
        }
        stream_ += length;
    }

    /// A piece of one node; not all of it.
    void copy_part(const Node& node, Address at, std::uint64_t skip, std::uint64_t length) {
        switch (node.kind) {
            case Node::Kind::run:
                return copy_bytes(at + skip, length);
            case Node::Kind::strided:
                return copy_loop(*node.child, node.stride_bytes, at, skip, length);
            case Node::Kind::blocks:
            case Node::Kind::parts:
                return copy_part_of_blocks(node, at, skip, length);
        }
    }

    void copy_part_of_blocks(
        const Node& node, Address at, std::uint64_t skip, std::uint64_t length
    ) {
        const auto after = std::upper_bound(
            node.blocks.begin(), node.blocks.end(), skip,
            [](std::uint64_t offset, const Node::Block& block) {
                return offset < block.start_bytes;
            }
        );
        auto block = static_cast<std::size_t>(after - node.blocks.begin()) - 1;
        for (; length != 0; ++block) {
            const Node::Block& here = node.blocks[block];
            const std::uint64_t step = std::min(node.end_of_block(block) - skip, length);
            const Address place = moved(at, 1, here.displacement_bytes);
            if (node.kind == Node::Kind::parts) {
                copy_part(*node.parts[block], place, skip - here.start_bytes, step);
            } else {
                copy_loop(*node.child, node.stride_bytes, place, skip - here.start_bytes, step);
            }
            skip += step;
            length -= step;
        }
    }

    void copy_whole(const Node& node, Address at) {
        switch (node.kind) {
            case Node::Kind::run:
                return copy_bytes(at, node.size_bytes);
            case Node::Kind::strided:
                return copy_whole_loop(*node.child, node.count, node.stride_bytes, at);
            case Node::Kind::blocks:
                return copy_whole_blocks(node, at);
            case Node::Kind::parts:
                for (std::size_t i = 0; i < node.parts.size(); ++i) {
                    copy_whole(*node.parts[i], moved(at, 1, node.blocks[i].displacement_bytes));
                }
                return;
        }
    }

    void copy_whole_blocks(const Node& node, Address at) {
        const bool is_dense = node.child->is_dense_at(node.stride_bytes);
        for (std::size_t i = 0; i < node.blocks.size(); ++i) {
            const Node::Block& block = node.blocks[i];
            const std::uint64_t size = node.end_of_block(i) - block.start_bytes;
            const Address place = moved(at, 1, block.displacement_bytes);
            if (is_dense) {
                copy_bytes(place, size);
            } else {
                copy_whole_loop(
                    *node.child, size / node.child->size_bytes, node.stride_bytes, place
                );
            }
        }
    }

    void copy_whole_loop(
        const Node& node, std::uint64_t count, std::int64_t stride_bytes, Address at
    ) {
        if (node.is_run()) {
            switch (node.size_bytes) {
                case 1:
                    return copy_strided<1>(count, stride_bytes, at);
                case 2:
                    return copy_strided<2>(count, stride_bytes, at);
                case 4:
                    return copy_strided<4>(count, stride_bytes, at);
                case 8:
                    return copy_strided<8>(count, stride_bytes, at);
                case 16:
                    return copy_strided<16>(count, stride_bytes, at);
                default:
                    break;
            }
        }
        for (std::uint64_t i = 0; i < count; ++i, at = moved(at, 1, stride_bytes)) {
            copy_whole(node, at);
        }
    }

    template<std::size_t size>
    void copy_strided(std::uint64_t count, std::int64_t stride_bytes, Address at) {
        Stream stream = stream_;
        for (std::uint64_t i = 0; i < count; ++i, at = moved(at, 1, stride_bytes)) {
            auto* memory = reinterpret_cast<std::byte*>(at);
            if constexpr (direction == Direction::gather) {
                copy_fixed<size>(stream, memory);
            } else {
                copy_fixed<size>(memory, stream);
            }
            stream += size;
        }
        stream_ = stream;
    }

    Stream stream_;
};

}  // namespace

/// Lets the walker at the loops of a Layout.
class Packer {
  public:
    template<Direction direction>
    static void run(
        const Layout& layout, Address base, std::uint64_t offset_bytes,
        typename Walker<direction>::Stream stream, std::uint64_t length
    ) {
        if (length == 0) return;
        Walker<direction>(stream).copy_loop(
            *layout.root_, layout.extent_bytes_, moved(base, 1, layout.root_offset_bytes_),
            offset_bytes, length
        );
    }
};

namespace {

[[maybe_unused]] bool is_within(const Layout& layout, std::uint64_t count, std::uint64_t end) {
    return layout.size_bytes() != 0 && (end - 1) / layout.size_bytes() < count;
}

}  // namespace

void pack(
    const Layout& layout, std::uint64_t count, const void* base, std::uint64_t offset_bytes,
    MutableBytes target
) {
    DLRT_ASSERT(target.empty() || is_within(layout, count, offset_bytes + target.size()));
    Packer::run<Direction::gather>(
        layout, reinterpret_cast<Address>(base), offset_bytes, target.data(), target.size()
    );
}

void unpack(
    const Layout& layout, std::uint64_t count, void* base, std::uint64_t offset_bytes, Bytes source
) {
    DLRT_ASSERT(source.empty() || is_within(layout, count, offset_bytes + source.size()));
    Packer::run<Direction::scatter>(
        layout, reinterpret_cast<Address>(base), offset_bytes, source.data(), source.size()
    );
}

}  // namespace dlrt
