// SPDX-License-Identifier: Apache-2.0
/// The part of dlrt.hpp that calls the collectives of dlrt.h: each once for its three forms, with
/// the checks of lengths that C leaves to its caller. Include dlrt.hpp, not this.
// dlrt.hpp includes this file in its right place.
#ifndef DLRT_HPP
#include "dlrt.hpp"
#endif

#ifndef DLRT_COLLECTIVE_FORMS_HPP
#define DLRT_COLLECTIVE_FORMS_HPP

#include "dlrt_reduction.hpp"

namespace dlrt {
inline namespace cpp {

/// One block for each rank or neighbour: counts, and where each begins, in elements; without
/// displacements they lie one after the other. Read during the call only.
struct Blocks {
    std::span<const std::int64_t> counts;
    std::span<const std::int64_t> displacements{};
};
/// The same with a type for each block, and displacements in bytes.
struct TypedBlocks {
    std::span<const std::int64_t> counts;
    std::span<const std::int64_t> displacements_bytes;
    std::span<const dlrt_type> types;
};

/// Of a communicator, whose handle it holds. `function` is that of dlrt.h for one of the forms;
/// those that make a request return it.
class CollectiveForms {
  public:
    [[nodiscard]] int rank() const {
        std::int32_t rank = 0;
        check(dlrt_comm_rank(comm_, &rank));
        return rank;
    }
    [[nodiscard]] int size() const {
        std::int32_t size = 0;
        check(dlrt_comm_size(comm_, &size));
        return size;
    }
    [[nodiscard]] dlrt_comm handle() const { return comm_; }
    [[nodiscard]] bool is_between_groups() const {
        int is_inter = 0;
        check(dlrt_comm_is_inter(comm_, &is_inter));
        return is_inter != 0;
    }
    /// Ranks of the other group.
    [[nodiscard]] int remote_size() const {
        std::int32_t size = 0;
        check(dlrt_comm_remote_size(comm_, &size));
        return size;
    }

  protected:
    explicit CollectiveForms(dlrt_comm comm) : comm_(comm) {}
    ~CollectiveForms() = default;

    template<typename Function, typename... Arguments>
    static auto call(Function function, Arguments... arguments) {
        if constexpr (std::is_invocable_v<Function, Arguments..., dlrt_request*>) {
            Request made;
            check(function(arguments..., made.out()));
            return made;
        } else {
            check(function(arguments...));
        }
    }

    template<typename Function>
    auto do_bcast(Function function, Elements buffer, int root) const {
        return call(function, buffer.address(), buffer.count, buffer.type, root, comm_);
    }
    template<typename Function>
    auto do_reduce(Function function, ConstElements input, Elements output, AnyOp op, int root)
        const {
        const bool is_other = root == root_here;
        if (!is_other && is_root(root)) match(input, input.count, output, output.count);
        const ConstElements own = op.elements(is_other ? output : input);
        return call(
            function, input.data, output.address(), own.count, own.type, op.handle(), root, comm_
        );
    }
    /// allreduce, scan, exscan.
    template<typename Function>
    auto do_reduction(Function function, ConstElements input, Elements output, AnyOp op) const {
        match(input, input.count, output, output.count);
        const ConstElements own = op.elements(input);
        return call(function, own.data, output.address(), own.count, own.type, op.handle(), comm_);
    }
    template<typename Function>
    auto do_in_place(Function function, Elements buffer, AnyOp op) const {
        const Elements own = op.elements(buffer);
        const void* const in_place = DLRT_IN_PLACE;
        return call(function, in_place, own.address(), own.count, own.type, op.handle(), comm_);
    }
    template<typename Function>
    auto do_reduce_scatter(Function function, ConstElements input, Elements output, AnyOp op)
        const {
        match(input, input.count, output, output.count * size());
        const Elements own = op.elements(output);
        return call(function, input.data, own.address(), own.count, own.type, op.handle(), comm_);
    }
    template<typename Function>
    auto do_reduce_scatterv(
        Function function, ConstElements input, Elements output,
        std::span<const std::int64_t> counts, AnyOp op
    ) const {
        const Blocks blocks{counts};
        match(input, end_of(blocks, {size(), "ranks"}), input, input.count);
        match(input, counts[static_cast<std::size_t>(rank())], output, output.count);
        if (op.elements(input).count != input.count) {
            throw std::invalid_argument("dlrt: counts of structs need elements of a Type");
        }
        return call(
            function, input.data, output.address(), counts.data(), op.elements(input).type,
            op.handle(), comm_
        );
    }

    template<typename Function>
    auto do_gather(Function function, ConstElements input, Elements output, int root) const {
        if (root == root_here) {
            const std::int64_t one = share_of(output);
            return call(function, input.data, one, output.type, output.address(), root, comm_);
        }
        if (is_root(root)) match(input, input.count * size(), output, output.count);
        return call(function, input.data, input.count, input.type, output.address(), root, comm_);
    }
    template<typename Function>
    auto do_gatherv(
        Function function, ConstElements input, Elements output, Blocks blocks, int root
    ) const {
        const dlrt_type type = root == root_here ? output.type : input.type;
        if (root == root_here) {
            fit(output, output, blocks, ranks());
        } else if (is_root(root)) {
            fit(input, output, blocks, ranks());
        }
        return call(
            function, input.data, input.count, type, output.address(), blocks.counts.data(),
            start_of(blocks), root, comm_
        );
    }
    template<typename Function>
    auto do_scatter(Function function, ConstElements input, Elements output, int root) const {
        if (root == root_here) {
            const std::int64_t one = share_of(input);
            return call(function, input.data, output.address(), one, input.type, root, comm_);
        }
        if (is_root(root)) match(input, input.count, output, output.count * size());
        return call(function, input.data, output.address(), output.count, output.type, root, comm_);
    }
    template<typename Function>
    auto do_scatterv(
        Function function, ConstElements input, Blocks blocks, Elements output, int root
    ) const {
        const dlrt_type type = root == root_here ? input.type : output.type;
        if (root == root_here) {
            fit(input, input, blocks, ranks());
        } else if (is_root(root)) {
            fit(output, input, blocks, ranks());
        }
        return call(
            function, input.data, blocks.counts.data(), start_of(blocks), output.address(),
            output.count, type, root, comm_
        );
    }
    template<typename Function>
    auto do_allgather(Function function, ConstElements input, Elements output) const {
        match(input, input.count * ranks().count, output, output.count);
        return call(function, input.data, input.count, input.type, output.address(), comm_);
    }
    template<typename Function>
    auto do_allgatherv(Function function, ConstElements input, Elements output, Blocks blocks)
        const {
        fit(input, output, blocks, ranks());
        return call(
            function, input.data, input.count, input.type, output.address(), blocks.counts.data(),
            start_of(blocks), comm_
        );
    }
    template<typename Function>
    auto do_alltoall(Function function, ConstElements input, Elements output) const {
        match(input, input.count, output, output.count);
        return call(function, input.data, output.address(), share_of(input), input.type, comm_);
    }
    template<typename Function>
    auto do_alltoallv(
        Function function, ConstElements input, Blocks sent, Elements output, Blocks received
    ) const {
        fit(output, input, sent, ranks());
        fit(input, output, received, ranks());
        return call(
            function, input.data, sent.counts.data(), start_of(sent), output.address(),
            received.counts.data(), start_of(received), input.type, comm_
        );
    }
    template<typename Function>
    auto do_alltoallw(
        Function function, const void* input, const TypedBlocks& sent, void* output,
        const TypedBlocks& received
    ) const {
        one_each(sent, ranks());
        one_each(received, ranks());
        return call(
            function, input, sent.counts.data(), sent.displacements_bytes.data(), sent.types.data(),
            output, received.counts.data(), received.displacements_bytes.data(),
            received.types.data(), comm_
        );
    }

    /// How many blocks a list should have, and what each is for.
    struct Partners {
        std::int64_t count;
        const char* what;
    };
    /// Whom blocks are for.
    [[nodiscard]] Partners ranks() const {
        if (!is_between_groups()) return {size(), "ranks"};
        return {remote_size(), "ranks of the other group"};
    }
    /// Of a communicator of one group.
    [[nodiscard]] bool is_root(int root) const { return rank() == root && !is_between_groups(); }
    /// One of the equal blocks for all.
    [[nodiscard]] std::int64_t share_of(const ConstElements& whole) const {
        const std::int64_t count = ranks().count;
        match(whole, whole.count / count * count, whole, whole.count);
        return whole.count / count;
    }

    static void match(
        const ConstElements& a, std::int64_t wanted, const ConstElements& b, std::int64_t given
    ) {
        same_type(a, b);
        if (wanted == given) return;
        throw std::invalid_argument(
            "dlrt: the buffers don't fit each other: " + std::to_string(given) + " elements, not " +
            std::to_string(wanted)
        );
    }
    static void one_each(std::size_t entry_count, const Partners& partners) {
        if (entry_count == static_cast<std::size_t>(partners.count)) return;
        throw std::invalid_argument(
            "dlrt: a list has " + std::to_string(entry_count) + " entries, not one for each of " +
            std::to_string(partners.count) + " " + partners.what
        );
    }
    static void one_each(const TypedBlocks& blocks, const Partners& partners) {
        one_each(blocks.counts.size(), partners);
        one_each(blocks.displacements_bytes.size(), partners);
        one_each(blocks.types.size(), partners);
    }
    /// The blocks lie within `whole`, whose elements are those of `other`.
    static void fit(
        const ConstElements& other, const ConstElements& whole, const Blocks& blocks,
        const Partners& partners
    ) {
        same_type(other, whole);
        const std::int64_t end = end_of(blocks, partners);
        if (end <= whole.count) return;
        throw std::invalid_argument(
            "dlrt: the blocks end at element " + std::to_string(end) + " of a buffer of " +
            std::to_string(whole.count)
        );
    }
    static const std::int64_t* start_of(const Blocks& blocks) {
        return blocks.displacements.empty() ? nullptr : blocks.displacements.data();
    }

    dlrt_comm comm_;

  private:
    static void same_type(const ConstElements& a, const ConstElements& b) {
        if (a.type.index == b.type.index && a.type.generation == b.type.generation) return;
        throw std::invalid_argument("dlrt: input and output have elements of different types");
    }
    /// The end of the last block.
    [[nodiscard]] static std::int64_t end_of(const Blocks& blocks, const Partners& partners) {
        one_each(blocks.counts.size(), partners);
        if (!blocks.displacements.empty()) one_each(blocks.displacements.size(), partners);
        std::int64_t end = 0;
        std::int64_t next = 0;
        for (std::size_t i = 0; i < blocks.counts.size(); ++i) {
            if (!blocks.displacements.empty()) next = blocks.displacements[i];
            next += blocks.counts[i];
            if (blocks.counts[i] > 0 && next > end) end = next;
        }
        return end;
    }
};

}  // namespace cpp
}  // namespace dlrt

#endif  // DLRT_COLLECTIVE_FORMS_HPP
