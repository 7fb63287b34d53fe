// SPDX-License-Identifier: Apache-2.0
/// Each call: checks what this rank can know alone, says where the data lies, and begins.
#include "runtime/torch/backend.hpp"

#include "runtime/torch/python_lock.hpp"
#include "runtime/torch/work.hpp"

#include <utility>

namespace dlrt_torch {
namespace {

using c10d::OpType;

void require_each(const Tensors& tensors, const at::Tensor& model, int size, const char* call) {
    require_count(tensors.size(), static_cast<std::size_t>(size), "tensors", call);
    for (const at::Tensor& tensor : tensors) require_same(tensor, model.numel(), model, call);
}

Tensors& only(Lists& lists, const char* call) {
    require_count(lists.size(), 1, "lists of tensors", call);
    return lists.front();
}

}  // namespace

template<typename Base>
Backend<Base>::Backend(std::shared_ptr<Group> group)
    : Base(group->rank(), group->size()), group_(std::move(group)) {
}

template<typename Base>
Backend<Base>::~Backend() {
    // The last group ends a thread that may be on its way into Python.
    const WithoutPython without;
    group_.reset();
}

template<typename Base>
std::int32_t Backend<Base>::root_of(std::int64_t root, const char* call) const {
    if (root >= 0 && root < group_->size()) return static_cast<std::int32_t>(root);
    reject(
        call, "rank " + std::to_string(root) + " is not in 0.." + std::to_string(group_->size() - 1)
    );
}

template<typename Base>
WorkRef Backend<Base>::broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) {
    constexpr const char* call = "broadcast";
    const at::Tensor target = only(tensors, call);
    const Element element = element_of(target, call);
    const std::int32_t root = root_of(options.rootRank, call);
    const bool is_root = root == group_->rank();
    const at::Tensor memory = is_root ? readable(target) : writable(target);
    Plan plan = plan_of(call, options.timeout);
    if (is_root) {
        keep(plan, memory);
    } else {
        keep(plan, memory, memory, target);
    }
    return start(std::move(plan), OpType::BROADCAST, {target}, [&](dlrt_comm comm, auto* request) {
        return dlrt_ibcast(
            memory.data_ptr(), count_of(memory, element), element.type, root, comm, request
        );
    });
}

template<typename Base>
WorkRef Backend<Base>::allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) {
    constexpr const char* call = "all_reduce";
    const at::Tensor target = only(tensors, call);
    const Element element = element_of(target, call);
    const dlrt_op op = reduction(options.reduceOp, target, call);
    const at::Tensor memory = readable(target);
    Plan plan = plan_of(call, options.timeout);
    keep(plan, memory, memory, target);
    return start(std::move(plan), OpType::ALLREDUCE, {target}, [&](dlrt_comm comm, auto* request) {
        return dlrt_iallreduce(
            DLRT_IN_PLACE, memory.data_ptr(), count_of(memory, element), element.type, op, comm,
            request
        );
    });
}

template<typename Base>
WorkRef Backend<Base>::allreduce_coalesced(
    Tensors& tensors, const c10d::AllreduceCoalescedOptions& options
) {
    constexpr const char* call = "all_reduce_coalesced";
    const Element element = element_of_all(tensors, call);
    const dlrt_op op = reduction(options.reduceOp, tensors.front(), call);
    const at::Tensor memory = flat(tensors);
    Plan plan = plan_of(call, options.timeout);
    keep_parts(plan, memory, memory, tensors);
    return start(
        std::move(plan), OpType::ALLREDUCE_COALESCED, tensors,
        [&](dlrt_comm comm, auto* request) {
            return dlrt_iallreduce(
                DLRT_IN_PLACE, memory.data_ptr(), count_of(memory, element), element.type, op, comm,
                request
            );
        }
    );
}

