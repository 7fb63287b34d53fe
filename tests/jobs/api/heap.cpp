// SPDX-License-Identifier: Apache-2.0
/// Memory of dlrt_alloc as the buffer of messages and collectives of every size, what is refused,
/// and its owner in C++; any number of ranks.
#include "dlrt.hpp"

#include "tests/jobs/api/job.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

using namespace job;

namespace {

constexpr dlrt_comm comm = {1, 0};

/// Where a buffer lies.
enum class Place { heap, private_memory };

class Buffer {
  public:
    Buffer(std::size_t size, Place place) : place_(place) {
        if (place == Place::heap) {
            void* memory = nullptr;
            expect_ok(dlrt_alloc(size * sizeof(std::int32_t), &memory));
            data = static_cast<std::int32_t*>(memory);
        } else {
            own_.resize(size);
            data = own_.data();
        }
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() {
        if (place_ == Place::heap) expect_ok(dlrt_free(data));
    }
    std::int32_t* data = nullptr;

  private:
    Place place_;
    std::vector<std::int32_t> own_;
};

std::int32_t value_of(std::int32_t rank, std::size_t i) {
    return rank * 1000 + static_cast<std::int32_t>(i % 997);
}

void messages(const World& world, std::size_t count, Place source, Place target) {
    const Buffer outgoing(count, source), incoming(count + 1, target);
    for (std::size_t i = 0; i < count; ++i) outgoing.data[i] = value_of(world.rank, i);
    std::fill_n(incoming.data, count + 1, -1);
    const auto n = static_cast<std::int64_t>(count);
    dlrt_request request{};
    expect_ok(dlrt_irecv(incoming.data, n, DLRT_INT32, world.previous, 1, comm, &request));
    expect_ok(dlrt_send(outgoing.data, n, DLRT_INT32, world.next, 1, comm));
    expect_ok(dlrt_wait(&request, nullptr));
    for (std::size_t i = 0; i < count; ++i) {
        expect_equal(incoming.data[i], value_of(world.previous, i));
    }
    expect_equal(incoming.data[count], -1);
    // A receiver that wants less than is there.
    if (count < 2) return;
    std::fill_n(incoming.data, count + 1, -1);
    expect_ok(dlrt_irecv(incoming.data, n - 1, DLRT_INT32, world.previous, 2, comm, &request));
    expect_ok(dlrt_ssend(outgoing.data, n, DLRT_INT32, world.next, 2, comm));
    expect_error(dlrt_wait(&request, nullptr), DLRT_ERR_TRUNCATE);
    expect_equal(incoming.data[count - 2], value_of(world.previous, count - 2));
    expect_equal(incoming.data[count - 1], -1);
}

void collectives(const World& world, std::size_t count, Place source, Place target) {
    const auto size = static_cast<std::size_t>(world.size);
    const auto n = static_cast<std::int64_t>(count);
    const Buffer input(count * size, source), output(count * size, target);
    for (std::size_t i = 0; i < count * size; ++i) input.data[i] = value_of(world.rank, i);
    const std::int32_t ranks = 1000 * (world.size * (world.size - 1) / 2);
    const auto expect_sum = [&](std::size_t first) {
        for (std::size_t i = 0; i < count; ++i) {
            const auto each = static_cast<std::int32_t>((first + i) % 997);
            expect_equal(output.data[i], ranks + world.size * each);
        }
    };
    expect_ok(dlrt_allreduce(input.data, output.data, n, DLRT_INT32, DLRT_SUM, comm));
    expect_sum(0);
    std::copy_n(input.data, count, output.data);
    expect_ok(dlrt_allreduce(DLRT_IN_PLACE, output.data, n, DLRT_INT32, DLRT_SUM, comm));
    expect_sum(0);
    expect_ok(dlrt_reduce_scatter(input.data, output.data, n, DLRT_INT32, DLRT_SUM, comm));
    expect_sum(static_cast<std::size_t>(world.rank) * count);
    expect_ok(dlrt_allgather(input.data, n, DLRT_INT32, output.data, comm));
    for (std::size_t i = 0; i < count * size; ++i) {
        expect_equal(output.data[i], value_of(static_cast<std::int32_t>(i / count), i % count));
    }
    expect_ok(dlrt_alltoall(input.data, output.data, n, DLRT_INT32, comm));
    for (std::size_t i = 0; i < count * size; ++i) {
        const std::size_t place = static_cast<std::size_t>(world.rank) * count + i % count;
        expect_equal(output.data[i], value_of(static_cast<std::int32_t>(i / count), place));
    }
    for (std::int32_t root = 0; root < world.size; ++root) {
        std::fill_n(output.data, count, -1);
        if (world.rank == root) std::copy_n(input.data, count, output.data);
        expect_ok(dlrt_bcast(output.data, n, DLRT_INT32, root, comm));
        for (std::size_t i = 0; i < count; ++i) expect_equal(output.data[i], value_of(root, i));
    }
}

/// The memory of a message that has been sent is another one's at once.
void reuse() {
    const World world;
    constexpr std::int64_t count = 200'000;
    std::vector<std::int32_t> incoming(count);
    for (int round = 0; round < 20; ++round) {
        const Buffer outgoing(static_cast<std::size_t>(count + round), Place::heap);
        std::fill_n(outgoing.data, count, 100 * round + world.rank);
        dlrt_request request{};
        expect_ok(dlrt_irecv(incoming.data(), count, DLRT_INT32, world.previous, 1, comm, &request)
        );
        expect_ok(dlrt_send(outgoing.data, count, DLRT_INT32, world.next, 1, comm));
        expect_ok(dlrt_wait(&request, nullptr));
        const std::int32_t right = 100 * round + world.previous;
        expect(std::ranges::count(incoming, right) == count, "the round's value");
    }
}

void refusals() {
    void* memory = &memory;
    void* const before = memory;
    expect_error(dlrt_alloc(8, nullptr), DLRT_ERR_ARG);
    expect_error(dlrt_alloc(UINT64_MAX, &memory), DLRT_ERR_NO_MEMORY);
    const std::string text = dlrt_last_error();
    expect(text.starts_with("dlrt_alloc: 18446744073709551615 bytes: of the "), "size and limit");
    expect(memory == before, "nothing is written on an error");
    expect_ok(dlrt_alloc(0, &memory));
    expect(memory == nullptr, "null for nothing");
    expect_ok(dlrt_free(nullptr));
    int elsewhere = 0;
    expect_error(dlrt_free(&elsewhere), DLRT_ERR_ARG);
    expect(std::string(dlrt_last_error()).starts_with("dlrt_free: "), "the function's name");
    expect_ok(dlrt_alloc(100, &memory));
    expect_error(dlrt_free(static_cast<char*>(memory) + 1), DLRT_ERR_ARG);
    expect_ok(dlrt_free(memory));
    expect_error(dlrt_free(memory), DLRT_ERR_ARG);
}

void owner(const World& world) {
    dlrt::HeapArray<double> first(1000), empty;
    expect(std::ranges::count(first, 0.0) == 1000, "begins with zeros");
    std::iota(first.begin(), first.end(), world.rank);
    const dlrt::HeapArray<double> second = std::move(first);
    expect(first.empty() && first.data() == nullptr && second.size() == 1000, "moved");
    dlrt::HeapArray<double> sums(1000);
    dlrt::Communicator(DLRT_COMM_WORLD).allreduce(second, sums, dlrt::Op::sum);
    const double ranks = world.size * (world.size - 1) / 2.0;
    expect(sums[999] == ranks + 999.0 * world.size, "the sum");
    sums = dlrt::HeapArray<double>(3);
    expect(sums.size() == 3 && empty.size() == 0, "assigned");
    bool is_refused = false;
    try {
        const dlrt::HeapArray<double> huge(SIZE_MAX / 4);
    } catch (const dlrt::Error& error) {
        is_refused = error.code() == DLRT_ERR_NO_MEMORY;
    }
    expect(is_refused, "too much");
}

}  // namespace

int main() {
    void* memory = nullptr;
    expect_error(dlrt_alloc(8, &memory), DLRT_ERR_NOT_INITIALIZED);
    dlrt::HeapArray<int> outlives;
    {
        const World world;
        refusals();
        owner(world);
        for (const std::size_t count : {1u, 2000u, 5000u, 40'000u, 1'000'003u}) {
            for (const Place source : {Place::heap, Place::private_memory}) {
                for (const Place target : {Place::heap, Place::private_memory}) {
                    messages(world, count, source, target);
                    if (count < 1'000'000) collectives(world, count, source, target);
                }
            }
        }
        // Left for finalize.
        outlives = dlrt::HeapArray<int>(10);
        expect_ok(dlrt_alloc(1000, &memory));
    }
    expect_error(dlrt_free(memory), DLRT_ERR_NOT_INITIALIZED);
    reuse();
}
