// SPDX-License-Identifier: Apache-2.0
#include "runtime/handle_table.hpp"

#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

namespace dlrt {

TEST_CASE("handle table: an entry is found until it is removed, and never again", "[handle]") {
    HandleTable<std::string> table(3);
    const Handle first = *table.insert("one");
    const Handle second = *table.insert("two");
    CHECK(first.index >= 3);
    CHECK(first != second);
    REQUIRE(table.find(first) != nullptr);
    CHECK(*table.find(first) == "one");
    CHECK(table.pin(second) == "two");
    CHECK(table.live_count() == 2);

    CHECK(table.remove(first) == "one");
    CHECK(table.find(first) == nullptr);
    CHECK_FALSE(table.remove(first).has_value());
    CHECK_FALSE(table.pin(first).has_value());
    CHECK(table.live_count() == 1);

    const Handle third = *table.insert("three");
    CHECK(third.index == first.index);
    CHECK(table.find(first) == nullptr);
    CHECK(*table.find(third) == "three");
}

TEST_CASE("handle table: numbers that were never a handle are not found", "[handle]") {
    HandleTable<int> table(3);
    const Handle live = *table.insert(5);
    for (const std::uint32_t index :
         {0u, 1u, 2u, 3u, 4u, 66u, 67u, 1u << 20, 0x7fffffffu, UINT32_MAX}) {
        for (const std::uint32_t generation : {0u, 1u, 2u, 3u, 0x80000000u, UINT32_MAX}) {
            const Handle handle{index, generation};
            CHECK((table.find(handle) != nullptr) == (handle == live));
        }
    }
}

TEST_CASE(
    "handle table: indices are reused, so the table doesn't grow with the number of uses",
    "[handle]"
) {
    HandleTable<int> table(1);
    std::set<std::uint32_t> indices;
    for (int i = 0; i < 10000; ++i) {
        const Handle handle = *table.insert(i);
        indices.insert(handle.index);
        table.remove(handle);
    }
    CHECK(indices.size() == 1);
}

TEST_CASE("handle table: entries keep their place while it grows", "[handle]") {
    HandleTable<int> table(1);
    std::vector<Handle> handles;
    std::vector<int*> places;
    for (int i = 0; i < 5000; ++i) {
        handles.push_back(*table.insert(i));
        places.push_back(table.find(handles.back()));
    }
    for (int i = 0; i < 5000; ++i) {
        const auto at = static_cast<std::size_t>(i);
        REQUIRE(table.find(handles[at]) == places[at]);
        REQUIRE(*places[at] == i);
    }
    int visited = 0;
    table.for_each([&visited](Handle, int) { ++visited; });
    CHECK(visited == 5000);
    table.clear();
    CHECK(table.live_count() == 0);
    CHECK(table.find(handles[17]) == nullptr);
}

TEST_CASE("handle table: removal lets go of what the entry held", "[handle]") {
    HandleTable<std::shared_ptr<int>> table(1);
    const auto value = std::make_shared<int>(1);
    const Handle handle = *table.insert(value);
    CHECK(value.use_count() == 2);
    table.remove(handle);
    CHECK(value.use_count() == 1);
}

TEST_CASE("handle table: threads insert, find, pin and remove at once", "[handle]") {
    HandleTable<std::shared_ptr<int>> table(1);
    table.set_sharing(Sharing::locked);
    const Handle common = *table.insert(std::make_shared<int>(42));
    constexpr int rounds = 3000;
    std::atomic<int> failures{0};
    const auto work = [&](int number) {
        std::vector<Handle> mine;
        for (int i = 0; i < rounds; ++i) {
            mine.push_back(*table.insert(std::make_shared<int>(number)));
            if (**table.pin(common) != 42) failures.fetch_add(1, std::memory_order_relaxed);
            if (**table.find(mine.back()) != number)
                failures.fetch_add(1, std::memory_order_relaxed);
            if (mine.size() < 100) continue;
            for (const Handle handle : mine) {
                if (**table.remove(handle) != number)
                    failures.fetch_add(1, std::memory_order_relaxed);
            }
            mine.clear();
        }
        for (const Handle handle : mine) table.remove(handle);
    };
    std::vector<std::jthread> threads;
    for (int number = 0; number < 4; ++number) threads.emplace_back(work, number);
    threads.clear();
    CHECK(failures.load(std::memory_order_relaxed) == 0);
    CHECK(table.live_count() == 1);
}

}  // namespace dlrt
