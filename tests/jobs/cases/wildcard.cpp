// SPDX-License-Identifier: Apache-2.0
/// Case B02: 1000 messages from each of three ranks to rank 0, short and long in turn, which takes
/// them by 16 open receives from anybody, by probing, and by tag; np 4.
#include "tests/jobs/api/job.hpp"

#include <array>
#include <cstring>
#include <string>

using namespace job;

namespace {

constexpr dlrt_comm comm = DLRT_COMM_WORLD;
constexpr std::uint32_t message_count = 1000;
constexpr std::uint32_t tag_count = 5;
constexpr std::size_t long_bytes = 200'000;

struct Head {
    std::uint16_t source;
    std::uint16_t tag;
    std::uint32_t sequence;
};

std::size_t size_of(std::uint32_t sequence) {
    return sequence % 2 == 0 ? sizeof(Head) : long_bytes;
}

/// What follows the head, beginning at a place that depends on the head.
const unsigned char* tail_of(const Head& head) {
    constexpr std::size_t starts = 97;
    static const std::vector<unsigned char> bytes = [] {
        std::vector<unsigned char> made(long_bytes + starts);
        fill_bytes(made);
        return made;
    }();
    return bytes.data() + (head.sequence * 3 + head.source) % starts;
}

void send_all(int rank) {
    std::vector<std::vector<unsigned char>> bodies(message_count);
    std::vector<dlrt_request> requests(message_count);
    for (std::uint32_t sequence = 0; sequence < message_count; ++sequence) {
        const Head head{
            static_cast<std::uint16_t>(rank), static_cast<std::uint16_t>(sequence % tag_count),
            sequence};
        std::vector<unsigned char>& body = bodies[sequence];
        body.resize(size_of(sequence));
        std::memcpy(body.data(), &head, sizeof head);
        std::memcpy(body.data() + sizeof head, tail_of(head), body.size() - sizeof head);
        const auto count = static_cast<std::int64_t>(body.size());
        expect_ok(dlrt_isend(body.data(), count, DLRT_BYTE, 0, head.tag, comm, &requests[sequence])
        );
    }
    expect_ok(dlrt_waitall(message_count, requests.data(), nullptr));
}

/// The head, after comparing all of the message with what its status says.
Head read_message(const std::vector<unsigned char>& body, const dlrt_status& status) {
    Head head{};
    std::memcpy(&head, body.data(), sizeof head);
    expect_equal<int>(status.source, head.source);
    expect_equal<int>(status.tag, head.tag);
    expect_equal<int>(status.error, DLRT_OK);
    expect_equal<int>(status.cancelled, 0);
    std::int64_t count = -1;
    expect_ok(dlrt_status_count(&status, DLRT_BYTE, &count));
    expect_equal(count, static_cast<std::int64_t>(size_of(head.sequence)));
    const std::size_t tail_bytes = size_of(head.sequence) - sizeof head;
    const bool is_same = std::memcmp(body.data() + sizeof head, tail_of(head), tail_bytes) == 0;
    expect(is_same, "the body is the sender's");
    return head;
}

/// 16 receives of any source and tag, completed one by one. They match in the order in which they
/// were posted, so that in this order each source's numbers rise.
void take_by_open_receives() {
    constexpr std::uint32_t open_count = 16;
    constexpr std::uint32_t total = 3 * message_count;
    std::array<std::vector<unsigned char>, open_count> buffers;
    std::array<dlrt_request, open_count> requests{};
    std::array<std::uint32_t, open_count> posted_as{};
    std::uint32_t posted = 0;
    const auto post = [&](std::uint32_t place) {
        expect_ok(dlrt_irecv(
            buffers[place].data(), static_cast<std::int64_t>(long_bytes), DLRT_BYTE,
            DLRT_ANY_SOURCE, DLRT_ANY_TAG, comm, &requests[place]
        ));
        posted_as[place] = posted++;
    };
    for (std::uint32_t place = 0; place < open_count; ++place) {
        buffers[place].resize(long_bytes);
        post(place);
    }
    std::vector<Head> heads(total);
    for (std::uint32_t taken = 0; taken < total; ++taken) {
        std::int32_t index = -1;
        dlrt_status status{};
        expect_ok(dlrt_waitany(open_count, requests.data(), &index, &status));
        expect(index >= 0, "one completes");
        const auto place = static_cast<std::uint32_t>(index);
        heads[posted_as[place]] = read_message(buffers[place], status);
        if (posted < total) post(place);
    }
    std::array<std::uint32_t, 4> next{};
    for (const Head& head : heads) expect_equal(head.sequence, next.at(head.source)++);
}

void take_by_probing() {
    std::vector<unsigned char> body(long_bytes);
    std::array<std::uint32_t, 4> next{};
    for (std::uint32_t taken = 0; taken < 3 * message_count; ++taken) {
        dlrt_status probed{}, status{};
        expect_ok(dlrt_probe(DLRT_ANY_SOURCE, DLRT_ANY_TAG, comm, &probed));
        const auto count = static_cast<std::int64_t>(probed.size_bytes);
        expect_ok(dlrt_recv(body.data(), count, DLRT_BYTE, probed.source, probed.tag, comm, &status)
        );
        expect_equal(status.source, probed.source);
        expect_equal(status.tag, probed.tag);
        expect_equal(status.size_bytes, probed.size_bytes);
        const Head head = read_message(body, status);
        expect_equal(head.sequence, next.at(head.source)++);
    }
}

/// All of tag 4, then all of tag 3, …
void take_by_tag() {
    std::vector<unsigned char> body(long_bytes);
    for (std::uint32_t round = 0; round < tag_count; ++round) {
        const std::uint32_t tag = tag_count - 1 - round;
        std::array<std::uint32_t, 4> next{tag, tag, tag, tag};
        for (std::uint32_t taken = 0; taken < 3 * message_count / tag_count; ++taken) {
            dlrt_status status{};
            expect_ok(dlrt_recv(
                body.data(), static_cast<std::int64_t>(long_bytes), DLRT_BYTE, DLRT_ANY_SOURCE,
                static_cast<std::int32_t>(tag), comm, &status
            ));
            const Head head = read_message(body, status);
            expect_equal(std::uint32_t{head.tag}, tag);
            expect_equal(head.sequence, next.at(head.source));
            next.at(head.source) += tag_count;
        }
    }
}

}  // namespace

int main() {
    const World world;
    expect_equal(world.size, 4);
    for (const auto& take : {take_by_open_receives, take_by_probing, take_by_tag}) {
        if (world.rank == 0) {
            take();
        } else {
            send_all(world.rank);
        }
        barrier();
    }
}
