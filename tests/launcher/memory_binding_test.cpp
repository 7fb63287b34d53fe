// SPDX-License-Identifier: Apache-2.0
#include "launcher/memory_binding.hpp"

#include "runtime/base/error_text.hpp"

#include <filesystem>
#include <fstream>
#include <linux/mempolicy.h>
#include <stdlib.h>

#include <catch2/catch.hpp>

namespace dlrt::launcher {
namespace {

using Cpus = std::vector<std::uint32_t>;

/// Nodes 0 and 70 with cpus 0-1 and 2-3; `with_memory` is the kernel's list.
class FakeNodes {
  public:
    explicit FakeNodes(const std::string& with_memory) {
        std::string name = (std::filesystem::temp_directory_path() / "nodes-XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        root_ = name;
        write("online", "0,70");
        write("node0/cpulist", "0-1");
        write("node70/cpulist", "2-3");
        write("has_memory", with_memory);
    }
    ~FakeNodes() { std::filesystem::remove_all(root_); }
    FakeNodes(const FakeNodes&) = delete;
    FakeNodes& operator=(const FakeNodes&) = delete;
    Result<MemoryPolicy> policy(MemoryBinding binding, const Cpus& cpus) const {
        return memory_policy_of(binding, cpus, root_);
    }

  private:
    void write(const std::string& path, const std::string& text) {
        const std::filesystem::path file(root_ + "/sys/devices/system/node/" + path);
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text << '\n';
    }
    std::string root_;
};

}  // namespace

TEST_CASE("memory binding: the nodes of the rank's cpus, and only they", "[launcher]") {
    const FakeNodes host("0,70");
    CHECK(*host.policy(MemoryBinding::local, {1}) == MemoryPolicy{MPOL_BIND, {1}});
    CHECK(*host.policy(MemoryBinding::local, {3}) == MemoryPolicy{MPOL_BIND, {0, 1ul << 6}});
    CHECK(
        *host.policy(MemoryBinding::interleave, {0, 3}) ==
        MemoryPolicy{MPOL_INTERLEAVE, {1, 1ul << 6}}
    );
    CHECK(host.policy(MemoryBinding::local, {3})->node_limit() == 129);
}

TEST_CASE("memory binding: first touch leaves the policy alone", "[launcher]") {
    CHECK(!FakeNodes("0,70").policy(MemoryBinding::first_touch, {0})->is_set());
}

TEST_CASE("memory binding: a node without memory is left out, alone it is an error", "[launcher]") {
    const FakeNodes host("0");
    CHECK(*host.policy(MemoryBinding::interleave, {0, 3}) == MemoryPolicy{MPOL_INTERLEAVE, {1}});
    CHECK(!host.policy(MemoryBinding::local, {2, 3}));
    CHECK(last_error_text().find("cpus 2-3 have no memory") != std::string::npos);
}

TEST_CASE("memory binding: a kernel without nodes has node 0", "[launcher]") {
    const Cpus cpus{0};
    CHECK(
        *memory_policy_of(MemoryBinding::local, cpus, "/no/such") == MemoryPolicy{MPOL_BIND, {1}}
    );
}

}  // namespace dlrt::launcher
