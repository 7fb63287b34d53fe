// SPDX-License-Identifier: Apache-2.0
/// What Python sees: dlrt_torch._backend. Called with Python's lock held.
#include "runtime/torch/backend.hpp"
#include "runtime/torch/python_lock.hpp"

#include <numeric>
#include <pybind11/chrono.h>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <torch/csrc/distributed/c10d/Types.hpp>
#include <torch/csrc/utils/pybind.h>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace dlrt_torch {

WithoutPython::WithoutPython() {
    if (Py_IsInitialized() != 0 && PyGILState_Check() != 0) state_ = PyEval_SaveThread();
}

WithoutPython::~WithoutPython() {
    if (state_ != nullptr) PyEval_RestoreThread(static_cast<PyThreadState*>(state_));
}

namespace {

std::vector<std::uint8_t> to_bytes(const std::string& text) {
    return {text.begin(), text.end()};
}

/// Later versions tell a time-out by an exception of their own, and each store by other words.
bool wait_in(c10d::Store& store, const std::string& key, Milliseconds timeout) {
    try {
        store.wait({key}, timeout);
        return true;
    } catch (const std::exception&) {
        // An error of the connection is not one of time, and comes again.
        return store.check({key});
    }
}

Store functions_of(const c10::intrusive_ptr<c10d::Store>& store) {
    return {
        [store](const std::string& key, const std::string& value) {
            store->set(key, to_bytes(value));
        },
        [store](const std::string& key) {
            const std::vector<std::uint8_t> value = store->get(key);
            return std::string(value.begin(), value.end());
        },
        [store](const std::string& key, std::int64_t value) { return store->add(key, value); },
        [store](const std::string& key) { return store->check({key}); },
        [store](const std::string& key, Milliseconds timeout) {
            return wait_in(*store, key, timeout);
        },
    };
}

c10::intrusive_ptr<BackendBase> make_backend(const c10d::DistributedBackendOptions& options) {
    Group::Options wanted;
    wanted.name = options.group_id;
    wanted.global_ranks = options.global_ranks_in_group;
    if (wanted.global_ranks.empty()) {
        wanted.global_ranks.resize(static_cast<std::size_t>(options.group_size));
        std::iota(wanted.global_ranks.begin(), wanted.global_ranks.end(), 0);
    }
    wanted.rank = options.group_rank;
    wanted.timeout = std::chrono::duration_cast<Milliseconds>(options.timeout);
    return c10::make_intrusive<Backend<BackendBase>>(
        Group::join(functions_of(options.store), std::move(wanted))
    );
}

}  // namespace
}  // namespace dlrt_torch

PYBIND11_MODULE(_backend, module) {
    using namespace dlrt_torch;
    module.doc() = "The compiled part of dlrt_torch.";
    module.attr("torch_version") = TORCH_VERSION;
    module.def(
        "make_backend", &make_backend, py::arg("options"), py::call_guard<py::gil_scoped_release>(),
        "A backend of the group that the options name."
    );
    module.def(
        "place_in_job",
        []() -> py::object {
            const auto place = place_in_job();
            if (!place) return py::none();
            return py::make_tuple(place->rank, place->size);
        },
        "(rank, size) where dlrun has started this process, else None."
    );
    module.def(
        "join_job", [] { static_cast<void>(World::of_job()); },
        py::call_guard<py::gil_scoped_release>(), "Joins the job of dlrun."
    );
    module.def(
        "tell_all", &World::tell_all, py::arg("value"), py::arg("timeout"),
        py::call_guard<py::gil_scoped_release>(), "Rank 0's value, for all ranks of the job."
    );
    module.def(
        "leave_all", &World::leave_all, py::call_guard<py::gil_scoped_release>(),
        "Leaves dlrt; what is left of process groups is of no more use."
    );
}
