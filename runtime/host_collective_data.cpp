// SPDX-License-Identifier: Apache-2.0
/// What the steps write into cells, and what they take out of them.
#include "runtime/host_collective.hpp"

#include <cstring>

namespace dlrt {
namespace {

void copy_bytes(std::byte* target, const std::byte* source, std::uint64_t bytes) {
    if (bytes > 0 && target != source) std::memcpy(target, source, bytes);
}

}  // namespace

const std::byte* HostCollective::own_data() const {
    if (call().input != nullptr || call().output == nullptr) return call().input;
    const bool is_own_block = call().collective == coll::Collective::gather ||
                              call().collective == coll::Collective::allgather;
    return is_own_block ? call().output + rank_ * call().block_distance_bytes() : call().output;
}

void HostCollective::write() {
    line(rank_).call = described_;
    const std::uint64_t distance_bytes = call().block_distance_bytes();
    if (call().size_bytes == distance_bytes) {
        copy_bytes(data_of(rank_), own_data(), plan_->cell_bytes);
    } else {
        // Of each block a piece.
        const std::byte* source = own_data();
        for (std::uint64_t done = 0; done < plan_->cell_bytes; done += call().size_bytes) {
            copy_bytes(data_of(rank_) + done, source, call().size_bytes);
            source += distance_bytes;
        }
    }
    // The root reads no cell.
    if (call().collective != coll::Collective::scatter) return;
    if (call().placement == coll::Placement::in_place) return;
    copy_bytes(call().output, call().input + rank_ * distance_bytes, call().size_bytes);
}

bool HostCollective::arrive() {
    const std::uint64_t slot = count_ % cell_line_depth;
    // Everybody's cells are seen by who is last.
    return area_.head().arrivals[slot].count.fetch_add(1, std::memory_order_acq_rel) + 1 ==
           arrivals_[slot];
}

Status HostCollective::check_cell(std::uint32_t member) {
    const CellCall& found = line(member).call;
    return found == described_ ? Status{} : dispute(member);
}

Status HostCollective::combine() {
    const auto all = static_cast<std::uint32_t>(size_);
    for (std::uint32_t member = 0; member < all; ++member) {
        if (const Status status = check_cell(member); !status.ok()) return status;
    }
    fold_cells(all, 0, result_data());
    return {};
}

/// Of the ranks before `end`, in their order: what lies in their cells from that place on.
void HostCollective::fold_cells(std::uint32_t end, std::uint64_t offset_bytes, std::byte* target)
    const {
    if (call().size_bytes == 0 || end == 0) return;
    // Whoever only collects has written no cell.
    const bool has_cell = call().collective != coll::Collective::reduce;
    const auto operand = [&](std::uint32_t member) {
        return member == rank_ && !has_cell ? own_data() : data_of(member) + offset_bytes;
    };
    if (end == 1) return copy_bytes(target, operand(0), call().size_bytes);
    reduce(operand(0), operand(1), target);
    for (std::uint32_t member = 2; member < end; ++member) reduce(target, operand(member), target);
}

/// At the root of a reduce, all others have come.
void HostCollective::fold_at_root() const {
    // The first steps would overwrite what this rank has in its output. Nobody uses the result's
    // cell of this operation.
    const bool is_in_the_way = rank_ >= 2 && own_data() == call().output;
    std::byte* const target = is_in_the_way ? result_data() : call().output;
    fold_cells(static_cast<std::uint32_t>(size_), 0, target);
    copy_bytes(call().output, target, call().size_bytes);
}

void HostCollective::copy_cells(std::uint64_t offset_bytes) const {
    for (std::uint32_t member = 0; member < local_ranks_.size(); ++member) {
        std::byte* const target = call().output + member * call().block_distance_bytes();
        if (member != rank_ || call().collective == coll::Collective::alltoall) {
            copy_bytes(target, data_of(member) + offset_bytes, call().size_bytes);
        } else {
            copy_bytes(target, own_data(), call().size_bytes);
        }
    }
}

Status HostCollective::take_cells() {
    for (std::uint32_t member = 0; member < local_ranks_.size(); ++member) {
        if (member == rank_) continue;
        if (const Status status = check_cell(member); !status.ok()) return status;
    }
    const auto all = static_cast<std::uint32_t>(size_);
    switch (call().collective) {
        case coll::Collective::reduce:
            fold_at_root();
            return {};
        case coll::Collective::gather:
        case coll::Collective::allgather:
            copy_cells(0);
            return {};
        case coll::Collective::alltoall:
            copy_cells(rank_ * call().size_bytes);
            return {};
        case coll::Collective::reduce_scatter:
            fold_cells(all, rank_ * call().size_bytes, call().output);
            return {};
        case coll::Collective::allreduce:
        case coll::Collective::barrier:
            fold_cells(all, 0, call().output);
            return {};
        case coll::Collective::scan:
        case coll::Collective::exscan:
        case coll::Collective::bcast:
        case coll::Collective::scatter:
        case coll::Collective::neighbor_allgather:
        case coll::Collective::neighbor_alltoall:
            break;
    }
    return {};
}

Status HostCollective::take_root_cell() {
    const auto root = static_cast<std::uint32_t>(call().root);
    if (const Status status = check_cell(root); !status.ok()) return status;
    const std::uint64_t offset = call().collective == coll::Collective::scatter
                                     ? rank_ * call().size_bytes
                                     : 0;
    copy_bytes(call().output, data_of(root) + offset, call().size_bytes);
    return {};
}

Status HostCollective::extend_lower_cell() {
    if (const Status status = check_cell(rank_ - 1); !status.ok()) return status;
    line(rank_).call = described_;
    if (call().size_bytes > 0) reduce(data_of(rank_ - 1), own_data(), data_of(rank_));
    return {};
}

Status HostCollective::take_own_prefix() {
    const bool is_last = rank_ == static_cast<std::uint32_t>(size_) - 1;
    if (is_last) {
        if (const Status status = check_cell(rank_ - 1); !status.ok()) return status;
    }
    if (call().size_bytes == 0) return {};
    if (call().collective == coll::Collective::exscan) {
        // The first rank's is undefined.
        if (rank_ > 0) copy_bytes(call().output, data_of(rank_ - 1), call().size_bytes);
    } else if (is_last) {
        reduce(data_of(rank_ - 1), own_data(), call().output);
    } else {
        copy_bytes(call().output, data_of(rank_), call().size_bytes);
    }
    return {};
}

Status HostCollective::take_result() {
    copy_bytes(call().output, result_data(), call().size_bytes);
    return {};
}

}  // namespace dlrt
