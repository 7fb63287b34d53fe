// SPDX-License-Identifier: Apache-2.0
/// What torch gets for an operation in flight, and what the operation keeps for it. Any thread.
#pragma once

#include "runtime/torch/operation.hpp"
#include "runtime/torch/tensors.hpp"

#include <chrono>
#include <memory>
#include <torch/csrc/distributed/c10d/Work.hpp>

namespace dlrt_torch {

class Work final : public c10d::Work {
  public:
    /// `results` are what its future has; they live as long as the work does.
    Work(std::shared_ptr<Operation> operation, int rank, c10d::OpType type, Tensors results);
    /// The operation goes on.
    ~Work() override;

    bool isCompleted() override;
    bool isSuccess() const override;
    std::exception_ptr exception() const override;
    int sourceRank() const override;
    Tensors result() override;
    void synchronize() override {}
    bool wait(std::chrono::milliseconds timeout) override;
    void abort() override;
    c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;

  private:
    std::shared_ptr<Operation> operation_;
    Tensors results_;
    std::mutex future_mutex_;
    c10::intrusive_ptr<c10::ivalue::Future> future_;
};

[[nodiscard]] Plan plan_of(const char* call, std::chrono::milliseconds timeout);
/// Keeps what the operation reads.
void keep(Plan& plan, const at::Tensor& tensor);
/// After the operation what was received, in `memory`, goes to where the user wants it.
void keep(Plan& plan, const at::Tensor& input, const at::Tensor& memory, const at::Tensor& target);
void keep_parts(
    Plan& plan, const at::Tensor& input, const at::Tensor& memory, const Tensors& targets
);

}  // namespace dlrt_torch
