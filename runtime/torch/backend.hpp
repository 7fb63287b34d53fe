// SPDX-License-Identifier: Apache-2.0
/// The calls of torch.distributed over a group. `Base` is c10d::ProcessGroup in torch 1.13 and
/// c10d::Backend in torch 2, whose further calls stand below.
///
/// Every call begins one nonblocking operation of dlrt and returns its work. Any thread; calls of
/// one group in the same order on all ranks.
#pragma once

#include "runtime/torch/group.hpp"
#include "runtime/torch/tensors.hpp"
#include "runtime/torch/work.hpp"

#include <memory>
#include <string>
#include <torch/version.h>
#include <utility>
#include <vector>

#define DLRT_TORCH_MAJOR TORCH_VERSION_MAJOR

#if DLRT_TORCH_MAJOR >= 2
#include <torch/csrc/distributed/c10d/Backend.hpp>
#else
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#endif

namespace dlrt_torch {

#if DLRT_TORCH_MAJOR >= 2
using BackendBase = c10d::Backend;
#else
using BackendBase = c10d::ProcessGroup;
#endif

using WorkRef = c10::intrusive_ptr<c10d::Work>;
using Lists = std::vector<Tensors>;

template<typename Base>
class Backend : public Base {
  public:
    explicit Backend(std::shared_ptr<Group> group);
    ~Backend() override;

    const std::string getBackendName() const override { return "dlrt"; }

    WorkRef broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override;
    WorkRef allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override;
    WorkRef allreduce_coalesced(Tensors& tensors, const c10d::AllreduceCoalescedOptions& options)
        override;
    WorkRef reduce(Tensors& tensors, const c10d::ReduceOptions& options) override;
    WorkRef allgather(Lists& outputs, Tensors& inputs, const c10d::AllgatherOptions& options)
        override;
    WorkRef _allgather_base(
        at::Tensor& output, at::Tensor& input, const c10d::AllgatherOptions& options
    ) override;
    WorkRef allgather_coalesced(
        Lists& outputs, Tensors& inputs, const c10d::AllgatherOptions& options
    ) override;
    WorkRef gather(Lists& outputs, Tensors& inputs, const c10d::GatherOptions& options) override;
    WorkRef scatter(Tensors& outputs, Lists& inputs, const c10d::ScatterOptions& options) override;
    WorkRef reduce_scatter(
        Tensors& outputs, Lists& inputs, const c10d::ReduceScatterOptions& options
    ) override;
    WorkRef _reduce_scatter_base(
        at::Tensor& output, at::Tensor& input, const c10d::ReduceScatterOptions& options
    ) override;
    WorkRef alltoall_base(
        at::Tensor& output, at::Tensor& input, std::vector<std::int64_t>& output_sizes,
        std::vector<std::int64_t>& input_sizes, const c10d::AllToAllOptions& options
    ) override;
    WorkRef alltoall(Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions& options)
        override;
    WorkRef send(Tensors& tensors, int target, int tag) override;
    WorkRef recv(Tensors& tensors, int source, int tag) override;
    WorkRef recvAnysource(Tensors& tensors, int tag) override;
    WorkRef barrier(const c10d::BarrierOptions& options) override;
    void monitoredBarrier(const c10d::BarrierOptions& options, bool wait_all_ranks) override;
    void setSequenceNumberForGroup() override {}
    std::uint64_t getSequenceNumberForGroup() override { return group_->sequence(); }
#if DLRT_TORCH_MAJOR >= 2
    WorkRef allgather_into_tensor_coalesced(
        Tensors& outputs, Tensors& inputs, const c10d::AllgatherOptions& options
    ) override;
    WorkRef reduce_scatter_tensor_coalesced(
        Tensors& outputs, Tensors& inputs, const c10d::ReduceScatterOptions& options
    ) override;
    void startCoalescing() override {
    }
    /// For the calls in between, which have begun on their own: nothing more to wait for.
    WorkRef endCoalescing() override;
    // Asked by later versions only.
    bool supportsCoalescing() const {
        return false;
    }
    void setTimeout(std::chrono::milliseconds timeout) {
        group_->set_timeout(timeout);
    }
#endif

  private:
    template<typename Begin>
    WorkRef start(Plan plan, c10d::OpType type, Tensors results, const Begin& begin);
    [[nodiscard]] std::int32_t root_of(std::int64_t root, const char* call) const;
    WorkRef receive(Tensors& tensors, std::int32_t source, int tag, const char* call);

    std::shared_ptr<Group> group_;
};

template<typename Base>
template<typename Begin>
WorkRef Backend<Base>::start(Plan plan, c10d::OpType type, Tensors results, const Begin& begin) {
    return c10::make_intrusive<Work>(
        group_->start(std::move(plan), begin), group_->rank(), type, std::move(results)
    );
}

extern template class Backend<BackendBase>;

}  // namespace dlrt_torch