template<typename Base>
WorkRef Backend<Base>::reduce(Tensors& tensors, const c10d::ReduceOptions& options) {
    constexpr const char* call = "reduce";
    const at::Tensor target = only(tensors, call);
    const Element element = element_of(target, call);
    const dlrt_op op = reduction(options.reduceOp, target, call);
    const std::int32_t root = root_of(options.rootRank, call);
    const bool is_root = root == group_->rank();
    const at::Tensor memory = readable(target);
    Plan plan = plan_of(call, options.timeout);
    if (is_root) {
        keep(plan, memory, memory, target);
    } else {
        keep(plan, memory);
    }
    return start(std::move(plan), OpType::REDUCE, {target}, [&](dlrt_comm comm, auto* request) {
        void* const data = memory.data_ptr();
        return dlrt_ireduce(
            is_root ? DLRT_IN_PLACE : data, is_root ? data : nullptr, count_of(memory, element),
            element.type, op, root, comm, request
        );
    });
}

template<typename Base>
WorkRef Backend<Base>::allgather(
    Lists& outputs, Tensors& inputs, const c10d::AllgatherOptions& options
) {
    constexpr const char* call = "all_gather";
    const at::Tensor input = readable(only(inputs, call));
    const Element element = element_of(input, call);
    const Tensors& targets = only(outputs, call);
    require_each(targets, input, group_->size(), call);
    const at::Tensor memory = flat_room(targets);
    Plan plan = plan_of(call, options.timeout);
    keep_parts(plan, input, memory, targets);
    return start(std::move(plan), OpType::ALLGATHER, targets, [&](dlrt_comm comm, auto* request) {
        return dlrt_iallgather(
            input.data_ptr(), count_of(input, element), element.type, memory.data_ptr(), comm,
            request
        );
    });
}

template<typename Base>
WorkRef Backend<Base>::_allgather_base(
    at::Tensor& output, at::Tensor& input, const c10d::AllgatherOptions& options
) {
    constexpr const char* call = "all_gather_into_tensor";
    const Element element = element_of(input, call);
    require_same(output, input.numel() * group_->size(), input, call);
    const at::Tensor source = readable(input);
    const at::Tensor memory = writable(output);
    Plan plan = plan_of(call, options.timeout);
    keep(plan, source, memory, output);
    // FSDP passes the rank's own part of the output.
    const auto share_bytes = static_cast<std::size_t>(input.nbytes());
    const auto place = static_cast<std::size_t>(group_->rank()) * share_bytes;
    const bool is_in_place = share_bytes != 0 &&
                             static_cast<char*>(memory.data_ptr()) + place == source.data_ptr();
    return start(
        std::move(plan), OpType::_ALLGATHER_BASE, {output},
        [&](dlrt_comm comm, auto* request) {
            return dlrt_iallgather(
                is_in_place ? DLRT_IN_PLACE : source.data_ptr(), count_of(source, element),
                element.type, memory.data_ptr(), comm, request
            );
        }
    );
}

template<typename Base>
WorkRef Backend<Base>::allgather_coalesced(
    Lists& outputs, Tensors& inputs, const c10d::AllgatherOptions& options
) {
    constexpr const char* call = "all_gather_coalesced";
    const Element element = element_of_all(inputs, call);
    require_count(outputs.size(), static_cast<std::size_t>(group_->size()), "lists", call);
    Tensors targets;
    for (const Tensors& of_rank : outputs) {
        require_count(of_rank.size(), inputs.size(), "tensors", call);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            require_same(of_rank[i], inputs[i].numel(), inputs[i], call);
            targets.push_back(of_rank[i]);
        }
    }
    const at::Tensor input = flat(inputs);
    const at::Tensor memory = flat_room(targets);
    Plan plan = plan_of(call, options.timeout);
    keep_parts(plan, input, memory, targets);
    return start(
        std::move(plan), OpType::ALLGATHER_COALESCED, targets,
        [&](dlrt_comm comm, auto* request) {
            return dlrt_iallgather(
                input.data_ptr(), count_of(input, element), element.type, memory.data_ptr(), comm,
                request
            );
        }
    );
}

