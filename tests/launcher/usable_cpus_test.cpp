// SPDX-License-Identifier: Apache-2.0
#include "runtime/wireup/usable_cpus.hpp"

#include <filesystem>
#include <fstream>
#include <stdlib.h>
#include <string>

#include <catch2/catch.hpp>

namespace dlrt::launcher {
namespace {

using Cpus = std::vector<std::uint32_t>;

/// A made-up "/" with the few files that matter.
class FakeRoot {
  public:
    FakeRoot() {
        std::string name = (std::filesystem::temp_directory_path() / "usable-XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        root_ = name;
    }
    ~FakeRoot() { std::filesystem::remove_all(root_); }
    FakeRoot(const FakeRoot&) = delete;
    FakeRoot& operator=(const FakeRoot&) = delete;

    void write(const std::string& path, const std::string& text) {
        std::filesystem::create_directories((root_ + path).substr(0, (root_ + path).rfind('/')));
        std::ofstream(root_ + path) << text;
    }
    void use_v2(const std::string& group, const std::string& mount_root = "/") {
        write("/proc/self/cgroup", "0::" + group + "\n");
        write(
            "/proc/self/mountinfo",
            "22 1 0:20 / /proc rw - proc proc rw\n"
            "30 22 0:26 " +
                mount_root + " /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup rw\n"
        );
    }
    UsableCpus usable(Cpus affinity) { return usable_cpus_below(root_, std::move(affinity)); }

  private:
    std::string root_;
};

}  // namespace

TEST_CASE("usable cpus: without cgroups the affinity decides", "[launcher]") {
    FakeRoot root;
    const UsableCpus usable = root.usable({3, 5});
    CHECK(usable.cpus == Cpus{3, 5});
    CHECK(usable.count == 2);
    CHECK(!usable.is_quota_limited());
    CHECK(root.usable({}).count == 1);
}

TEST_CASE("usable cpus: a v2 quota of 150 % gives two, at whatever level it is", "[launcher]") {
    for (const char* level : {"", "/a", "/a/b"}) {
        FakeRoot root;
        root.use_v2("/a/b");
        root.write("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
        root.write("/sys/fs/cgroup/a/cpu.max", "max 100000\n");
        root.write(std::string("/sys/fs/cgroup") + level + "/cpu.max", "150000 100000\n");
        const UsableCpus usable = root.usable({0, 1, 2, 3});
        CHECK(usable.count == 2);
        CHECK(usable.is_quota_limited());
        CHECK(root.usable({7}).count == 1);
    }
}

TEST_CASE("usable cpus: in a container the mount shows only a part of the tree", "[launcher]") {
    FakeRoot root;
    root.use_v2("/pods/me/inner", "/pods/me");
    root.write("/sys/fs/cgroup/inner/cpu.max", "50000 100000\n");
    CHECK(root.usable({0, 1}).count == 1);
}

TEST_CASE("usable cpus: a v2 cpuset cuts the affinity", "[launcher]") {
    FakeRoot root;
    root.use_v2("/a");
    root.write("/sys/fs/cgroup/a/cpuset.cpus.effective", "1-2,6\n");
    CHECK(root.usable({0, 1, 2, 3, 6}).cpus == Cpus{1, 2, 6});
}

TEST_CASE("usable cpus: v1 controllers are read from their own mounts", "[launcher]") {
    FakeRoot root;
    root.write("/proc/self/cgroup", "4:memory:/m\n3:cpuset:/s\n1:cpu,cpuacct:/q/r\n0::/\n");
    root.write(
        "/proc/self/mountinfo",
        "31 1 0:27 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
        "32 1 0:28 / /cg/set rw - cgroup cgroup rw,cpuset\n"
        "33 1 0:29 / /cg/mem rw - cgroup cgroup rw,memory\n"
    );
    root.write("/cg/set/s/cpuset.effective_cpus", "0-5\n");
    root.write("/cg/cpu/q/r/cpu.cfs_quota_us", "-1\n");
    root.write("/cg/cpu/q/r/cpu.cfs_period_us", "100000\n");
    root.write("/cg/cpu/q/cpu.cfs_quota_us", "300000\n");
    root.write("/cg/cpu/q/cpu.cfs_period_us", "100000\n");
    const UsableCpus usable = root.usable({2, 3, 4, 5, 6, 7});
    CHECK(usable.cpus == Cpus{2, 3, 4, 5});
    CHECK(usable.count == 3);
}

TEST_CASE("usable cpus: nonsense in the files is no limit", "[launcher]") {
    for (const char* text : {"", "x y\n", "100000\n", "0 100000\n", "5 0\n", "-5 100000\n"}) {
        FakeRoot root;
        root.use_v2("/");
        root.write("/sys/fs/cgroup/cpu.max", text);
        root.write("/sys/fs/cgroup/cpuset.cpus.effective", "a-b\n");
        CHECK(root.usable({0, 1}).count == 2);
    }
}

TEST_CASE("usable cpus: lists of cpus are read or refused", "[launcher]") {
    CHECK(parse_cpu_list("0-2,7\n") == Cpus{0, 1, 2, 7});
    CHECK(parse_cpu_list("5") == Cpus{5});
    CHECK(parse_cpu_list("") == Cpus{});
    for (const char* text : {"a", "1-", "-1", "3-1", "1,,x", "0-99999999", "1 2"}) {
        CHECK(!parse_cpu_list(text));
    }
}

TEST_CASE("usable cpus: this process has some", "[launcher]") {
    const UsableCpus usable = find_usable_cpus();
    CHECK(usable.count >= 1);
    CHECK(usable.count <= usable.cpus.size());
}

}  // namespace dlrt::launcher
