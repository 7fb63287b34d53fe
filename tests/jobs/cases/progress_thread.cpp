// SPDX-License-Identifier: Apache-2.0
/// Case C09 (e): a collective and a long message end while one rank computes and calls nothing,
/// with a progress thread; without one, right after it calls again. Arguments: how it is asked for,
/// "flag", "setting" (DLRT_PROGRESS_THREAD is set) or "off". The thread sleeps while it isn't
/// needed.
#include "tests/jobs/api/job.hpp"
#include "tests/jobs/cases/time_used.hpp"

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

using namespace job;

namespace {

constexpr std::int64_t large_count = 1 << 18;
constexpr std::int32_t computing_rank = 1;

/// How the others tell the rank that computes: not by dlrt.
class SideChannel {
  public:
    SideChannel() : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
        const std::string name = std::string("dlrt-case-c09-") + std::getenv("DLRT_JOBID");
        address_.sun_family = AF_UNIX;
        expect(name.size() + 1 < sizeof address_.sun_path, "a short name");
        std::memcpy(address_.sun_path + 1, name.data(), name.size());
        length_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    }
    SideChannel(const SideChannel&) = delete;
    SideChannel& operator=(const SideChannel&) = delete;
    ~SideChannel() { ::close(socket_); }

    void listen() { expect(::bind(socket_, address(), length_) == 0, "bind"); }
    void tell() { expect(::sendto(socket_, "x", 1, 0, address(), length_) == 1, "sendto"); }
    /// Computes, and calls nothing of dlrt.
    void compute_until_told(int times) {
        const double limit = seconds_now() + 40;
        volatile double result = 1;
        for (char byte = 0; times > 0;) {
            for (int i = 0; i < 20'000; ++i) result = result * 1.0000001 + 1e-9;
            expect(seconds_now() < limit, "the others end while this rank computes");
            if (::recv(socket_, &byte, 1, MSG_DONTWAIT) == 1) --times;
        }
    }

  private:
    [[nodiscard]] const sockaddr* address() const {
        return reinterpret_cast<const sockaddr*>(&address_);
    }
    int socket_;
    sockaddr_un address_{};
    socklen_t length_ = 0;
};

void reduce_while_one_computes(const World& world, SideChannel& side, bool has_thread) {
    std::vector<double> values(large_count);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = world.rank + double(i % 100);
    dlrt_request request{};
    expect_ok(dlrt_iallreduce(
        DLRT_IN_PLACE, values.data(), large_count, DLRT_DOUBLE, DLRT_SUM, DLRT_COMM_WORLD, &request
    ));
    if (world.rank == computing_rank) {
        side.compute_until_told(world.size - 1);
    } else if (has_thread) {
        expect_ok(dlrt_wait(&request, nullptr));
        side.tell();
    } else {
        for (int i = 0; i < 100; ++i) {
            int is_complete = 0;
            expect_ok(dlrt_test(&request, &is_complete, nullptr));
            expect(is_complete == 0, "nothing is over before the last rank calls again");
        }
        side.tell();
    }
    expect_ok(dlrt_wait(&request, nullptr));
    const double ranks = world.size * (world.size - 1) / 2.0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i] != ranks + world.size * double(i % 100)) expect(false, "the sum");
    }
}

void send_to_one_that_computes(const World& world, SideChannel& side) {
    constexpr std::int32_t sender = 0;
    std::vector<unsigned char> bytes(4u << 20);
    if (world.rank == computing_rank) {
        dlrt_request request{};
        const auto count = static_cast<std::int64_t>(bytes.size());
        expect_ok(dlrt_irecv(bytes.data(), count, DLRT_BYTE, sender, 2, DLRT_COMM_WORLD, &request));
        barrier();
        side.compute_until_told(1);
        expect_ok(dlrt_wait(&request, nullptr));
        expect_bytes(bytes, bytes.size());
        return;
    }
    fill_bytes(bytes);
    barrier();
    if (world.rank != sender) return;
    const auto count = static_cast<std::int64_t>(bytes.size());
    expect_ok(dlrt_ssend(bytes.data(), count, DLRT_BYTE, computing_rank, 2, DLRT_COMM_WORLD));
    side.tell();
}

/// How often the progress thread went to sleep or was interrupted so far; -1: there is none.
long turns_of_helper() {
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string name;
        std::getline(std::ifstream(task.path() / "comm"), name);
        if (name != "dlrt-progress") continue;
        std::ifstream status(task.path() / "status");
        long turns = 0;
        for (std::string line; std::getline(status, line);) {
            const std::size_t colon = line.find("_ctxt_switches:");
            if (colon != std::string::npos) turns += std::stol(line.substr(line.find(':') + 1));
        }
        return turns;
    }
    return -1;
}

void sleep_while_not_needed(const World& world) {
    barrier();
    constexpr int round_count = 200;
    const long before = turns_of_helper();
    for (int round = 0; round < round_count; ++round) {
        int value = round;
        if (world.rank == 0) expect_ok(dlrt_send(&value, 1, DLRT_INT, 1, 3, DLRT_COMM_WORLD));
        const std::int32_t from = world.rank == 0 ? 1 : 0;
        if (world.rank < 2) {
            expect_ok(dlrt_recv(&value, 1, DLRT_INT, from, 3, DLRT_COMM_WORLD, nullptr));
        }
        if (world.rank == 1) expect_ok(dlrt_send(&value, 1, DLRT_INT, 0, 3, DLRT_COMM_WORLD));
        expect_equal(value, round);
    }
    expect(turns_of_helper() - before < round_count / 10, "blocking calls don't wake the thread");
    int value = -1;
    dlrt_request open{};
    expect_ok(dlrt_irecv(&value, 1, DLRT_INT, world.previous, 4, DLRT_COMM_WORLD, &open));
    barrier();
    const double used_before_s = cpu_seconds();
    const long asleep = turns_of_helper();
    // What is measured is that nothing happens meanwhile.
    std::this_thread::sleep_for(std::chrono::seconds(1));
    expect(turns_of_helper() - asleep <= 2, "less than one wake-up per second and a little");
    expect(cpu_seconds() - used_before_s < 0.1, "no cpu is burnt");
    barrier();
    expect_ok(dlrt_send(&world.rank, 1, DLRT_INT, world.next, 4, DLRT_COMM_WORLD));
    expect_ok(dlrt_wait(&open, nullptr));
    expect_equal(value, world.previous);
}

void wrong_flags() {
    for (const int wrong : {0x200, 0x104, 0x1ff, -1}) {
        expect_error(
            dlrt_init_thread(static_cast<dlrt_thread_level>(wrong), nullptr), DLRT_ERR_ARG
        );
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view how = argc > 1 ? argv[1] : "";
    const bool has_thread = how != "off";
    wrong_flags();
    const unsigned flag = how == "flag" ? unsigned{DLRT_THREAD_PROGRESS} : 0;
    const World world(static_cast<dlrt_thread_level>(unsigned{DLRT_THREAD_FUNNELED} | flag));
    dlrt_thread_level level = DLRT_THREAD_SINGLE;
    expect_ok(dlrt_query_thread(&level));
    expect_equal(level, has_thread ? DLRT_THREAD_MULTIPLE : DLRT_THREAD_FUNNELED);
    expect(has_thread == (turns_of_helper() >= 0), "there is a thread where it was asked for");
    SideChannel side;
    if (world.rank == computing_rank) side.listen();
    barrier();
    reduce_while_one_computes(world, side, has_thread);
    if (!has_thread) return 0;
    send_to_one_that_computes(world, side);
    sleep_while_not_needed(world);
}
