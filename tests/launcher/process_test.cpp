// SPDX-License-Identifier: Apache-2.0
// What the launcher finds out about programs and processes of this host.
#include "launcher/descriptors.hpp"
#include "launcher/process_tree.hpp"
#include "launcher/program_path.hpp"
#include "launcher/status_query.hpp"
#include "runtime/base/fd.hpp"

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace dlrt::launcher {
namespace {

class Folder {
  public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "programs-XXXXXX").string();
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path = name;
    }
    ~Folder() { std::filesystem::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    void add(const std::string& name, mode_t mode) const {
        std::ofstream(path + "/" + name) << "#!/bin/sh\n";
        ::chmod((path + "/" + name).c_str(), mode);
    }
    std::string path;
};

}  // namespace

TEST_CASE("program path: names are searched, paths are relative to the folder", "[launcher]") {
    const Folder folder;
    std::filesystem::create_directory(folder.path + "/bin");
    folder.add("bin/good", 0755);
    folder.add("bin/plain", 0644);
    CHECK(
        find_program("good", folder.path + "/none:" + folder.path + "/bin", "/").path ==
        folder.path + "/bin/good"
    );
    CHECK(find_program("bin/good", "/none", folder.path).path == folder.path + "/bin/good");
    CHECK(find_program("good", "bin", folder.path).path == folder.path + "/bin/good");
    CHECK(find_program("good", ":/none", folder.path + "/bin").path == folder.path + "/bin/./good");
    CHECK(find_program(folder.path + "/bin/good", "", "/").exit_status == 0);
}

TEST_CASE("program path: what can't be run says why", "[launcher]") {
    const Folder folder;
    folder.add("plain", 0644);
    const ProgramPath absent = find_program("absent", folder.path, "/");
    CHECK(absent.exit_status == 127);
    CHECK(absent.problem == "program 'absent' was not found in PATH");
    CHECK(find_program("./absent", "", folder.path).problem == "program './absent' was not found");
    CHECK(find_program("plain/x", "", folder.path).exit_status == 127);
    CHECK(find_program("", "/bin", "/").exit_status == 127);
    const ProgramPath plain = find_program("plain", folder.path, "/");
    CHECK(plain.exit_status == 126);
    CHECK(
        plain.problem ==
        "program 'plain' (" + folder.path + "/plain) cannot be executed: Permission denied"
    );
    CHECK(
        find_program("/tmp", "", "/").problem == "program '/tmp' cannot be executed: it is a folder"
    );
}

TEST_CASE("process tree: a subreaper finds and kills all below it", "[launcher]") {
    int ready[2];
    REQUIRE(::pipe2(ready, O_CLOEXEC) == 0);
    const pid_t keeper = ::fork();
    if (keeper == 0) {
        ::prctl(PR_SET_CHILD_SUBREAPER, 1);
        if (::fork() == 0) {
            if (::fork() == 0) {
                ::setsid();
                ::signal(SIGTERM, SIG_IGN);
                static_cast<void>(::write(ready[1], "x", 1));
                ::raise(SIGSTOP);
                ::_exit(0);
            }
            ::_exit(0);
        }
        char byte = 0;
        static_cast<void>(::read(ready[0], &byte, 1));
        ::_exit(kill_and_reap_all_children() && living_descendants(::getpid()).empty() ? 0 : 1);
    }
    int wait_status = -1;
    REQUIRE(::waitpid(keeper, &wait_status, 0) == keeper);
    CHECK(wait_status == 0);
}

TEST_CASE("process tree: states, pipes and environments are read", "[launcher]") {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    const Fd reading(ends[0]);
    const Fd writing(ends[1]);
    struct stat facts = {};
    REQUIRE(::fstat(writing.get(), &facts) == 0);
    const pid_t me = ::getpid();
    const pid_t others[] = {1, me};
    const ino_t pipes[] = {facts.st_ino};
    CHECK(find_pipe_holder(std::span(others).subspan(1), pipes) == me);
    CHECK(find_pipe_holder(others, {}) == 0);
    const auto state = read_process_state(me);
    REQUIRE(state.has_value());
    CHECK(state->parent == ::getppid());
    CHECK(state->letter == 'R');
    CHECK(!read_process_state(-1));
    const char* path = ::getenv("PATH");
    REQUIRE(path != nullptr);
    CHECK(has_in_environment(me, std::string("PATH=") + path));
    CHECK(!has_in_environment(me, std::string("PATH=") + path + "x"));
    CHECK(!has_in_environment(me, std::string("ATH=") + path));
}

TEST_CASE("descriptors: all but the named ones are closed", "[launcher]") {
    const pid_t child = ::fork();
    if (child == 0) {
        const int kept = ::fcntl(0, F_DUPFD, 50);
        const int closed = ::fcntl(0, F_DUPFD, 60);
        close_descriptors_except({kept, -1, 2});
        const bool is_right = ::fcntl(kept, F_GETFD) >= 0 && ::fcntl(closed, F_GETFD) < 0 &&
                              ::fcntl(0, F_GETFD) < 0 && ::fcntl(2, F_GETFD) >= 0;
        ::_exit(is_right ? 0 : 1);
    }
    int wait_status = -1;
    REQUIRE(::waitpid(child, &wait_status, 0) == child);
    CHECK(wait_status == 0);
}

TEST_CASE("status query: jobs of the user are found among all sockets", "[launcher]") {
    constexpr std::string_view text =
        "Num       RefCount Protocol Flags    Type St Inode Path\n"
        "0: 00000002 00000000 00010000 0005 01 1 @dlrt-7-bbb.status\n"
        "0: 00000002 00000000 00010000 0005 01 2 @dlrt-7-bbb\n"
        "0: 00000003 00000000 00000000 0005 03 3 @dlrt-7-bbb.status\n"
        "0: 00000002 00000000 00010000 0005 01 4 @dlrt-77-ccc.status\n"
        "0: 00000002 00000000 00010000 0005 01 5 /run/dlrt-7-ddd.status\n"
        "0: 00000002 00000000 00010000 0005 01 6\n"
        "0: 00000002 00000000 00010000 0005 01 7 @dlrt-7-aaa.12.status\n"
        "0: 00000002 00000000 00010000 0005 01 8 @dlrt-7-aaa.3.status\n"
        "0: 00000002 00000000 00010000 0005 01 9 @dlrt-7-eee.x.status";
    CHECK(find_jobs(text, 7) == FoundJobs{{"aaa", {3, 12}}, {"bbb", {0}}});
    CHECK(find_jobs(text, 77) == FoundJobs{{"ccc", {0}}});
    CHECK(find_jobs("", 7).empty());
}

}  // namespace dlrt::launcher
