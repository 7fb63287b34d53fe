// SPDX-License-Identifier: Apache-2.0
// What the kernel's files say about memory that ran out and about room for processes.
#include "launcher/memory_events.hpp"
#include "launcher/process_limits.hpp"

#include <filesystem>
#include <fstream>
#include <stdlib.h>

#include <catch2/catch.hpp>

namespace dlrt::launcher {
namespace {

class Tree {
  public:
    Tree() {
        std::string name = (std::filesystem::temp_directory_path() / "limits-XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        root = name;
        write("/proc/vmstat", "nr_free_pages 7\noom_kill 3\noom_kill_disable 9\n");
    }
    ~Tree() { std::filesystem::remove_all(root); }
    Tree(const Tree&) = delete;
    Tree& operator=(const Tree&) = delete;

    void write(const std::string& path, const std::string& text) const {
        const std::filesystem::path file = root + path;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }
    void mount_v2() const {
        write("/proc/self/mountinfo", "30 1 0:26 / /cg rw - cgroup2 cgroup2 rw\n");
        write("/proc/self/cgroup", "0::/a/b\n");
    }
    void mount_v1() const {
        write(
            "/proc/self/mountinfo",
            "30 1 0:26 / /m rw - cgroup cgroup rw,memory\n31 1 0:27 / /u rw - cgroup2 c rw\n"
            "32 1 0:28 / /p rw - cgroup cgroup rw,pids\n"
        );
        write("/proc/self/cgroup", "4:memory:/a\n3:pids:/\n0::/\n");
    }
    std::string root;
};

}  // namespace

TEST_CASE("memory events: counters are found by their whole name", "[launcher]") {
    CHECK(find_counter("low 1\noom 2\noom_kill 3\n", "oom_kill") == 3);
    CHECK(find_counter("oom_kill_disable 1\n", "oom_kill") == std::nullopt);
    CHECK(find_counter("Threads:\t12", "Threads:") == 12);
    CHECK(find_counter("oom_kill x\n", "oom_kill") == std::nullopt);
    CHECK(find_counter("", "oom_kill") == std::nullopt);
}

TEST_CASE("memory events: version 2 of cgroups is read", "[launcher]") {
    const Tree tree;
    tree.mount_v2();
    tree.write("/cg/a/b/memory.events", "low 0\nhigh 0\nmax 5\noom 2\noom_kill 1\n");
    tree.write("/cg/a/b/memory.max", "max\n");
    tree.write("/cg/a/memory.max", "67108864\n");
    CHECK(read_memory_events(tree.root) == MemoryEvents{"/a/b", 1, 3, 64u << 20});
}

TEST_CASE("memory events: version 1 of cgroups is read", "[launcher]") {
    const Tree tree;
    tree.mount_v1();
    tree.write("/m/a/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n");
    tree.write("/m/a/memory.limit_in_bytes", "9223372036854771712\n");
    tree.write("/m/memory.limit_in_bytes", "33554432\n");
    CHECK(read_memory_events(tree.root) == MemoryEvents{"/a", 4, 3, 32u << 20});
}

TEST_CASE("memory events: without cgroups the host's counter is left", "[launcher]") {
    const Tree tree;
    CHECK(read_memory_events(tree.root) == MemoryEvents{"", std::nullopt, 3, 0});
}

TEST_CASE("memory events: only what has grown speaks for want of memory", "[launcher]") {
    const MemoryEvents before{"/j", 1, 3, 64u << 20};
    MemoryEvents after = before;
    CHECK(out_of_memory_remark(before, after).empty());
    after.host_kills = 4;
    CHECK(out_of_memory_remark(before, after).starts_with("maybe because memory ran out"));
    after.group_kills = 2;
    CHECK(
        out_of_memory_remark(before, after) ==
        "likely because memory ran out (limit 64 MiB of cgroup /j)"
    );
    after.limit_bytes = 0;
    CHECK(out_of_memory_remark(before, after) == "likely because memory ran out (cgroup /j)");
    CHECK(out_of_memory_remark({}, after).empty());
}

TEST_CASE("process limits: the tightest cgroup counts", "[launcher]") {
    const Tree tree;
    tree.mount_v2();
    tree.write("/cg/a/b/pids.max", "max\n");
    tree.write("/cg/a/b/pids.current", "5\n");
    CHECK(cgroup_room(tree.root) == std::nullopt);
    tree.write("/cg/a/pids.max", "32\n");
    tree.write("/cg/a/pids.current", "12\n");
    const auto room = cgroup_room(tree.root);
    REQUIRE(room.has_value());
    CHECK(*room == ProcessRoom{32, 12, "pids.max of cgroup /a"});
    CHECK(room->left() == 20);
    tree.write("/cg/a/b/pids.max", "6\n");
    CHECK(cgroup_room(tree.root) == ProcessRoom{6, 5, "pids.max of cgroup /a/b"});
    CHECK(ProcessRoom{4, 5, ""}.left() == 0);
}

TEST_CASE("process limits: version 1 of cgroups is read", "[launcher]") {
    const Tree tree;
    tree.mount_v1();
    tree.write("/p/pids.max", "100\n");
    tree.write("/p/pids.current", "1\n");
    CHECK(cgroup_room(tree.root) == ProcessRoom{100, 1, "pids.max of cgroup /"});
}

}  // namespace dlrt::launcher
