// SPDX-License-Identifier: Apache-2.0
/// Case E05: ping-pong and broadcast of 1 B to 16 MiB with right data while the kernel forbids
/// reading another process; np 2. Arguments: how it forbids it, and when.
#include "tests/jobs/api/job.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

using namespace job;

namespace {

constexpr dlrt_comm comm = DLRT_COMM_WORLD;

/// From here on the kernel answers process_vm_readv and process_vm_writev with this error.
void forbid_calls(int error) {
    const auto answer = SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error);
    constexpr std::uint32_t number = offsetof(seccomp_data, nr);
    sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, answer),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{sizeof steps / sizeof steps[0], steps};
    expect(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no new privileges");
    expect(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "a filter is set");
    char from = 0, to = 0;
    const iovec local{&to, 1}, remote{&from, 1};
    const bool is_refused = process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == -1;
    expect(is_refused && errno == error, "the kernel refuses");
}

void withdraw(const std::string& how) {
    if (how == "eperm") forbid_calls(EPERM);
    if (how == "enosys") forbid_calls(ENOSYS);
    if (how == "nondumpable") expect(prctl(PR_SET_DUMPABLE, 0) == 0, "not dumpable");
}

/// byte_at from a place of the caller's on, quickly.
const unsigned char* pattern(std::uint64_t salt) {
    constexpr std::size_t size = (std::size_t{1} << 24) + 16;
    static const std::vector<unsigned char> bytes = [] {
        std::vector<unsigned char> made(size);
        fill_bytes(made);
        return made;
    }();
    return bytes.data() + salt;
}

void expect_pattern(const std::vector<unsigned char>& bytes, std::uint64_t salt) {
    const bool is_same = std::memcmp(bytes.data(), pattern(salt), bytes.size()) == 0;
    expect(is_same, "the data are the sender's");
}

void ping_pong(const World& world, std::size_t size) {
    std::vector<unsigned char> bytes(size);
    const auto count = static_cast<std::int64_t>(size);
    const int peer = 1 - world.rank;
    if (world.rank == 0) {
        std::memcpy(bytes.data(), pattern(1), size);
        expect_ok(dlrt_send(bytes.data(), count, DLRT_BYTE, peer, 1, comm));
        expect_ok(dlrt_recv(bytes.data(), count, DLRT_BYTE, peer, 2, comm, nullptr));
        expect_pattern(bytes, 2);
    } else {
        expect_ok(dlrt_recv(bytes.data(), count, DLRT_BYTE, peer, 1, comm, nullptr));
        expect_pattern(bytes, 1);
        std::memcpy(bytes.data(), pattern(2), size);
        expect_ok(dlrt_send(bytes.data(), count, DLRT_BYTE, peer, 2, comm));
    }
}

void broadcast(const World& world, std::size_t size, int root) {
    std::vector<unsigned char> bytes(size);
    if (world.rank == root) std::memcpy(bytes.data(), pattern(3), size);
    expect_ok(dlrt_bcast(bytes.data(), static_cast<std::int64_t>(size), DLRT_BYTE, root, comm));
    expect_pattern(bytes, 3);
}

void exchange_all_sizes(const World& world) {
    for (int bits = 0; bits <= 24; ++bits) {
        const std::size_t size = std::size_t{1} << bits;
        ping_pong(world, size);
        broadcast(world, size, bits % 2);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::string how = argc > 1 ? argv[1] : "";
    const std::string when = argc > 2 ? argv[2] : "";
    if (when == "early") withdraw(how);
    const World world;
    expect_equal(world.size, 2);
    if (when == "late") {
        exchange_all_sizes(world);
        barrier();
        withdraw(how);
        barrier();
    }
    exchange_all_sizes(world);
}
