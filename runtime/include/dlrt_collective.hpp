// SPDX-License-Identifier: Apache-2.0
/// The part of dlrt.hpp that deals with collectives and groups of calls. Include dlrt.hpp, not
/// this.
// dlrt.hpp includes this file in its right place.
#ifndef DLRT_HPP
#include "dlrt.hpp"
#endif

#ifndef DLRT_COLLECTIVE_HPP
#define DLRT_COLLECTIVE_HPP

#include "dlrt_collective_forms.hpp"

namespace dlrt {
inline namespace cpp {

/// Makes one operation, which no order can deadlock, of the blocking calls that this thread makes
/// while it lives. Buffers belong to it, and what is received is there after end() only.
///
///     dlrt::CallGroup group;
///     for (int peer : peers) world.send(outgoing[peer], {.to = peer});
///     for (int peer : peers) world.recv(incoming[peer], {.from = peer});
///     group.end();
///
/// Receives return an empty Status within it; calls that return a value throw std::logic_error.
class CallGroup {
  public:
    CallGroup() {
        check(dlrt_group_start());
        ++depth_;
    }
    CallGroup(const CallGroup&) = delete;
    CallGroup& operator=(const CallGroup&) = delete;
    /// Waits; errors are then lost, so call end().
    ~CallGroup() {
        if (is_open_) static_cast<void>(close());
    }
    /// Waits for all. Throws the first error of what was begun.
    void end() {
        if (!is_open_) throw std::logic_error("dlrt::CallGroup: it has ended");
        check(close());
    }

    /// Whether the calling thread is in one.
    [[nodiscard]] static bool is_inside() { return depth_ != 0; }
    /// For calls that need their result when they return.
    static void expect_outside() {
        if (is_inside()) {
            throw std::logic_error("dlrt: within a CallGroup there is no value to return yet");
        }
    }

  private:
    dlrt_err close() {
        is_open_ = false;
        --depth_;
        return dlrt_group_end();
    }
    static inline thread_local int depth_ = 0;
    bool is_open_ = true;
};

/// The collectives of a communicator. X(...) returns when this rank's part is done; iX begins it
/// and gives a request; X_init gives one that start() begins any number of times. Lengths of lists
/// and buffers are checked here (std::invalid_argument), everything else as dlrt.h says.
class Collectives : public CollectiveForms {
  public:
    void barrier() const { check(dlrt_barrier(comm_)); }
    Request ibarrier() const { return call(dlrt_ibarrier, comm_); }
    Request barrier_init() const { return call(dlrt_barrier_init, comm_); }

    void bcast(Elements buffer, int root) const { do_bcast(dlrt_bcast, buffer, root); }
    template<Lasting B>
    Request ibcast(B&& buffer, int root) const {
        return do_bcast(dlrt_ibcast, buffer, root);
    }
    template<Lasting B>
    Request bcast_init(B&& buffer, int root) const {
        return do_bcast(dlrt_bcast_init, buffer, root);
    }

    /// output counts at the root only.
    void reduce(ConstElements input, Elements output, AnyOp op, int root) const {
        do_reduce(dlrt_reduce, input, output, op, root);
    }
    template<Lasting I, Lasting O>
    Request ireduce(I&& input, O&& output, AnyOp op, int root) const {
        return do_reduce(dlrt_ireduce, input, output, op, root);
    }
    template<Lasting I, Lasting O>
    Request reduce_init(I&& input, O&& output, AnyOp op, int root) const {
        return do_reduce(dlrt_reduce_init, input, output, op, root);
    }

    void allreduce(ConstElements input, Elements output, AnyOp op) const {
        do_reduction(dlrt_allreduce, input, output, op);
    }
    template<Lasting I, Lasting O>
    Request iallreduce(I&& input, O&& output, AnyOp op) const {
        return do_reduction(dlrt_iallreduce, input, output, op);
    }
    template<Lasting I, Lasting O>
    Request allreduce_init(I&& input, O&& output, AnyOp op) const {
        return do_reduction(dlrt_allreduce_init, input, output, op);
    }
    /// In place.
    void allreduce(Elements buffer, AnyOp op) const { do_in_place(dlrt_allreduce, buffer, op); }
    template<Lasting B>
    Request iallreduce(B&& buffer, AnyOp op) const {
        return do_in_place(dlrt_iallreduce, buffer, op);
    }
    template<Lasting B>
    Request allreduce_init(B&& buffer, AnyOp op) const {
        return do_in_place(dlrt_allreduce_init, buffer, op);
    }
    /// The result of everybody's value.
    template<TransferableValue T>
    [[nodiscard]] T combine(T value, AnyOp op) const {
        CallGroup::expect_outside();
        allreduce(value, op);
        return value;
    }
    template<Reducible T>
    [[nodiscard]] T sum(T value) const {
        return combine(value, Op::sum);
    }
    template<Reducible T>
    [[nodiscard]] T max(T value) const {
        return combine(value, Op::max);
    }

    /// Of the ranks up to this one.
    void scan(ConstElements input, Elements output, AnyOp op) const {
        do_reduction(dlrt_scan, input, output, op);
    }
    template<Lasting I, Lasting O>
    Request iscan(I&& input, O&& output, AnyOp op) const {
        return do_reduction(dlrt_iscan, input, output, op);
    }
    template<Lasting I, Lasting O>
    Request scan_init(I&& input, O&& output, AnyOp op) const {
        return do_reduction(dlrt_scan_init, input, output, op);
    }
    /// In place.
    void scan(Elements buffer, AnyOp op) const { do_in_place(dlrt_scan, buffer, op); }

    /// Of the ranks before this one; the output of rank 0 is left alone.
    void exscan(ConstElements input, Elements output, AnyOp op) const {
        do_reduction(dlrt_exscan, input, output, op);
    }
    template<Lasting I, Lasting O>
    Request iexscan(I&& input, O&& output, AnyOp op) const {
        return do_reduction(dlrt_iexscan, input, output, op);
    }
    template<Lasting I, Lasting O>
    Request exscan_init(I&& input, O&& output, AnyOp op) const {
        return do_reduction(dlrt_exscan_init, input, output, op);
    }
    /// In place.
    void exscan(Elements buffer, AnyOp op) const { do_in_place(dlrt_exscan, buffer, op); }

    /// The input has size() times the output.
    void reduce_scatter(ConstElements input, Elements output, AnyOp op) const {
        do_reduce_scatter(dlrt_reduce_scatter, input, output, op);
    }
    template<Lasting I, Lasting O>
    Request ireduce_scatter(I&& input, O&& output, AnyOp op) const {
        return do_reduce_scatter(dlrt_ireduce_scatter, input, output, op);
    }
    template<Lasting I, Lasting O>
    Request reduce_scatter_init(I&& input, O&& output, AnyOp op) const {
        return do_reduce_scatter(dlrt_reduce_scatter_init, input, output, op);
    }
    /// counts[i] elements for rank i.
    void reduce_scatterv(
        ConstElements input, Elements output, std::span<const std::int64_t> counts, AnyOp op
    ) const {
        do_reduce_scatterv(dlrt_reduce_scatterv, input, output, counts, op);
    }
    template<Lasting I, Lasting O>
    Request ireduce_scatterv(I&& input, O&& output, std::span<const std::int64_t> counts, AnyOp op)
        const {
        return do_reduce_scatterv(dlrt_ireduce_scatterv, input, output, counts, op);
    }
    template<Lasting I, Lasting O>
    Request reduce_scatterv_init(
        I&& input, O&& output, std::span<const std::int64_t> counts, AnyOp op
    ) const {
        return do_reduce_scatterv(dlrt_reduce_scatterv_init, input, output, counts, op);
    }

    /// The root's output has size() times the input, by rank.
    void gather(ConstElements input, Elements output, int root) const {
        do_gather(dlrt_gather, input, output, root);
    }
    template<Lasting I, Lasting O>
    Request igather(I&& input, O&& output, int root) const {
        return do_gather(dlrt_igather, input, output, root);
    }
    template<Lasting I, Lasting O>
    Request gather_init(I&& input, O&& output, int root) const {
        return do_gather(dlrt_gather_init, input, output, root);
    }
    /// blocks count at the root only.
    void gatherv(ConstElements input, Elements output, Blocks blocks, int root) const {
        do_gatherv(dlrt_gatherv, input, output, blocks, root);
    }
    template<Lasting I, Lasting O>
    Request igatherv(I&& input, O&& output, Blocks blocks, int root) const {
        return do_gatherv(dlrt_igatherv, input, output, blocks, root);
    }
    template<Lasting I, Lasting O>
    Request gatherv_init(I&& input, O&& output, Blocks blocks, int root) const {
        return do_gatherv(dlrt_gatherv_init, input, output, blocks, root);
    }

    /// The root's input has size() times the output, by rank.
    void scatter(ConstElements input, Elements output, int root) const {
        do_scatter(dlrt_scatter, input, output, root);
    }
    template<Lasting I, Lasting O>
    Request iscatter(I&& input, O&& output, int root) const {
        return do_scatter(dlrt_iscatter, input, output, root);
    }
    template<Lasting I, Lasting O>
    Request scatter_init(I&& input, O&& output, int root) const {
        return do_scatter(dlrt_scatter_init, input, output, root);
    }
    /// blocks count at the root only.
    void scatterv(ConstElements input, Blocks blocks, Elements output, int root) const {
        do_scatterv(dlrt_scatterv, input, blocks, output, root);
    }
    template<Lasting I, Lasting O>
    Request iscatterv(I&& input, Blocks blocks, O&& output, int root) const {
        return do_scatterv(dlrt_iscatterv, input, blocks, output, root);
    }
    template<Lasting I, Lasting O>
    Request scatterv_init(I&& input, Blocks blocks, O&& output, int root) const {
        return do_scatterv(dlrt_scatterv_init, input, blocks, output, root);
    }

    /// The output has size() times the input, by rank.
    void allgather(ConstElements input, Elements output) const {
        do_allgather(dlrt_allgather, input, output);
    }
    template<Lasting I, Lasting O>
    Request iallgather(I&& input, O&& output) const {
        return do_allgather(dlrt_iallgather, input, output);
    }
    template<Lasting I, Lasting O>
    Request allgather_init(I&& input, O&& output) const {
        return do_allgather(dlrt_allgather_init, input, output);
    }
    /// Everybody's value, by rank.
    template<TransferableValue T>
    [[nodiscard]] std::vector<T> allgather(const T& value) const {
        CallGroup::expect_outside();
        std::vector<T> values(static_cast<std::size_t>(ranks().count));
        allgather(value, values);
        return values;
    }
    void allgatherv(ConstElements input, Elements output, Blocks blocks) const {
        do_allgatherv(dlrt_allgatherv, input, output, blocks);
    }
    template<Lasting I, Lasting O>
    Request iallgatherv(I&& input, O&& output, Blocks blocks) const {
        return do_allgatherv(dlrt_iallgatherv, input, output, blocks);
    }
    template<Lasting I, Lasting O>
    Request allgatherv_init(I&& input, O&& output, Blocks blocks) const {
        return do_allgatherv(dlrt_allgatherv_init, input, output, blocks);
    }

    /// Input and output have one equal block for each rank.
    void alltoall(ConstElements input, Elements output) const {
        do_alltoall(dlrt_alltoall, input, output);
    }
    template<Lasting I, Lasting O>
    Request ialltoall(I&& input, O&& output) const {
        return do_alltoall(dlrt_ialltoall, input, output);
    }
    template<Lasting I, Lasting O>
    Request alltoall_init(I&& input, O&& output) const {
        return do_alltoall(dlrt_alltoall_init, input, output);
    }
    void alltoallv(ConstElements input, Blocks sent, Elements output, Blocks received) const {
        do_alltoallv(dlrt_alltoallv, input, sent, output, received);
    }
    template<Lasting I, Lasting O>
    Request ialltoallv(I&& input, Blocks sent, O&& output, Blocks received) const {
        return do_alltoallv(dlrt_ialltoallv, input, sent, output, received);
    }
    template<Lasting I, Lasting O>
    Request alltoallv_init(I&& input, Blocks sent, O&& output, Blocks received) const {
        return do_alltoallv(dlrt_alltoallv_init, input, sent, output, received);
    }
    void alltoallw(
        const void* input, const TypedBlocks& sent, void* output, const TypedBlocks& received
    ) const {
        do_alltoallw(dlrt_alltoallw, input, sent, output, received);
    }
    Request ialltoallw(
        const void* input, const TypedBlocks& sent, void* output, const TypedBlocks& received
    ) const {
        return do_alltoallw(dlrt_ialltoallw, input, sent, output, received);
    }
    Request alltoallw_init(
        const void* input, const TypedBlocks& sent, void* output, const TypedBlocks& received
    ) const {
        return do_alltoallw(dlrt_alltoallw_init, input, sent, output, received);
    }

  protected:
    using CollectiveForms::CollectiveForms;
    ~Collectives() = default;
};

}  // namespace cpp
}  // namespace dlrt

#endif  // DLRT_COLLECTIVE_HPP
