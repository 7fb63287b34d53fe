// SPDX-License-Identifier: Apache-2.0
/// What every transport must do, as one body run over each of them. A rig makes a fresh network of
/// ranks; the body plays every rank in a thread of its own. Failures come back as text, since
/// checks belong to one thread.
#pragma once

#include "transports/transport.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dlrt::testing {

class Rig {
  public:
    virtual ~Rig() = default;
    [[nodiscard]] virtual std::uint32_t size() const = 0;
    [[nodiscard]] virtual Endpoint& endpoint(std::uint32_t rank) = 0;
    /// How `rank` numbers `peer`.
    [[nodiscard]] virtual PeerIndex index(std::uint32_t peer) const = 0;
};

using MakeRig = std::function<std::unique_ptr<Rig>()>;

/// One requirement; returns what went wrong, one entry each.
struct Requirement {
    const char* sentence;
    std::vector<std::string> (*check)(Rig& rig);
};

[[nodiscard]] std::vector<Requirement> conformance();

/// Runs all of them, each on a new rig, inside a Catch2 test case.
void check_conformance(const MakeRig& make);

}  // namespace dlrt::testing
