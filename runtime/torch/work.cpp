// SPDX-License-Identifier: Apache-2.0
#include "runtime/torch/work.hpp"

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>
#include <utility>

namespace dlrt_torch {

Work::Work(std::shared_ptr<Operation> operation, int rank, c10d::OpType type, Tensors results)
    : c10d::Work(rank, type), operation_(std::move(operation)), results_(std::move(results)) {
}

Work::~Work() {
    operation_->let_go();
}

bool Work::isCompleted() {
    return operation_->is_over();
}

bool Work::isSuccess() const {
    return operation_->is_over() && !operation_->error();
}

std::exception_ptr Work::exception() const {
    return operation_->error();
}

int Work::sourceRank() const {
    return operation_->source();
}

Tensors Work::result() {
    return results_;
}

bool Work::wait(std::chrono::milliseconds timeout) {
    operation_->wait(timeout);
    return true;
}

void Work::abort() {
    reject("abort", "an operation of dlrt can't be taken back; destroy its process group");
}

c10::intrusive_ptr<c10::ivalue::Future> Work::getFuture() {
    const std::lock_guard lock(future_mutex_);
    if (future_) return future_;
    future_ = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get())
    );
    operation_->when_over([operation = operation_, future = future_, results = results_] {
        if (const std::exception_ptr error = operation->error()) {
            future->setError(error);
        } else {
            future->markCompleted(c10::IValue(results));
        }
    });
    return future_;
}

Plan plan_of(const char* call, std::chrono::milliseconds timeout) {
    Plan plan;
    plan.call = call;
    plan.timeout = timeout;
    return plan;
}

void keep(Plan& plan, const at::Tensor& tensor) {
    plan.finish = [tensor](const dlrt_status&) {};
}

void keep(Plan& plan, const at::Tensor& input, const at::Tensor& memory, const at::Tensor& target) {
    plan.finish = [input, memory, target](const dlrt_status&) { put_back(memory, target); };
}

void keep_parts(
    Plan& plan, const at::Tensor& input, const at::Tensor& memory, const Tensors& targets
) {
    plan.finish = [input, memory, targets](const dlrt_status&) { put_back_parts(memory, targets); };
}

}  // namespace dlrt_torch
