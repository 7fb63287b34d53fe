// SPDX-License-Identifier: Apache-2.0
/// Collectives: what each rank can check by itself; the core checks what ranks must agree on.
#include "runtime/api/arguments.hpp"
#include "runtime/api/ops.hpp"
#include "runtime/collective.hpp"

namespace dlrt::api {
namespace {

/// A collective call, checked and translated.
struct Collective {
    Use<Communicator> use;
    LayoutUse layout;
    std::uint64_t size_bytes = 0;
    Reducer reducer;  ///< Of a reduction.
    [[nodiscard]] Communicator& comm() const { return *use.pointer; }
};

constexpr std::int32_t no_root = -1;

Status check_root(const Site& site, const Communicator& comm, std::int32_t root) {
    if (root >= 0 && root < comm.size()) [[likely]]
        return {};
    return site.fail(Errc::root, "root {} is not in 0..{}", root, comm.size() - 1);
}

/// Checks the communicator and the buffer that every rank has.
Status open_collective(
    const Site& site, dlrt_comm comm, const BufferArguments& buffer, Collective& call
) {
    if (const Status bad = site.use(comm, call.use); !bad.ok()) return bad;
    return use_buffer(site, buffer, call.layout, call.size_bytes);
}

/// One that the call uses beside the first, with `share_count` times its elements.
Status check_other_buffer(
    const Site& site, const Collective& call, const void* address, const BufferArguments& share,
    std::int32_t share_count
) {
    std::int64_t count = 0;
    if (__builtin_mul_overflow(share.count, std::int64_t{share_count}, &count)) {
        return site.fail(Errc::count, "{} elements from each rank are too many", share.count);
    }
    LayoutUse ignored;
    std::uint64_t size_bytes = 0;
    const Status bad = use_buffer(site, {address, count, share.type}, ignored, size_bytes);
    if (!bad.ok()) return bad;
    if (address != share.address || call.size_bytes == 0) return {};
    return site.fail(Errc::buffer, "input and output are the same; pass DLRT_IN_PLACE");
}

FlightRecorder::Operation record_of(
    Call call, const Collective& collective, std::int64_t count, std::int64_t root
) {
    return {
        .call = call,
        .context = static_cast<std::uint64_t>(collective.comm().user_context()),
        .size_bytes = collective.size_bytes,
        .arguments_hash = hash_arguments(count, collective.layout.layout(), root),
    };
}

dlrt_err conclude(const Site& site, Status outcome) {
    if (outcome.ok()) [[likely]]
        return DLRT_OK;
    return to_c(site.pass(outcome));
}

/// A reduction as its caller describes it.
struct Reduction {
    const void* input;
    void* output;
    std::int64_t count;
    dlrt_type type;
    dlrt_op op;
    dlrt_comm comm;
};

/// Without a root all ranks get the result.
Status open_reduction(
    const Site& site, const Reduction& reduction, std::optional<std::int32_t> root, Collective& call
) {
    if (const Status bad = site.use(reduction.comm, call.use); !bad.ok()) return bad;
    if (root) {
        if (const Status bad = check_root(site, call.comm(), *root); !bad.ok()) return bad;
    }
    const bool has_output = !root || *root == call.comm().rank();
    const bool is_in_place = has_output && reduction.input == DLRT_IN_PLACE;
    const BufferArguments input{
        is_in_place ? reduction.output : reduction.input, reduction.count, reduction.type};
    const Status bad = use_buffer(site, input, call.layout, call.size_bytes);
    if (!bad.ok()) return bad;
    const Status undefined = use_op(
        site, reduction.op, ReductionForm::whole, reduction.type, *call.layout.reference,
        call.reducer
    );
    if (!undefined.ok() || !has_output || is_in_place) return undefined;
    return check_other_buffer(site, call, reduction.output, input, 1);
}

ReduceArguments reduce_arguments(const Reduction& reduction, const Collective& call) {
    const auto count = static_cast<std::uint64_t>(reduction.count);
    const bool is_in_place = reduction.input == DLRT_IN_PLACE;
    return {
        .input = {is_in_place ? nullptr : reduction.input, count, call.layout.reference},
        .output = {reduction.output, count, call.layout.reference},
        .reducer = call.reducer,
        .is_in_place = is_in_place,
    };
}

/// One that moves equal shares between the ranks and one buffer of size() shares.
struct Shares {
    const void* input;
    void* output;
    std::int64_t count;
    dlrt_type type;
};

BlockArguments block_arguments(const Shares& shares, const Collective& call) {
    const auto count = static_cast<std::uint64_t>(shares.count);
    const bool is_input_there = shares.input == DLRT_IN_PLACE;
    const bool is_output_there = shares.output == DLRT_IN_PLACE;
    return {
        .input = {is_input_there ? nullptr : shares.input, count, call.layout.reference},
        .output = {is_output_there ? nullptr : shares.output, count, call.layout.reference},
        .is_in_place = is_input_there || is_output_there,
    };
}

}  // namespace
}  // namespace dlrt::api

using namespace dlrt;
using namespace dlrt::api;

