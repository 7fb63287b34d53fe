// SPDX-License-Identifier: Apache-2.0
#include "runtime/request_state.hpp"

#include <atomic>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

namespace dlrt {

TEST_CASE("request pool: a token is found until its request is released, and never again") {
    RequestPool pool(0);
    Request& first = pool.acquire();
    Request& second = pool.acquire();
    const RequestToken token = first.token();
    CHECK(pool.find(token) == &first);
    CHECK(pool.find(second.token()) == &second);
    CHECK(first.is_in_use());

    pool.release(first);
    CHECK_FALSE(first.is_in_use());
    CHECK(pool.find(token) == nullptr);
    // Of a request that nobody uses.
    CHECK(pool.find(first.token()) == nullptr);

    Request& third = pool.acquire();
    CHECK(&third == &first);
    CHECK(pool.find(token) == nullptr);
    CHECK(pool.find(third.token()) == &third);
}

TEST_CASE("request pool: a number that no request ever had is not found") {
    RequestPool pool(0);
    CHECK(pool.find(RequestToken{1}) == nullptr);
    const Request& only = pool.acquire();
    for (const std::uint32_t index : {0u, 1u, 63u, 64u, 1u << 20, 0x7fffffffu, UINT32_MAX}) {
        for (const std::uint64_t generation : {0u, 1u, 2u, 3u, UINT32_MAX}) {
            const RequestToken token{generation << 32 | index};
            CHECK((pool.find(token) != nullptr) == (token == only.token()));
        }
    }
}

TEST_CASE("request pool: tokens of an earlier pool are stale in the next one") {
    RequestPool earlier(0);
    std::vector<RequestToken> stale;
    for (int use = 0; use < 5; ++use) {
        Request& request = earlier.acquire();
        stale.push_back(request.token());
        earlier.release(request);
    }
    // One that is in use to the end, as a handle that was never freed.
    Request& leftover = earlier.acquire();
    stale.push_back(leftover.token());

    RequestPool next(earlier.next_generation());
    for (int use = 0; use < 5; ++use) {
        Request& request = next.acquire();
        for (const RequestToken token : stale) CHECK(next.find(token) == nullptr);
        CHECK(next.find(request.token()) == &request);
        next.release(request);
    }
}

TEST_CASE("request pool: what a release leaves is as in a new request") {
    RequestPool pool(0);
    const auto translation = std::make_shared<const int>(7);
    Request& request = pool.acquire();
    request.error = 3;
    request.is_started = request.is_cancelled = request.is_released = true;
    request.has_handle = request.has_translation = true;
    request.persistence = Persistence::persistent;
    request.translation = translation;
    request.extra = RemoteMemory{1, 2};
    pool.release(request);

    const Request& again = pool.acquire();
    REQUIRE(&again == &request);
    CHECK(translation.use_count() == 1);
    CHECK(again.extra.index() == 0);
    CHECK(again.error == 0);
    CHECK_FALSE((again.is_started || again.is_cancelled || again.is_released));
    CHECK_FALSE((again.has_handle || again.has_translation));
    CHECK(again.persistence == Persistence::once);
    CHECK(again.is_done.load(std::memory_order_relaxed));
}

TEST_CASE("request pool: another thread finds requests while the pool grows") {
    RequestPool pool(0);
    const Request& known = pool.acquire();
    const RequestToken token = known.token();
    std::atomic<bool> is_over{false};
    bool was_always_found = true;
    std::thread reader([&] {
        while (!is_over.load(std::memory_order_acquire)) {
            was_always_found = was_always_found && pool.find(token) == &known;
        }
    });
    std::set<const Request*> all;
    for (int i = 0; i < 5000; ++i) all.insert(&pool.acquire());
    is_over.store(true, std::memory_order_release);
    reader.join();
    CHECK(was_always_found);
    CHECK(all.size() == 5000);
}

TEST_CASE("request: what its holder writes meets nothing that the engine writes beside it") {
    RequestPool pool(0);
    Request& request = pool.acquire();
    constexpr int round_count = 200'000;
    int lost_count = 0;
    std::thread holder([&] {
        for (int i = 0; i < round_count; ++i) {
            request.has_handle = i % 2 == 0;
            request.is_started = i % 3 == 0;
        }
    });
    for (int i = 0; i < round_count; ++i) {
        request.has_check = i % 2 == 0;
        request.is_released = i % 3 == 0;
        std::atomic_signal_fence(std::memory_order_seq_cst);
        lost_count += request.has_check == (i % 2 == 0) ? 0 : 1;
        lost_count += request.is_released == (i % 3 == 0) ? 0 : 1;
    }
    holder.join();
    CHECK(lost_count == 0);
}

}  // namespace dlrt
