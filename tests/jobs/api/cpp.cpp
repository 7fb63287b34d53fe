// SPDX-License-Identifier: Apache-2.0
/// dlrt.hpp at work: ranges, values, structs, types, requests, collectives, errors; np >= 2.
#include "dlrt.hpp"

#include <array>
#include <cstdio>
#include <numeric>
#include <source_location>

namespace {

void expect(
    bool is_right, const char* what,
    const std::source_location& where = std::source_location::current()
) {
    if (is_right) return;
    std::fprintf(stderr, "wrong: %s (line %u)\n", what, static_cast<unsigned>(where.line()));
    dlrt::abort(1, what);
}

struct Particle {
    double position = 0;
    int number = 0;
};

struct Ring {
    int rank, size, next, previous;
    explicit Ring(const dlrt::Communicator& comm)
        : rank(comm.rank()),
          size(comm.size()),
          next((rank + 1) % size),
          previous((rank + size - 1) % size) {}
};

void messages(const dlrt::Communicator& comm) {
    const Ring ring(comm);
    std::vector<double> values(1000, ring.rank), halo(1000);
    dlrt::Request sending = comm.isend(values, {.to = ring.next, .tag = 7});
    const dlrt::Status status = comm.recv(halo, {.from = ring.previous, .tag = 7});
    sending.wait();
    expect(halo.front() == ring.previous && halo.back() == ring.previous, "halo");
    expect(status.source() == ring.previous && status.tag() == 7, "status");
    expect(status.count<double>() == 1000, "count");

    dlrt::Request receiving = comm.irecv(std::span(halo).first(10), {.from = ring.previous});
    comm.send(std::span(values).subspan(5, 10), {.to = ring.next});
    while (!receiving.test()) {}
    comm.send(42 + ring.rank, {.to = ring.next});
    expect(comm.recv<int>({.from = ring.previous}) == 42 + ring.previous, "a value");
    comm.send(Particle{0.5, ring.rank}, {.to = ring.next, .tag = 1});
    expect(comm.probe({.tag = 1}).count<Particle>() == 1, "probed struct");
    expect(comm.recv<Particle>().number == ring.previous, "a struct");
    const std::string text = "rank " + std::to_string(ring.rank);
    std::string other(text.size(), ' ');
    comm.exchange(text, {.to = ring.next}, other, {.from = ring.previous});
    expect(other == "rank " + std::to_string(ring.previous), "text");
}

void requests(const dlrt::Communicator& comm) {
    const Ring ring(comm);
    std::array<int, 4> outgoing{1, 2, 3, 4}, incoming{};
    std::vector<dlrt::Request> all;
    for (std::size_t i = 0; i < 4; ++i) {
        const int tag = static_cast<int>(i);
        all.push_back(comm.irecv(incoming[i], {.from = ring.previous, .tag = tag}));
        all.push_back(comm.isend(outgoing[i], {.to = ring.next, .tag = tag}));
    }
    expect(dlrt::wait_any(all).has_value(), "one is complete");
    dlrt::wait_all(all);
    expect(incoming == outgoing, "values");
    expect(!dlrt::wait_any(all), "none left");

    int from = 0;
    dlrt::Request receive = comm.prepare_recv(from, {.from = ring.previous});
    dlrt::Request send = comm.prepare_send(ring.rank, {.to = ring.next});
    for (int round = 0; round < 3; ++round) {
        receive.start();
        send.start();
        receive.wait();
        send.wait();
        expect(from == ring.previous, "persistent");
    }
    // Not waited for: the destructor does.
    int late = 0;
    {
        const dlrt::Request waits = comm.irecv(late, {.from = ring.previous});
        comm.send(ring.rank, {.to = ring.next});
    }
    expect(late == ring.previous, "the destructor waits");
}

void types(const dlrt::Communicator& comm) {
    const Ring ring(comm);
    std::array<std::array<int, 4>, 4> matrix{};
    const dlrt::Type column = dlrt::Type::vector(4, 1, 4, dlrt::Type::of<int>());
    std::array<int, 4> dense{};
    for (std::size_t i = 0; i < 4; ++i) matrix[i][2] = static_cast<int>(i) + ring.rank;
    dlrt::Request sending = comm.isend(
        dlrt::ConstElements(&matrix[0][2], 1, column), {.to = ring.next}
    );
    comm.recv(dense, {.from = ring.previous});
    sending.wait();
    expect(dense[3] == 3 + ring.previous, "a column");
    const dlrt::Type particle = dlrt::Type::structure({
        {offsetof(Particle, position), dlrt::Type::of<double>()},
        {offsetof(Particle, number), dlrt::Type::of<int>()},
    });
    expect(particle.size_bytes() == 12, "struct without padding");
    expect(particle.resized(0, sizeof(Particle)).size_bytes() == 12, "resized");
}

void collectives(const dlrt::Communicator& comm) {
    const Ring ring(comm);
    std::vector<int> values(5, ring.rank);
    comm.bcast(values, ring.size - 1);
    expect(values == std::vector<int>(5, ring.size - 1), "bcast");
    const int total = ring.size * (ring.size - 1) / 2;
    expect(comm.sum(ring.rank) == total, "sum");
    expect(comm.max(0.5 * ring.rank) == 0.5 * (ring.size - 1), "max");
    std::vector<int> result(5);
    values.assign(5, ring.rank);
    comm.allreduce(values, result, dlrt::Op::sum);
    expect(result == std::vector<int>(5, total), "allreduce");
    comm.reduce(values, result, dlrt::Op::max, 0);
    if (ring.rank == 0) expect(result == std::vector<int>(5, ring.size - 1), "reduce");
    std::vector<int> ranks(static_cast<std::size_t>(ring.size));
    std::iota(ranks.begin(), ranks.end(), 0);
    expect(comm.allgather(ring.rank) == ranks, "allgather");
    std::vector<int> gathered(ranks.size());
    comm.gather(ring.rank, gathered, 1);
    if (ring.rank == 1) expect(gathered == ranks, "gather");
    int mine = -1;
    comm.scatter(ranks, mine, 0);
    expect(mine == ring.rank, "scatter");
    comm.barrier();
}

/// Of x: factor * x + added.
struct Line {
    std::uint32_t factor = 1, added = 0;
};

void reductions(const dlrt::Communicator& comm) {
    const Ring ring(comm);
    expect(comm.combine(1.0 + ring.rank, dlrt::Op::average) == (1.0 + ring.size) / 2, "average");
    const dlrt::Located<double> mine{.value = 0.5 * (ring.rank / 2), .index = ring.rank};
    const auto least = comm.combine(mine, dlrt::Op::min_location);
    expect(least.value == 0 && least.index == 0, "min_location");
    comm.send(mine, {.to = ring.next});
    dlrt::Located<double> received;
    const dlrt::Status status = comm.recv(received, {.from = ring.previous});
    expect(status.count<dlrt::Located<double>>() == 1, "count of pairs");
    expect(received.index == ring.previous, "a pair");

    // Lines applied one after the other: the order counts.
    const auto after = [](const Line& first, const Line& second) -> Line {
        return {second.factor * first.factor, second.factor * first.added + second.added};
    };
    const dlrt::CustomOp<Line> composition(after);
    const auto own = [](int rank) {
        return Line{static_cast<std::uint32_t>(rank + 2), static_cast<std::uint32_t>(3 * rank + 1)};
    };
    Line expected;
    for (int rank = 0; rank < ring.size; ++rank) expected = after(expected, own(rank));
    const auto is_expected = [&](const Line& line) {
        return line.factor == expected.factor && line.added == expected.added;
    };
    expect(is_expected(comm.combine(own(ring.rank), composition)), "composition of a value");
    std::vector<Line> lines(1000, own(ring.rank)), result(1000);
    comm.allreduce(lines, result, composition);
    expect(is_expected(result.front()) && is_expected(result.back()), "composition of a vector");
    comm.reduce(lines, result, composition, ring.size - 1);

    int calls = 0;
    const auto larger = [&calls](int a, int b) {
        ++calls;
        return a > b ? a : b;
    };
    dlrt::CustomOp<int> maximum(larger, dlrt::Commutes::yes);
    const dlrt::CustomOp<int> moved = std::move(maximum);
    expect(comm.combine(ring.rank, moved) == ring.size - 1, "a captured reduction");
    try {
        static_cast<void>(comm.combine(0.5, moved));
        expect(false, "an exception");
    } catch (const std::invalid_argument&) {}
}

void communicators(const dlrt::Communicator& comm) {
    const Ring ring(comm);
    const auto half = comm.split(ring.rank % 2 == 0 ? std::optional(0) : std::nullopt);
    expect(half.has_value() == (ring.rank % 2 == 0), "split");
    if (half) expect(half->size() == (ring.size + 1) / 2, "size of the half");
    expect(comm.duplicate().group() == comm.group(), "duplicate");
    expect(comm.split_by_host().size() >= 1, "host");
    const dlrt::Group all = comm.group();
    const std::array<std::int32_t, 2> chosen{1, 0};
    const dlrt::Group two = all.include(chosen);
    expect((two | all).size() == ring.size && (two & all) == two, "union and intersection");
    expect((all - two).size() == ring.size - 2, "difference");
    expect(two.translate(0, all) == 1, "translate");
    const auto pair = comm.create(two);
    expect(pair.has_value() == two.rank().has_value(), "create");
    if (two.rank()) {
        expect(dlrt::create_from_group(two, "pair").rank() == 1 - ring.rank, "from group");
    }
}

void errors(const dlrt::Communicator& comm) {
    try {
        comm.send(1, {.to = comm.size()});
        expect(false, "an exception");
    } catch (const dlrt::Error& error) {
        expect(error.code() == DLRT_ERR_RANK, "code");
        const std::string right = "dlrt_send: rank " + std::to_string(comm.size()) + " is not in";
        expect(std::string(error.what()).starts_with(right), error.what());
    }
}

}  // namespace

int main() {
    const dlrt::Session session;
    const dlrt::Communicator& world = session.world;
    messages(world);
    requests(world);
    types(world);
    collectives(world);
    reductions(world);
    communicators(world);
    errors(world);
}
