// SPDX-License-Identifier: Apache-2.0
/// Which cpus the ranks of one host are bound to. Pure.
///
/// By default each rank has an even share; those that were mapped to an object share that one. A
/// host whose ranks outnumber the cpus binds nobody. What was asked for and can't be met is an
/// error, unless --oversubscribe allows ranks to share cpus.
#pragma once

#include "launcher/cpu_tree.hpp"
#include "launcher/options.hpp"
#include "launcher/placement.hpp"
#include "runtime/base/result.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dlrt::launcher {

struct BindingRequest {
    BindingChoice choice;
    std::optional<std::uint32_t> cpus_per_rank;
    Oversubscription oversubscription = Oversubscription::by_rule;
};

/// What there is to bind to.
struct BindableHost {
    std::string name;
    HostTopology topology;
    CpuList cpus;                      ///< Empty: nothing.
    std::uint32_t busy_cpu_count = 0;  ///< Left out of `cpus`: other jobs hold them.
    std::string unbound_reason;        ///< Why `cpus` is empty.
};

struct Binding {
    std::vector<CpuList> cpus;   ///< By rank; all empty where nobody is bound.
    std::string unbound_reason;  ///< Empty: they are bound.
    friend bool operator==(const Binding&, const Binding&) = default;
};

/// `objects` says for each local rank where it was mapped to. Errors: Errc::argument.
[[nodiscard]] Result<Binding> bind_ranks(
    const BindingRequest& request, const BindableHost& host,
    std::span<const std::optional<MappedObject>> objects
);

/// How many ranks the host's cpus suffice for when each wants cpus_per_rank of them.
[[nodiscard]] std::uint32_t slots_of_cpus(
    const BindingRequest& request, const BindableHost& host, std::uint32_t usable_cpu_count
);

}  // namespace dlrt::launcher
