// SPDX-License-Identifier: Apache-2.0
#include "launcher/host_facts.hpp"

#include "launcher/own_host.hpp"
#include "launcher/topology_discovery.hpp"
#include "runtime/base/fd.hpp"
#include "runtime/wireup/usable_cpus.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cstdlib>
#include <iterator>
#include <netinet/in.h>
#include <sstream>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace dlrt::launcher {
namespace {

/// A port that the kernel had free a moment ago; 0 if it has none.
std::uint32_t find_free_port() {
    const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size_bytes = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (!socket.is_open() || ::bind(socket.get(), generic, size_bytes) != 0 ||
        ::getsockname(socket.get(), generic, &size_bytes) != 0) {
        return 0;
    }
    return ntohs(address.sin_port);
}

}  // namespace

std::string local_host_name() {
    char name[256] = "";
    if (::gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "localhost";
    return name;
}

Result<HostFacts> find_host_facts(
    TopologyDetail detail, const std::vector<std::uint32_t>& held_cpus
) {
    UsableCpus usable = find_usable_cpus();
    Result<HostTopology> topology = discover_topology(detail, usable.cpus);
    if (!topology) return topology.error();
    HostFacts facts;
    facts.host_name = local_host_name();
    facts.pid = ::getpid();
    facts.usable_cpu_count = usable.count;
    if (!usable.is_quota_limited()) facts.cpus = std::move(usable.cpus);
    std::ranges::set_intersection(facts.cpus, held_cpus, std::back_inserter(facts.busy_cpus));
    facts.free_port = find_free_port();
    facts.topology = std::move(*topology);
    return facts;
}

void play_host(HostFacts& facts, const std::string& name) {
    facts.host_name = name;
    facts.cpus.clear();
    facts.busy_cpus.clear();
    facts.address = "127.0.0.1";
}

void add_ssh_addresses(HostFacts& facts) {
    // Caller's address and port, own address and port. A resource manager hands on one of a login
    // elsewhere.
    const char* text = ::getenv("SSH_CONNECTION");
    std::vector<std::string> words;
    std::istringstream stream(text == nullptr ? "" : text);
    for (std::string word; stream >> word;) words.push_back(std::move(word));
    if (words.size() != 4 || !find_own_host().is_called(words[2])) return;
    facts.caller_address = words[0];
    facts.address = words[2];
}

}  // namespace dlrt::launcher
