// SPDX-License-Identifier: Apache-2.0
/// What the job tests of dlrt.h share: a rank that joins, checks that end the whole job, and
/// leaves.
#pragma once

#include "dlrt.h"

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <source_location>
#include <string>
#include <vector>

namespace job {

inline int rank_of_world = -1;

/// Ends the job with status 1 and says where, unless `is_right`.
inline void expect(
    bool is_right, const char* what,
    const std::source_location& where = std::source_location::current()
) {
    if (is_right) return;
    std::fprintf(
        stderr, "rank %d: wrong: %s (%s:%u; last error: %s)\n", rank_of_world, what,
        where.file_name(), static_cast<unsigned>(where.line()), dlrt_last_error()
    );
    dlrt_abort(1, what);
}

inline void expect_ok(
    dlrt_err outcome, const std::source_location& where = std::source_location::current()
) {
    expect(outcome == DLRT_OK, dlrt_error_name(outcome), where);
}

inline void expect_error(
    dlrt_err outcome, dlrt_err right,
    const std::source_location& where = std::source_location::current()
) {
    if (outcome != right) std::fprintf(stderr, "should be %s\n", dlrt_error_name(right));
    expect(outcome == right, dlrt_error_name(outcome), where);
}

template<typename T>
void expect_equal(
    const T& value, const T& right,
    const std::source_location& where = std::source_location::current()
) {
    if (value == right) return;
    std::fprintf(
        stderr, "rank %d: %lld instead of %lld\n", rank_of_world, static_cast<long long>(value),
        static_cast<long long>(right)
    );
    expect(false, "other value", where);
}

/// Joined from construction to the end of main.
class World {
  public:
    explicit World(dlrt_thread_level level = DLRT_THREAD_SINGLE) {
        expect_ok(dlrt_init_thread(level, nullptr));
        expect_ok(dlrt_comm_rank(DLRT_COMM_WORLD, &rank));
        expect_ok(dlrt_comm_size(DLRT_COMM_WORLD, &size));
        rank_of_world = rank;
        next = (rank + 1) % size;
        previous = (rank + size - 1) % size;
    }
    World(const World&) = delete;
    World& operator=(const World&) = delete;
    ~World() { expect_ok(dlrt_finalize()); }

    std::int32_t rank = 0;
    std::int32_t size = 0;
    std::int32_t next = 0;
    std::int32_t previous = 0;
};

inline void barrier() {
    expect_ok(dlrt_barrier(DLRT_COMM_WORLD));
}

/// Bytes that differ by position in a long period: ((i * 2654435761) mod 2^32) >> 24.
inline unsigned char byte_at(std::uint64_t position) {
    return static_cast<unsigned char>((position * 2654435761u & 0xffffffffu) >> 24);
}

inline void fill_bytes(std::vector<unsigned char>& bytes, std::uint64_t salt = 0) {
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = byte_at(i + salt);
}

inline void expect_bytes(
    const std::vector<unsigned char>& bytes, std::size_t count, std::uint64_t salt = 0,
    const std::source_location& where = std::source_location::current()
) {
    for (std::size_t i = 0; i < count; ++i) {
        if (bytes[i] != byte_at(i + salt)) expect(false, "a byte differs", where);
    }
}

/// Of a line such as "VmRSS:   1234 kB" in /proc/self/status.
inline long status_kib(const std::string& name) {
    std::ifstream status("/proc/self/status");
    std::string line;
    while (std::getline(status, line)) {
        if (line.rfind(name, 0) == 0) return std::stol(line.substr(name.size() + 1));
    }
    return 0;
}

/// Sanitizers keep memory of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool is_memory_measurable = false;
#else
inline constexpr bool is_memory_measurable = true;
#endif

}  // namespace job
