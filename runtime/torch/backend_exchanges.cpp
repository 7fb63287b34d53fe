// SPDX-License-Identifier: Apache-2.0
/// The calls that move something between two ranks at a time, and those that move nothing.
#include "runtime/torch/backend.hpp"

#include <utility>

namespace dlrt_torch {

using c10d::OpType;

template<typename Base>
WorkRef Backend<Base>::alltoall_base(
    at::Tensor& output, at::Tensor& input, std::vector<std::int64_t>& output_sizes,
    std::vector<std::int64_t>& input_sizes, const c10d::AllToAllOptions& options
) {
    constexpr const char* call = "all_to_all_single";
    const Element element = element_of(input, call);
    require_same(output, output.numel(), input, call);
    const Split sent = split_of(input, input_sizes, group_->size(), call);
    const Split received = split_of(output, output_sizes, group_->size(), call);
    const at::Tensor source = readable(input);
    const at::Tensor memory = writable(output);
    const bool is_even = input_sizes.empty() && output_sizes.empty();
    Plan plan = plan_of(call, options.timeout);
    keep(plan, source, memory, output);
    return start(
        std::move(plan), OpType::ALLTOALL_BASE, {output},
        [&](dlrt_comm comm, auto* request) {
            void* const data = memory.data_ptr();
            if (is_even) {
                return dlrt_ialltoall(
                    source.data_ptr(), data, sent.counts.front(), element.type, comm, request
                );
            }
            return dlrt_ialltoallv(
                source.data_ptr(), sent.counts.data(), sent.displacements.data(), data,
                received.counts.data(), received.displacements.data(), element.type, comm, request
            );
        }
    );
}

template<typename Base>
WorkRef Backend<Base>::alltoall(
    Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions& options
) {
    constexpr const char* call = "all_to_all";
    const auto size = static_cast<std::size_t>(group_->size());
    const Element element = element_of_all(inputs, call);
    require_count(inputs.size(), size, "input tensors", call);
    require_count(outputs.size(), size, "output tensors", call);
    for (const at::Tensor& output : outputs) {
        require_same(output, output.numel(), inputs.front(), call);
    }
    const at::Tensor source = flat(inputs);
    const at::Tensor memory = flat_room(outputs);
    const Split sent = split_of(inputs, element);
    const Split received = split_of(outputs, element);
    Plan plan = plan_of(call, options.timeout);
    keep_parts(plan, source, memory, outputs);
    return start(std::move(plan), OpType::ALLTOALL, outputs, [&](dlrt_comm comm, auto* request) {
        return dlrt_ialltoallv(
            source.data_ptr(), sent.counts.data(), sent.displacements.data(), memory.data_ptr(),
            received.counts.data(), received.displacements.data(), element.type, comm, request
        );
    });
}

template<typename Base>
WorkRef Backend<Base>::send(Tensors& tensors, int target, int tag) {
    constexpr const char* call = "send";
    const at::Tensor source = readable(only(tensors, call));
    const Element element = element_of(source, call);
    Plan plan;
    plan.call = call;
    plan.peer = root_of(target, call);
    plan.tag = tag;
    keep(plan, source);
    return start(std::move(plan), OpType::SEND, {}, [&](dlrt_comm comm, auto* request) {
        return dlrt_isend(
            source.data_ptr(), count_of(source, element), element.type, target, tag, comm, request
        );
    });
}

template<typename Base>
WorkRef Backend<Base>::receive(Tensors& tensors, std::int32_t source, int tag, const char* call) {
    const at::Tensor target = only(tensors, call);
    const Element element = element_of(target, call);
    const at::Tensor memory = writable(target);
    Plan plan;
    plan.call = call;
    plan.peer = source;
    plan.tag = tag;
    plan.finish = [memory, target, call](const dlrt_status& status) {
        if (status.size_bytes != static_cast<std::uint64_t>(memory.nbytes())) {
            throw Failure(
                DLRT_ERR_MISMATCH, std::string(call) + ": the message of rank " +
                                       std::to_string(status.source) + " has " +
                                       std::to_string(status.size_bytes) + " bytes, the tensor " +
                                       std::to_string(memory.nbytes())
            );
        }
        put_back(memory, target);
    };
    const bool is_of_any = source == Plan::any_peer;
    const OpType type = is_of_any ? OpType::RECVANYSOURCE : OpType::RECV;
    return start(std::move(plan), type, {target}, [&](dlrt_comm comm, auto* request) {
        return dlrt_irecv(
            memory.data_ptr(), count_of(memory, element), element.type,
            is_of_any ? static_cast<std::int32_t>(DLRT_ANY_SOURCE) : source, tag, comm, request
        );
    });
}

template<typename Base>
WorkRef Backend<Base>::recv(Tensors& tensors, int source, int tag) {
    return receive(tensors, root_of(source, "recv"), tag, "recv");
}

template<typename Base>
WorkRef Backend<Base>::recvAnysource(Tensors& tensors, int tag) {
    return receive(tensors, Plan::any_peer, tag, "recv");
}

template<typename Base>
WorkRef Backend<Base>::barrier(const c10d::BarrierOptions& options) {
    Plan plan = plan_of("barrier", options.timeout);
    return start(std::move(plan), OpType::BARRIER, {}, [](dlrt_comm comm, auto* request) {
        return dlrt_ibarrier(comm, request);
    });
}

template<typename Base>
void Backend<Base>::monitoredBarrier(const c10d::BarrierOptions& options, bool wait_all_ranks) {
    group_->monitored_barrier(
        options.timeout, wait_all_ranks ? Group::Report::all_absent : Group::Report::first_absent
    );
}

// The class is instantiated in backend.cpp, which sees the other members.
using Calls = Backend<BackendBase>;
using Sizes = std::vector<std::int64_t>;
template WorkRef Calls::
    alltoall_base(at::Tensor&, at::Tensor&, Sizes&, Sizes&, const c10d::AllToAllOptions&);
template WorkRef Calls::alltoall(Tensors&, Tensors&, const c10d::AllToAllOptions&);
template WorkRef Calls::send(Tensors&, int, int);
template WorkRef Calls::receive(Tensors&, std::int32_t, int, const char*);
template WorkRef Calls::recv(Tensors&, int, int);
template WorkRef Calls::recvAnysource(Tensors&, int);
template WorkRef Calls::barrier(const c10d::BarrierOptions&);
template void Calls::monitoredBarrier(const c10d::BarrierOptions&, bool);

}  // namespace dlrt_torch
