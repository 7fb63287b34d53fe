// SPDX-License-Identifier: Apache-2.0
#include "launcher/address_book.hpp"

#include <catch2/catch.hpp>

namespace dlrt::launcher {
namespace {

using Hosts = std::set<std::uint32_t>;

const std::vector<std::byte> here = {std::byte{1}};
const std::vector<std::byte> elsewhere = {std::byte{2}};

}  // namespace

TEST_CASE("address book: who asks before it is known is told once it is", "[launcher]") {
    AddressBook book;
    CHECK(book.ask(2, {7, "tcp"}) == nullptr);
    CHECK(book.ask(3, {7, "tcp"}) == nullptr);
    CHECK(book.put({7, "other", here}).empty());
    CHECK(book.put({7, "tcp", here}) == Hosts{2, 3});
}

TEST_CASE("address book: who asks later knows at once, and of changes too", "[launcher]") {
    AddressBook book;
    CHECK(book.put({7, "tcp", here}).empty());
    const auto* known = book.ask(2, {7, "tcp"});
    REQUIRE(known != nullptr);
    CHECK(*known == here);
    CHECK(book.put({7, "tcp", elsewhere}) == Hosts{2});
    CHECK(*book.ask(3, {7, "tcp"}) == elsewhere);
    CHECK(book.ask(3, {8, "tcp"}) == nullptr);
}

}  // namespace dlrt::launcher
