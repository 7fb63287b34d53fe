// SPDX-License-Identifier: Apache-2.0
#include "launcher/topology_filter.hpp"

#include "runtime/connect/handshake.hpp"

#include <string_view>

namespace dlrt::launcher {
namespace {

std::vector<std::byte> digest_of(const HostTopology& topology) {
    HostFacts facts;
    facts.topology = topology;
    const std::vector<std::byte> bytes = encode_frame(facts);
    const tcp::Secret digest = tcp::derive_secret(
        {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "topology"
    );
    return {digest.begin(), digest.end()};
}

}  // namespace

void TopologyFilter::pass(HostFacts& facts) {
    if (facts.topology_digest.empty()) facts.topology_digest = digest_of(facts.topology);
    if (!sent_.insert(facts.topology_digest).second) facts.topology = {};
}

void TopologyStore::pass(HostFacts& facts) {
    if (facts.topology_digest.empty()) return;
    const auto found = known_.find(facts.topology_digest);
    if (found != known_.end()) {
        facts.topology = found->second;
    } else {
        known_[facts.topology_digest] = facts.topology;
    }
}

}  // namespace dlrt::launcher