template<typename Base>
WorkRef Backend<Base>::gather(Lists& outputs, Tensors& inputs, const c10d::GatherOptions& options) {
    constexpr const char* call = "gather";
    const at::Tensor input = readable(only(inputs, call));
    const Element element = element_of(input, call);
    const std::int32_t root = root_of(options.rootRank, call);
    Plan plan = plan_of(call, options.timeout);
    Tensors targets;
    at::Tensor memory;
    if (root == group_->rank()) {
        targets = only(outputs, call);
        require_each(targets, input, group_->size(), call);
        memory = flat_room(targets);
        keep_parts(plan, input, memory, targets);
    } else {
        require_count(outputs.size(), 0, "lists beside the root", call);
        keep(plan, input);
    }
    return start(std::move(plan), OpType::GATHER, targets, [&](dlrt_comm comm, auto* request) {
        return dlrt_igather(
            input.data_ptr(), count_of(input, element), element.type,
            memory.defined() ? memory.data_ptr() : nullptr, root, comm, request
        );
    });
}

template<typename Base>
WorkRef Backend<Base>::scatter(
    Tensors& outputs, Lists& inputs, const c10d::ScatterOptions& options
) {
    constexpr const char* call = "scatter";
    const at::Tensor target = only(outputs, call);
    const Element element = element_of(target, call);
    const std::int32_t root = root_of(options.rootRank, call);
    at::Tensor source;
    if (root == group_->rank()) {
        const Tensors& sources = only(inputs, call);
        require_each(sources, target, group_->size(), call);
        source = flat(sources);
    } else {
        require_count(inputs.size(), 0, "lists beside the root", call);
    }
    const at::Tensor memory = writable(target);
    Plan plan = plan_of(call, options.timeout);
    keep(plan, source, memory, target);
    return start(std::move(plan), OpType::SCATTER, {target}, [&](dlrt_comm comm, auto* request) {
        return dlrt_iscatter(
            source.defined() ? source.data_ptr() : nullptr, memory.data_ptr(),
            count_of(memory, element), element.type, root, comm, request
        );
    });
}

template<typename Base>
WorkRef Backend<Base>::reduce_scatter(
    Tensors& outputs, Lists& inputs, const c10d::ReduceScatterOptions& options
) {
    constexpr const char* call = "reduce_scatter";
    const at::Tensor target = only(outputs, call);
    const Tensors& sources = only(inputs, call);
    const Element element = element_of_all(sources, call);
    require_count(sources.size(), static_cast<std::size_t>(group_->size()), "tensors", call);
    const auto own = static_cast<std::size_t>(group_->rank());
    require_same(target, sources[own].numel(), sources[own], call);
    const dlrt_op op = reduction(options.reduceOp, target, call);
    const at::Tensor source = flat(sources);
    const at::Tensor memory = writable(target);
    const Split split = split_of(sources, element);
    Plan plan = plan_of(call, options.timeout);
    keep(plan, source, memory, target);
    return start(
        std::move(plan), OpType::REDUCE_SCATTER, {target},
        [&](dlrt_comm comm, auto* request) {
            return dlrt_ireduce_scatterv(
                source.data_ptr(), memory.data_ptr(), split.counts.data(), element.type, op, comm,
                request
            );
        }
    );
}

template<typename Base>
WorkRef Backend<Base>::_reduce_scatter_base(
    at::Tensor& output, at::Tensor& input, const c10d::ReduceScatterOptions& options
) {
    constexpr const char* call = "reduce_scatter_tensor";
    const Element element = element_of(output, call);
    require_same(input, output.numel() * group_->size(), output, call);
    const dlrt_op op = reduction(options.reduceOp, output, call);
    const at::Tensor source = readable(input);
    // What FSDP passes may be a part of the input.
    const bool is_part = output.is_alias_of(input);
    const at::Tensor memory = is_part ? at::empty_like(output) : writable(output);
    Plan plan = plan_of(call, options.timeout);
    keep(plan, source, memory, output);
    return start(
        std::move(plan), OpType::_REDUCE_SCATTER_BASE, {output},
        [&](dlrt_comm comm, auto* request) {
            return dlrt_ireduce_scatter(
                source.data_ptr(), memory.data_ptr(), count_of(memory, element), element.type, op,
                comm, request
            );
        }
    );
}

template class Backend<BackendBase>;

}  // namespace dlrt_torch