dlrt_err dlrt_barrier(dlrt_comm comm) {
    const Site site("dlrt_barrier");
    if (!site.is_ready()) return site.error();
    Use<Communicator> use;
    if (const Status bad = site.use(comm, use); !bad.ok()) return to_c(bad);
    const auto context = static_cast<std::uint64_t>(use.pointer->user_context());
    const FlightMark mark(site, {.call = Call::barrier, .context = context});
    return conclude(site, barrier(*use.pointer));
}

dlrt_err dlrt_bcast(void* buffer, int64_t count, dlrt_type type, int32_t root, dlrt_comm comm) {
    const Site site("dlrt_bcast");
    if (!site.is_ready()) return site.error();
    Collective call;
    const Status bad = open_collective(site, comm, {buffer, count, type}, call);
    if (!bad.ok()) return to_c(bad);
    if (const Status wrong = check_root(site, call.comm(), root); !wrong.ok()) return to_c(wrong);
    const FlightMark mark(site, record_of(Call::bcast, call, count, root));
    const Buffer whole{buffer, static_cast<std::uint64_t>(count), call.layout.reference};
    return conclude(site, bcast(call.comm(), whole, root));
}

dlrt_err dlrt_reduce(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_op op, int32_t root,
    dlrt_comm comm
) {
    const Site site("dlrt_reduce");
    if (!site.is_ready()) return site.error();
    const Reduction reduction{input, output, count, type, op, comm};
    Collective call;
    const Status bad = open_reduction(site, reduction, root, call);
    if (!bad.ok()) return to_c(bad);
    const FlightMark mark(site, record_of(Call::reduce, call, count, root));
    return conclude(site, reduce(call.comm(), reduce_arguments(reduction, call), root));
}

dlrt_err dlrt_allreduce(
    const void* input, void* output, int64_t count, dlrt_type type, dlrt_op op, dlrt_comm comm
) {
    const Site site("dlrt_allreduce");
    if (!site.is_ready()) return site.error();
    const Reduction reduction{input, output, count, type, op, comm};
    Collective call;
    const Status bad = open_reduction(site, reduction, std::nullopt, call);
    if (!bad.ok()) return to_c(bad);
    const FlightMark mark(site, record_of(Call::allreduce, call, count, no_root));
    return conclude(site, allreduce(call.comm(), reduce_arguments(reduction, call)));
}

dlrt_err dlrt_gather(
    const void* input, int64_t count, dlrt_type type, void* output, int32_t root, dlrt_comm comm
) {
    const Site site("dlrt_gather");
    if (!site.is_ready()) return site.error();
    Collective call;
    if (const Status bad = site.use(comm, call.use); !bad.ok()) return to_c(bad);
    if (const Status bad = check_root(site, call.comm(), root); !bad.ok()) return to_c(bad);
    const bool is_root = call.comm().rank() == root;
    const bool is_in_place = is_root && input == DLRT_IN_PLACE;
    const BufferArguments share{is_in_place ? output : input, count, type};
    Status bad = use_buffer(site, share, call.layout, call.size_bytes);
    if (!bad.ok()) return to_c(bad);
    if (is_root) {
        const BufferArguments other{is_in_place ? nullptr : input, count, type};
        bad = check_other_buffer(site, call, output, other, call.comm().size());
        if (!bad.ok()) return to_c(bad);
    }
    const FlightMark mark(site, record_of(Call::gather, call, count, root));
    return conclude(
        site, gather(call.comm(), block_arguments({input, output, count, type}, call), root)
    );
}

dlrt_err dlrt_scatter(
    const void* input, void* output, int64_t count, dlrt_type type, int32_t root, dlrt_comm comm
) {
    const Site site("dlrt_scatter");
    if (!site.is_ready()) return site.error();
    Collective call;
    if (const Status bad = site.use(comm, call.use); !bad.ok()) return to_c(bad);
    if (const Status bad = check_root(site, call.comm(), root); !bad.ok()) return to_c(bad);
    const bool is_root = call.comm().rank() == root;
    const bool is_in_place = is_root && output == DLRT_IN_PLACE;
    const BufferArguments share{is_in_place ? input : output, count, type};
    Status bad = use_buffer(site, share, call.layout, call.size_bytes);
    if (!bad.ok()) return to_c(bad);
    if (is_root) {
        const BufferArguments other{is_in_place ? nullptr : output, count, type};
        bad = check_other_buffer(site, call, input, other, call.comm().size());
        if (!bad.ok()) return to_c(bad);
    }
    const FlightMark mark(site, record_of(Call::scatter, call, count, root));
    return conclude(
        site, scatter(call.comm(), block_arguments({input, output, count, type}, call), root)
    );
}

dlrt_err dlrt_allgather(
    const void* input, int64_t count, dlrt_type type, void* output, dlrt_comm comm
) {
    const Site site("dlrt_allgather");
    if (!site.is_ready()) return site.error();
    const bool is_in_place = input == DLRT_IN_PLACE;
    const BufferArguments share{is_in_place ? output : input, count, type};
    Collective call;
    Status bad = open_collective(site, comm, share, call);
    if (!bad.ok()) return to_c(bad);
    const BufferArguments other{is_in_place ? nullptr : input, count, type};
    bad = check_other_buffer(site, call, output, other, call.comm().size());
    if (!bad.ok()) return to_c(bad);
    const FlightMark mark(site, record_of(Call::allgather, call, count, no_root));
    return conclude(
        site, allgather(call.comm(), block_arguments({input, output, count, type}, call))
    );
}
